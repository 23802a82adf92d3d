// The pool: every index once, nested and concurrent calls, exceptions, stopping, fork().
#include "backend/cpu/thread_pool.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "backend/cpu/processors.h"

using namespace mlx::core::cpu;

namespace {

// How often each of n indices was visited, in one call.
std::vector<int> visits(int64_t n, int64_t grain) {
  std::vector<int> count(static_cast<size_t>(n));
  parallel_for(n, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++count[size_t(i)];
  });
  return count;
}

bool each_once(const std::vector<int>& count) {
  return std::all_of(count.begin(), count.end(), [](int c) { return c == 1; });
}

}  // namespace

TEST_CASE("parallel_for visits every index once") {
  for (int64_t n : {0, 1, 2, 7, 64, 1000, 100003}) {
    for (int64_t grain : {0, 1, 3, 64, 1000000}) {
      CAPTURE(n);
      CAPTURE(grain);
      CHECK(each_once(visits(n, grain)));
    }
  }
}

TEST_CASE("parallel_for cuts at multiples of the grain") {
  std::atomic<int> wrong{0};
  parallel_for(1001, 10, [&](int64_t begin, int64_t end) {
    wrong += begin % 10 != 0 || (end % 10 != 0 && end != 1001);
  });
  CHECK(wrong == 0);
}

TEST_CASE("parallel_for inside parallel_for runs on the same thread") {
  std::atomic<int64_t> sum{0};
  std::atomic<int> moved{0};
  parallel_for(50, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      auto here = std::this_thread::get_id();
      parallel_for(100, 1, [&](int64_t b, int64_t e) {
        sum += e - b;
        moved += std::this_thread::get_id() != here;
      });
    }
  });
  CHECK(sum == 5000);
  CHECK(moved == 0);
}

TEST_CASE("an exception of any piece reaches the caller, and the pool goes on") {
  for (int round = 0; round < 100; ++round) {
    CHECK_THROWS_AS(parallel_for(100, 1,
                                 [&](int64_t begin, int64_t end) {
                                   if (begin <= round && round < end) {
                                     throw std::runtime_error("piece");
                                   }
                                 }),
                    std::runtime_error);
    CHECK(each_once(visits(100, 1)));
  }
}

TEST_CASE("calls from several threads at once") {
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      for (int i = 0; i < 500; ++i) wrong += !each_once(visits(257, 1));
    });
  }
  for (std::thread& t : callers) t.join();
  CHECK(wrong == 0);
}

TEST_CASE("a stopped pool comes back") {
  for (int i = 0; i < 20; ++i) {
    CHECK(each_once(visits(1000, 1)));
    stop_pool();
  }
}

TEST_CASE("a forked child has a pool of its own") {
  CHECK(each_once(visits(1000, 1)));
  for (int i = 0; i < 3; ++i) {
    pid_t child = fork();
    if (child == 0) {
      _exit(each_once(visits(1000, 1)) && each_once(visits(1000, 1)) ? 7 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 7);
    CHECK(each_once(visits(1000, 1)));
  }
}

TEST_CASE("CPU quotas are rounded up to whole processors") {
  CHECK(quota_of("max 100000") == 0);
  CHECK(quota_of("") == 0);
  CHECK(quota_of("200000 100000") == 2);
  CHECK(quota_of("250000 100000") == 3);
  CHECK(quota_of("10000 100000") == 1);
  CHECK(available_processors() >= 1);
}
