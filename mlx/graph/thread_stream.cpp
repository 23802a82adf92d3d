// Thread-local streams: each thread takes a stream of its own for one at first use.
#include <atomic>
#include <vector>

#include "mlx/backend.h"
#include "mlx/device.h"
#include "mlx/graph/scheduler.h"

namespace mlx::core {

namespace {

std::atomic<int32_t> count{0};

struct Opened {
  int32_t index;
  Stream stream;
};
thread_local std::vector<Opened> opened;

}  // namespace

ThreadLocalStream new_thread_local_stream(Device d) {
  backend_of(d);
  return {count.fetch_add(1), d};
}

Stream to_stream(const ThreadLocalStream& s) {
  for (const Opened& o : opened) {
    if (o.index == s.index) {
      return o.stream;
    }
  }
  opened.push_back({s.index, borrow_stream(s.device)});
  return opened.back().stream;
}

}  // namespace mlx::core
