// Kernels of tapes: from memory by the tape's key, from disk by the printed text, or compiled.
#include "backend/cuda/tapes.h"

#include <cstdio>
#include <mutex>
#include <unordered_map>

#include "backend/cuda/check.h"
#include "backend/cuda/device.h"
#include "backend/cuda/driver.h"
#include "backend/cuda/jit/kernel_compiler.h"
#include "backend/cuda/jit/tape_language.h"
#include "backend/cuda/walks.h"
#include "backend/gpu/tape_source.h"
#include "mlx/env.h"

namespace mlx::core::cuda {

namespace {

constexpr size_t max_entries = 4096;  // beyond, those without a kernel are forgotten

struct Entry {
  CUfunction function = nullptr;
  std::shared_ptr<const Compilation> compilation;  // under way
  bool met = false;
  bool failed = false;
};

class Tapes {
 public:
  // Null: not yet, or never.
  CUfunction function(const gpu::Tape& tape, int width, int device) {
    std::string key = gpu::tape_key(tape, width);
    key += char(device);
    std::lock_guard lock(mutex_);
    if (entries_.size() >= max_entries) {
      std::erase_if(entries_, [](const auto& e) { return !e.second.function; });
    }
    Entry& e = entries_[key];
    if (!e.function && !e.failed) {
      advance(e, tape, width, device);
    }
    return e.function;
  }

 private:
  void advance(Entry& e, const gpu::Tape& tape, int width, int device) {
    if (e.compilation) {
      if (e.compilation->done.load(std::memory_order_acquire)) {
        load(e, e.compilation->binary);
        e.compilation = nullptr;
      }
      return;
    }
    if (!can_compile()) {
      e.failed = true;
      return;
    }
    const DeviceProperties& d = devices()[size_t(device)];
    int sm = d.major * 10 + d.minor;
    std::string text = gpu::print_tape(tape, width, tape_language);
    if (!e.met) {
      e.met = true;
      if (std::optional<std::string> kept = cached_kernel(text, sm)) {
        load(e, *kept);
        return;
      }
      if (!env().eager_fusion) {
        return;
      }
    }
    if (env().eager_fusion) {
      load(e, compiled_kernel(text, sm));
    } else {
      e.compilation = compile_later(std::move(text), sm);
    }
  }

  // Modules stay for the life of the process, as queued work may use them.
  static void load(Entry& e, const std::string& binary) {
    CUmodule module = nullptr;
    e.failed = binary.empty() ||
               driver().module_load_data(&module, binary.data()) != CUDA_SUCCESS ||
               driver().module_get_function(&e.function, module, gpu::tape_kernel_name.data()) !=
                   CUDA_SUCCESS;
    if (e.failed) {
      e.function = nullptr;
      if (env().debug > 0) {
        std::fprintf(stderr, "[mlx] a tape has no kernel and runs step by step\n");
      }
    }
  }

  std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
};

Tapes& tapes() {
  static auto& t = *new Tapes();
  return t;
}

}  // namespace

bool run_tape(const Fused& p, Inputs in, Outputs out, Encoder& encoder) {
  SmallVector<Dtype, 8> dtypes;
  for (const Operand& o : in) {
    dtypes.push_back(o.dtype);
  }
  gpu::Tape tape{dtypes, p.steps, p.outputs};
  if (tape.operands() > size_t(max_walk_operands)) {
    return false;
  }
  int width = gpu::tape_width(tape);
  SmallVector<Piece, 1> pieces;
  each_piece(out, in, width, [&](const Piece& piece) { pieces.push_back(piece); });
  CUfunction functions[2] = {};  // any layout, packs
  for (const Piece& piece : pieces) {
    CUfunction& f = functions[piece.packs];
    if (!f && !(f = tapes().function(tape, piece.packs ? width : 1, encoder.stream.device.index))) {
      return false;
    }
  }
  for (const Piece& piece : pieces) {
    encoder.begin_launch("Fused", functions[piece.packs], grid_for(piece.walk.count));
    encoder.add_bytes(&piece.walk, walk_bytes(tape.operands()), alignof(Walk));
    for (size_t k = 0; k < out.size(); ++k) {
      encoder.add(static_cast<char*>(out[k].data) + piece.offsets[k]);
    }
    for (size_t k = 0; k < in.size(); ++k) {
      encoder.add(source_of(in[k], piece.offsets[out.size() + k]));
    }
    encoder.end_launch();
  }
  return true;
}

}  // namespace mlx::core::cuda
