// Files by POSIX calls, and bytes in memory.
#include "mlx/io/stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "mlx/error.h"

namespace mlx::core {

namespace {

// Larger requests are cut: some systems refuse them.
constexpr uint64_t max_chunk = uint64_t(1) << 30;

void check_range(const Reader& in, uint64_t bytes, uint64_t offset) {
  if (offset > in.size() || bytes > in.size() - offset) {
    fail<RuntimeError>("[load] {}: wanted {} bytes at {}, there are {}", in.name(), bytes, offset,
                       in.size());
  }
}

class File final : public Reader {
 public:
  explicit File(const std::string& path) : name_(path) {
    file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat s;
    if (file_ < 0 || ::fstat(file_, &s) != 0) {
      fail<RuntimeError>("[load] cannot open {}: {}", path, std::strerror(errno));
    }
    if (!S_ISREG(s.st_mode)) {
      ::close(file_);
      fail<RuntimeError>("[load] {} is not a regular file", path);
    }
    size_ = uint64_t(s.st_size);
  }
  File(const File&) = delete;
  ~File() override { ::close(file_); }

  uint64_t size() const override { return size_; }
  const std::string& name() const override { return name_; }

  void read(void* to, uint64_t bytes, uint64_t offset) const override {
    check_range(*this, bytes, offset);
    char* p = static_cast<char*>(to);
    while (bytes > 0) {
      ssize_t n = ::pread(file_, p, size_t(std::min(bytes, max_chunk)), off_t(offset));
      if (n < 0 && errno == EINTR) {
        continue;
      }
      if (n <= 0) {
        fail<RuntimeError>("[load] cannot read {}: {}", name_,
                           n == 0 ? "it is shorter than it was" : std::strerror(errno));
      }
      p += n;
      offset += uint64_t(n);
      bytes -= uint64_t(n);
    }
  }

 private:
  std::string name_;
  int file_;
  uint64_t size_ = 0;
};

class Bytes final : public Reader {
 public:
  Bytes(std::string bytes, std::string name) : bytes_(std::move(bytes)), name_(std::move(name)) {}
  uint64_t size() const override { return bytes_.size(); }
  const std::string& name() const override { return name_; }
  void read(void* to, uint64_t bytes, uint64_t offset) const override {
    check_range(*this, bytes, offset);
    std::memcpy(to, bytes_.data() + offset, bytes);
  }

 private:
  std::string bytes_;
  std::string name_;
};

}  // namespace

std::shared_ptr<Reader> open_file(const std::string& path) { return std::make_shared<File>(path); }

std::shared_ptr<Reader> memory_reader(std::string bytes, std::string name) {
  return std::make_shared<Bytes>(std::move(bytes), std::move(name));
}

FileWriter::FileWriter(const std::string& path) : path_(path) {
  struct stat s;
  bool exists = ::stat(path.c_str(), &s) == 0;
  if (!exists || S_ISREG(s.st_mode)) {
    static std::atomic<unsigned> count{0};
    temporary_ = format("{}.{}-{}.tmp", path, int64_t(::getpid()), int64_t(count.fetch_add(1)));
    file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file_ >= 0 && exists) {
      (void)!::fchmod(file_, s.st_mode & 07777);
    }
  }
  if (file_ < 0) {
    // A device or pipe, or a folder that takes no new files.
    temporary_.clear();
    file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  }
  if (file_ < 0) {
    fail_with_errno("open");
  }
}

FileWriter::~FileWriter() {
  if (file_ >= 0) {
    ::close(file_);
  }
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
  }
}

void FileWriter::fail_with_errno(const char* what) {
  fail<RuntimeError>("[save] cannot {} {}: {}", what, path_, std::strerror(errno));
}

void FileWriter::write(const void* from, uint64_t bytes) {
  const char* p = static_cast<const char*>(from);
  while (bytes > 0) {
    ssize_t n = ::write(file_, p, size_t(std::min(bytes, max_chunk)));
    if (n < 0 && errno != EINTR) {
      fail_with_errno("write to");
    }
    if (n > 0) {
      p += n;
      bytes -= uint64_t(n);
    }
  }
}

void FileWriter::finish() {
  int closed = ::close(std::exchange(file_, -1));
  if (closed != 0 || (!temporary_.empty() && ::rename(temporary_.c_str(), path_.c_str()) != 0)) {
    fail_with_errno("write to");
  }
  temporary_.clear();
}

}  // namespace mlx::core
