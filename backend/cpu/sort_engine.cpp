// Sorting and selection of integer keys.
#include "backend/cpu/sort_engine.h"

#include <algorithm>

namespace mlx::core::cpu {

void sort_keys(int32_t* keys, int64_t n) { std::sort(keys, keys + n); }
void sort_keys(int64_t* keys, int64_t n) { std::sort(keys, keys + n); }

void select_key(int32_t* keys, int64_t n, int64_t k) { std::nth_element(keys, keys + k, keys + n); }
void select_key(int64_t* keys, int64_t n, int64_t k) { std::nth_element(keys, keys + k, keys + n); }

}  // namespace mlx::core::cpu
