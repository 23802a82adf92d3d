// The cache of compiled kernels on disk, and the thread that compiles.
#include "backend/cuda/jit/kernel_cache.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>
#include <vector>

#include "backend/cuda/jit/kernel_compiler.h"
#include "backend/cuda/jit/nvrtc.h"
#include "mlx/env.h"

using namespace mlx::core;
using cuda::KernelCache;
namespace fs = std::filesystem;

namespace {

struct Folder {
  std::string path;
  Folder() {
    std::string pattern = fs::temp_directory_path() / "kernelsXXXXXX";
    path = mkdtemp(pattern.data());
  }
  ~Folder() { fs::remove_all(path); }
  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto& e : fs::recursive_directory_iterator(path)) {
      if (e.is_regular_file()) {
        all.push_back(e.path());
      }
    }
    return all;
  }
  int64_t bytes() const {
    int64_t n = 0;
    for (const fs::path& p : files()) {
      n += int64_t(fs::file_size(p));
    }
    return n;
  }
};

// A child that ends by exit() must not print what was buffered here once more.
pid_t fork_quietly() {
  std::cout.flush();
  return fork();
}

mode_t mode_of(const fs::path& p) {
  struct stat s;
  REQUIRE(stat(p.c_str(), &s) == 0);
  return s.st_mode & 0777;
}

}  // namespace

TEST_CASE("what is stored is found, by others too, and is private") {
  Folder f;
  std::string place = f.path + "/a/b";
  KernelCache cache(place, 1 << 20);
  CHECK(!cache.find("text"));
  std::string binary("\0binary\xff", 8);
  cache.store("text", binary);
  CHECK(cache.find("text") == binary);
  CHECK(KernelCache(place, 1 << 20).find("text") == binary);
  CHECK(!cache.find("other"));
  CHECK(mode_of(place) == 0700);
  REQUIRE(f.files().size() == 1);
  CHECK(mode_of(f.files()[0]) == 0600);
}

TEST_CASE("files that are not whole, or that others may have written, are not used") {
  Folder f;
  KernelCache cache(f.path, 1 << 20);
  cache.store("text", std::string(1000, 'x'));
  fs::path file = f.files().at(0);
  SUBCASE("cut") {
    fs::resize_file(file, 500);
    CHECK(!cache.find("text"));
    fs::resize_file(file, 3);
    CHECK(!cache.find("text"));
  }
  SUBCASE("changed") {
    std::fstream s(file, std::ios::in | std::ios::out | std::ios::binary);
    s.seekp(600);
    s.put('y');
    s.close();
    CHECK(!cache.find("text"));
  }
  SUBCASE("writable by others") {
    chmod(file.c_str(), 0666);
    CHECK(!cache.find("text"));
    chmod(file.c_str(), 0600);
    CHECK(cache.find("text"));
    chmod(f.path.c_str(), 0777);
    CHECK(!cache.find("text"));
    chmod(f.path.c_str(), 0700);
  }
  SUBCASE("a link") {
    fs::rename(file, f.path + "/elsewhere");
    fs::create_symlink(f.path + "/elsewhere", file);
    CHECK(!cache.find("text"));
  }
  cache.store("text", "again");
  CHECK(cache.find("text") == "again");
}

TEST_CASE("the oldest go when there is no room") {
  Folder f;
  KernelCache cache(f.path, 100000);
  std::string binary(10000, 'x');
  for (int i = 0; i < 8; ++i) {
    cache.store("text " + std::to_string(i), binary);
    std::this_thread::sleep_for(std::chrono::milliseconds(12));
  }
  CHECK(cache.find("text 0"));  // used, and so the youngest
  std::this_thread::sleep_for(std::chrono::milliseconds(12));
  for (int i = 8; i < 12; ++i) {
    cache.store("text " + std::to_string(i), binary);
    std::this_thread::sleep_for(std::chrono::milliseconds(12));
  }
  CHECK(f.bytes() <= 100000);
  CHECK(cache.find("text 0"));
  CHECK(cache.find("text 11"));
  CHECK(!cache.find("text 1"));
  cache.store("huge", std::string(200000, 'x'));
  CHECK(!cache.find("huge"));
}

TEST_CASE("a folder that cannot be made is no error") {
  KernelCache nowhere("", 1000), forbidden("/dev/null/kernels", 1000);
  for (KernelCache* cache : {&nowhere, &forbidden}) {
    cache->store("text", "binary");
    CHECK(!cache->find("text"));
  }
}

TEST_CASE("processes may write the same kernels at once") {
  Folder f;
  std::vector<pid_t> children;
  for (int c = 0; c < 4; ++c) {
    pid_t child = fork_quietly();
    if (child == 0) {
      KernelCache cache(f.path, 1 << 20);
      bool whole = true;
      for (int i = 0; i < 200; ++i) {
        std::string text = "text " + std::to_string(i % 5),
                    binary(5000 + size_t(i % 5), char('a' + i % 5));
        cache.store(text, binary);
        whole = whole && cache.find(text) == binary;
      }
      _exit(whole ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  CHECK(f.files().size() == 5);
}

// Before the thread is started here, so that the child has its own.
TEST_CASE("a process may end while a kernel is compiled") {
  if (!cuda::can_compile()) {
    MESSAGE("skipped: no NVRTC (", cuda::nvrtc_problem(), ")");
    return;
  }
  pid_t child = fork_quietly();
  if (child == 0) {
    env().kernel_cache_dir = "";
    for (int i = 0; i < 20; ++i) {
      cuda::compile_later("__global__ void k" + std::to_string(i) + "() {}", 90);
    }
    std::exit(0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
}

TEST_CASE(
    "kernels are compiled aside, kept on disk, and a child that is forked then ends cleanly") {
  if (!cuda::can_compile()) {
    MESSAGE("skipped: no NVRTC (", cuda::nvrtc_problem(), ")");
    return;
  }
  Folder f;
  env().kernel_cache_dir = f.path;
  std::string text = "extern \"C\" __global__ void k(float* p) { *p = 1; }";
  auto wait = [](const auto& c) {
    for (int i = 0; i < 6000 && !c->done; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return c->done.load();
  };
  CHECK(!cuda::cached_kernel(text, 90));
  auto compiled = cuda::compile_later(text, 90);
  REQUIRE(wait(compiled));
  CHECK(compiled->binary.substr(1, 3) == "ELF");
  CHECK(cuda::cached_kernel(text, 90) == compiled->binary);
  CHECK(!cuda::cached_kernel(text, 80));
  auto refused = cuda::compile_later("not a kernel", 90);
  REQUIRE(wait(refused));
  CHECK(refused->binary.empty());
  CHECK(refused->error.find("kernel.cu(1)") != std::string::npos);

  auto under_way = cuda::compile_later(text + " // other", 90);
  pid_t child = fork_quietly();
  if (child == 0) {
    auto never = cuda::compile_later(text + " // child", 90);
    std::exit(never->done ? 1 : 0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(wait(under_way));
}
