// Sorting and selection of integer keys; every result is unique, so it does not matter how.
#pragma once

#include <stdint.h>

namespace mlx::core::cpu {

// Ascending; on several threads if there is enough to do.
void sort_keys(int32_t* keys, int64_t n);
void sort_keys(int64_t* keys, int64_t n);

// Brings the key of rank k to its place, lesser or equal ones before it, the others behind it.
void select_key(int32_t* keys, int64_t n, int64_t k);
void select_key(int64_t* keys, int64_t n, int64_t k);

}  // namespace mlx::core::cpu
