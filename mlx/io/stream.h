// Where array files come from and go to: bytes by position, bytes in order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "mlx/api.h"

namespace mlx::core {

// Random access to bytes that are known to be there. read() may be called from any thread and
// throws RuntimeError if the bytes cannot be had.
class MLX_API Reader {
 public:
  virtual ~Reader() = default;
  virtual uint64_t size() const = 0;
  virtual void read(void* to, uint64_t bytes, uint64_t offset) const = 0;
  virtual const std::string& name() const = 0;  // for messages
};

// RuntimeError if the file cannot be opened.
MLX_API std::shared_ptr<Reader> open_file(const std::string& path);
MLX_API std::shared_ptr<Reader> memory_reader(std::string bytes, std::string name);

class MLX_API Writer {
 public:
  virtual ~Writer() = default;
  virtual void write(const void* from, uint64_t bytes) = 0;
};

// Writes a new file beside the old one and puts it in its place in finish(): arrays that are still
// to be read from the old file keep their values, and a failure leaves it as it was.
class MLX_API FileWriter final : public Writer {
 public:
  explicit FileWriter(const std::string& path);
  FileWriter(const FileWriter&) = delete;
  ~FileWriter() override;
  void write(const void* from, uint64_t bytes) override;
  void finish();

 private:
  [[noreturn]] void fail_with_errno(const char* what);

  std::string path_;
  std::string temporary_;  // empty: writing to the file itself
  int file_ = -1;
};

}  // namespace mlx::core
