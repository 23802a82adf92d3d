// Symbol visibility: MLX_API is public and installed, MLX_INTERNAL is for plugins, bindings and
// tests.
#pragma once

#define MLX_API __attribute__((visibility("default")))
#define MLX_INTERNAL __attribute__((visibility("default")))
