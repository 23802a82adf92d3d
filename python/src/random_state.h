// mx.random.state: one object for all threads that stands for the calling thread's key.
#pragma once

#include "python/src/bindings.h"

namespace mlx::core {

struct RandomState {};

// True for mx.random.state: in trees it is a list of one array, random::state().
inline bool is_random_state(nb::handle h) { return nb::isinstance<RandomState>(h); }

}  // namespace mlx::core
