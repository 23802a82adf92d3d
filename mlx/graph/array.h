// array: a cheap shared handle to a node of the graph.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "mlx/api.h"
#include "mlx/device.h"
#include "mlx/dtype.h"
#include "mlx/error.h"
#include "mlx/layout.h"
#include "mlx/ref.h"
#include "mlx/small_vector.h"

namespace mlx::core {

struct Node;
class Primitive;
class Buffer;
class array;

// Destroys iteratively: a chain of a million nodes needs no stack.
MLX_API void retain_node(Node* n) noexcept;
MLX_API void release_node(Node* n) noexcept;

// Of a scalar without a dtype of its own.
template <typename T>
constexpr Dtype scalar_dtype() {
  if constexpr (std::is_same_v<T, double>) {
    return float32;
  } else if constexpr (dtype_of<T> == Dtype(Dtype::Id(-1))) {
    return sizeof(T) == 8 ? (std::is_signed_v<T> ? int64 : uint64)
                          : (std::is_signed_v<T> ? int32 : uint32);
  } else {
    return dtype_of<T>;
  }
}

class MLX_API array {
 public:
  // A 0-d array; the value is kept in the node, no memory is allocated.
  template <typename T>
    requires std::is_arithmetic_v<T>
  explicit array(T value, Dtype dtype = scalar_dtype<T>())
      : array(scalar_tag{}, double(value), dtype) {}
  explicit array(complex64_t value);
  // 64-bit integers keep all their bits.
  static array from_int(int64_t value, Dtype dtype);
  static array from_uint(uint64_t value, Dtype dtype);

  // One-dimensional, from values.
  array(std::initializer_list<float> values);
  array(std::initializer_list<int> values);
  // Copies row-major data of the dtype's C++ type.
  array(const void* data, Shape shape, Dtype dtype);

  array(const array& o) noexcept : node_(o.node_) { retain_node(node_); }
  array(array&& o) noexcept : node_(std::exchange(o.node_, nullptr)) {}
  array& operator=(const array& o) noexcept {
    array copy(o);
    std::swap(node_, copy.node_);
    return *this;
  }
  array& operator=(array&& o) noexcept {
    std::swap(node_, o.node_);
    return *this;
  }
  ~array() {
    if (node_) release_node(node_);
  }

  // A node that will be computed: the only way ops make arrays.
  static array make(Shape shape, Dtype dtype, Ref<Primitive> primitive,
                    std::span<const array> inputs, Stream stream);
  static std::vector<array> make_many(std::vector<Shape> shapes, std::vector<Dtype> dtypes,
                                      Ref<Primitive> primitive, std::span<const array> inputs,
                                      Stream stream);
  // A value that is there: `buffer` seen through strides (in elements).
  static array from_buffer(Ref<Buffer> buffer, Shape shape, Strides strides, int64_t offset_bytes,
                           Dtype dtype);
  // A stand-in for a value inside a transform.
  static array placeholder(Shape shape, Dtype dtype);
  static array adopt(Node* n) noexcept {
    array a;
    a.node_ = n;
    return a;
  }

  const Shape& shape() const;
  int64_t shape(int axis) const { return shape()[axis < 0 ? axis + ndim() : axis]; }
  int ndim() const { return int(shape().size()); }
  int64_t size() const;
  Dtype dtype() const;
  int64_t itemsize() const { return dtype().size(); }
  int64_t nbytes() const { return size() * itemsize(); }

  // Computes the value and waits for it. Rethrows what went wrong.
  void eval() const;
  bool is_available() const;
  // Layout and first element of a computed array.
  const Strides& strides() const;
  bool row_contiguous() const;
  const void* data() const;   // host address, for reading; evaluates
  void* shared_data() const;  // the same for those who keep it or write there
  template <typename T>
  const T* data() const {
    return static_cast<const T*>(data());
  }
  // The value of a one-element array, converted as C++ converts.
  template <typename T>
  T item() const;

  Node* node() const { return node_; }
  bool same_node(const array& o) const { return node_ == o.node_; }
  // The level of the innermost transform that traces the value, 0 outside of all.
  uint8_t tracer() const;
  void set_tracer(uint8_t level);

 private:
  struct scalar_tag {};
  array() noexcept = default;
  array(scalar_tag, double value, Dtype dtype);
  void read_item(Dtype as, void* to) const;

  Node* node_ = nullptr;
};

template <typename T>
T array::item() const {
  T value;
  read_item(dtype_of<T>, &value);
  return value;
}

// Computes the arrays and waits.
MLX_API void eval(std::span<const array> arrays);
inline void eval(const array& a) { a.eval(); }
inline void eval(std::initializer_list<array> arrays) {
  eval(std::span<const array>(arrays.begin(), arrays.size()));
}
// Starts computing the arrays.
MLX_API void async_eval(std::span<const array> arrays);

}  // namespace mlx::core
