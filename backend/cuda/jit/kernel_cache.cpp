// Files of the cache: a head, the identity, the binary. They are written beside their place and
// moved there, so that a reader sees all of one or none; reading one makes it the youngest.
#include "backend/cuda/jit/kernel_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

#include "backend/cuda/jit/hash.h"
#include "mlx/error.h"

namespace mlx::core::cuda {

namespace {

struct Head {
  char mark[8];
  uint64_t identity_bytes;
  uint64_t binary_bytes;
  uint64_t hash;  // of both
};
constexpr char mark[8] = {'m', 'l', 'x', 'k', 'e', 'r', 'n', '1'};
constexpr time_t abandoned_after = 3600;  // seconds, for files somebody began to write

struct File {
  int descriptor;
  explicit File(int d) : descriptor(d) {}
  File(const File&) = delete;
  ~File() {
    if (descriptor >= 0) {
      close(descriptor);
    }
  }
};

uint64_t hash_of(const std::string& identity, const std::string& binary) {
  Hash h;
  h.add(identity);
  h.add(binary);
  return h.value();
}

bool read_all(int file, void* to, size_t bytes) {
  char* p = static_cast<char*>(to);
  while (bytes) {
    ssize_t n = read(file, p, bytes);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      return false;
    }
    p += n;
    bytes -= size_t(n);
  }
  return true;
}

bool write_all(int file, const void* from, size_t bytes) {
  const char* p = static_cast<const char*>(from);
  while (bytes) {
    ssize_t n = write(file, p, bytes);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      return false;
    }
    p += n;
    bytes -= size_t(n);
  }
  return true;
}

// Code is run from here: nobody else may have put it there.
bool is_private(int file, mode_t type) {
  struct stat s;
  return fstat(file, &s) == 0 && (s.st_mode & S_IFMT) == type && s.st_uid == geteuid() &&
         (s.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

int open_folder(const std::string& path) {
  int d = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (d >= 0 && !is_private(d, S_IFDIR)) {
    close(d);
    return -1;
  }
  return d;
}

void make_folders(const std::string& path) {
  for (size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    mkdir(path.substr(0, at).c_str(), 0700);
    if (at == std::string::npos) {
      return;
    }
  }
}

std::string name_of(const std::string& identity) {
  Hash h;
  h.add(identity);
  char name[24];
  std::snprintf(name, sizeof name, "%016llx.bin", static_cast<unsigned long long>(h.value()));
  return name;
}

}  // namespace

std::optional<std::string> KernelCache::find(const std::string& identity) const {
  File folder(folder_.empty() ? -1 : open_folder(folder_));
  if (folder.descriptor < 0) {
    return std::nullopt;
  }
  File file(
      openat(folder.descriptor, name_of(identity).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat s;
  if (file.descriptor < 0 || !is_private(file.descriptor, S_IFREG) ||
      fstat(file.descriptor, &s) != 0) {
    return std::nullopt;
  }
  Head head;
  std::string kept, binary;
  if (!read_all(file.descriptor, &head, sizeof head) || std::memcmp(head.mark, mark, sizeof mark) ||
      head.identity_bytes != identity.size() || head.binary_bytes > uint64_t(s.st_size) ||
      sizeof head + head.identity_bytes + head.binary_bytes != uint64_t(s.st_size)) {
    return std::nullopt;
  }
  kept.resize(head.identity_bytes);
  binary.resize(head.binary_bytes);
  if (!read_all(file.descriptor, kept.data(), kept.size()) || kept != identity ||
      !read_all(file.descriptor, binary.data(), binary.size()) ||
      hash_of(kept, binary) != head.hash) {
    return std::nullopt;
  }
  futimens(file.descriptor, nullptr);
  return binary;
}

void KernelCache::store(const std::string& identity, const std::string& binary) const {
  if (folder_.empty() || int64_t(binary.size()) > limit_) {
    return;
  }
  make_folders(folder_);
  File folder(open_folder(folder_));
  if (folder.descriptor < 0) {
    return;
  }
  static std::atomic<unsigned> count{0};
  std::string temporary = format(".{}-{}", int64_t(getpid()), count++);
  bool written;
  {
    File file(openat(folder.descriptor, temporary.c_str(),
                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.descriptor < 0) {
      return;
    }
    Head head{{}, identity.size(), binary.size(), hash_of(identity, binary)};
    std::memcpy(head.mark, mark, sizeof mark);
    written = write_all(file.descriptor, &head, sizeof head) &&
              write_all(file.descriptor, identity.data(), identity.size()) &&
              write_all(file.descriptor, binary.data(), binary.size());
  }
  if (!written || renameat(folder.descriptor, temporary.c_str(), folder.descriptor,
                           name_of(identity).c_str()) != 0) {
    unlinkat(folder.descriptor, temporary.c_str(), 0);
    return;
  }
  drop_oldest();
}

void KernelCache::drop_oldest() const {
  struct Entry {
    std::string name;
    int64_t bytes;
    timespec used;
  };
  DIR* folder = opendir(folder_.c_str());
  if (!folder) {
    return;
  }
  std::vector<Entry> entries;
  int64_t total = 0;
  time_t now = time(nullptr);
  while (dirent* e = readdir(folder)) {
    struct stat s;
    if (fstatat(dirfd(folder), e->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(s.st_mode)) {
      continue;
    }
    if (e->d_name[0] == '.') {
      if (now - s.st_mtim.tv_sec > abandoned_after) {
        unlinkat(dirfd(folder), e->d_name, 0);
      }
      continue;
    }
    entries.push_back({e->d_name, s.st_size, s.st_mtim});
    total += s.st_size;
  }
  if (total > limit_) {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec
                                            : a.used.tv_nsec < b.used.tv_nsec;
    });
    for (const Entry& e : entries) {
      if (total <= limit_ / 4 * 3) {
        break;
      }
      unlinkat(dirfd(folder), e.name.c_str(), 0);
      total -= e.bytes;
    }
  }
  closedir(folder);
}

}  // namespace mlx::core::cuda
