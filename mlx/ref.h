// Ref<T>: an owning pointer to an object that counts its own references.
#pragma once

#include <utility>

namespace mlx::core {

// T provides retain() and release().
template <typename T>
class Ref {
 public:
  Ref() noexcept = default;
  Ref(T* p) noexcept : p_(p) {  // NOLINT: wrapping is what it is for
    if (p_) p_->retain();
  }
  Ref(const Ref& o) noexcept : Ref(o.p_) {}
  Ref(Ref&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  template <typename U>
  Ref(Ref<U> o) noexcept : p_(o.detach()) {}  // NOLINT: derived to base
  Ref& operator=(Ref o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Ref() {
    if (p_) p_->release();
  }

  // Takes over a reference that is already counted.
  static Ref adopt(T* p) noexcept {
    Ref r;
    r.p_ = p;
    return r;
  }
  T* detach() noexcept { return std::exchange(p_, nullptr); }
  void reset() noexcept { *this = Ref(); }

  T* get() const noexcept { return p_; }
  T* operator->() const noexcept { return p_; }
  T& operator*() const noexcept { return *p_; }
  explicit operator bool() const noexcept { return p_ != nullptr; }
  bool operator==(const Ref& o) const noexcept { return p_ == o.p_; }

 private:
  T* p_ = nullptr;
};

}  // namespace mlx::core
