// SmallVector: a vector whose first N elements live inside it; shapes, strides and operand lists.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace mlx::core {

template <typename T, uint32_t N>
class SmallVector {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() noexcept : data_(inline_data()) {}
  explicit SmallVector(size_t n, const T& value = T()) : SmallVector() { resize(n, value); }
  SmallVector(std::initializer_list<T> values) : SmallVector(values.begin(), values.end()) {}
  template <std::input_iterator It>
  SmallVector(It first, It last) : SmallVector() {
    for (; first != last; ++first) {
      push_back(*first);
    }
  }
  explicit SmallVector(std::span<const T> values) : SmallVector(values.begin(), values.end()) {}
  SmallVector(const SmallVector& o) : SmallVector() { append(o.begin(), o.end()); }
  SmallVector(SmallVector&& o) noexcept : SmallVector() { take(std::move(o)); }
  SmallVector& operator=(const SmallVector& o) {
    if (this != &o) {
      clear();
      append(o.begin(), o.end());
    }
    return *this;
  }
  SmallVector& operator=(SmallVector&& o) noexcept {
    if (this != &o) {
      clear();
      release_heap();
      take(std::move(o));
    }
    return *this;
  }
  ~SmallVector() {
    clear();
    release_heap();
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::reverse_iterator<const T*> rbegin() const { return std::reverse_iterator(end()); }
  std::reverse_iterator<const T*> rend() const { return std::reverse_iterator(begin()); }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }

  void push_back(T value) {
    if (size_ == capacity_) {
      grow(capacity_ * 2);
    }
    new (data_ + size_++) T(std::move(value));
  }
  template <typename It>
  void append(It first, It last) {
    reserve(size_ + size_t(std::distance(first, last)));
    for (; first != last; ++first) {
      new (data_ + size_++) T(*first);
    }
  }
  void pop_back() { data_[--size_].~T(); }
  void reserve(size_t n) {
    if (n > capacity_) {
      grow(uint32_t(n));
    }
  }
  void resize(size_t n, const T& value = T()) {
    while (size_ > n) {
      pop_back();
    }
    reserve(n);
    while (size_ < n) {
      new (data_ + size_++) T(value);
    }
  }
  void clear() {
    std::destroy(begin(), end());
    size_ = 0;
  }
  iterator insert(const_iterator position, T value) {
    size_t i = size_t(position - data_);
    push_back(std::move(value));
    std::rotate(data_ + i, data_ + size_ - 1, data_ + size_);
    return data_ + i;
  }
  iterator erase(const_iterator position) {
    T* p = data_ + (position - data_);
    std::move(p + 1, end(), p);
    pop_back();
    return p;
  }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  T* inline_data() noexcept { return reinterpret_cast<T*>(storage_); }
  bool on_heap() const { return data_ != reinterpret_cast<const T*>(storage_); }
  void release_heap() {
    if (on_heap()) {
      ::operator delete(static_cast<void*>(data_));
      data_ = inline_data();
      capacity_ = N;
    }
  }
  void take(SmallVector&& o) noexcept {
    if (o.on_heap()) {
      data_ = std::exchange(o.data_, o.inline_data());
      capacity_ = std::exchange(o.capacity_, N);
      size_ = std::exchange(o.size_, 0);
    } else {
      std::uninitialized_move(o.begin(), o.end(), data_);
      size_ = o.size_;
      o.clear();
    }
  }
  void grow(uint32_t n) {
    T* fresh = static_cast<T*>(::operator new(n * sizeof(T)));
    std::uninitialized_move(begin(), end(), fresh);
    std::destroy(begin(), end());
    if (on_heap()) {
      ::operator delete(static_cast<void*>(data_));
    }
    data_ = fresh;
    capacity_ = n;
  }

  T* data_;
  uint32_t size_ = 0;
  uint32_t capacity_ = N;
  alignas(T) unsigned char storage_[N * sizeof(T)];
};

using Shape = SmallVector<int64_t, 4>;
using Strides = SmallVector<int64_t, 4>;  // in elements
using Axes = SmallVector<int, 4>;

}  // namespace mlx::core
