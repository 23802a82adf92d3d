// Matrix products by the kernels of product_table.h. The output is cut into pieces for the threads;
// a piece packs a block of b that stays in the second cache and meets it with a few rows of a at a
// time, read in place where their elements are neighbours. For few rows of a, b is read in place
// too. Every element is summed in the same order wherever it lies in a piece, so the cut may follow
// the number of threads.
#include <algorithm>
#include <mutex>

#include "backend/cpu/encoder.h"
#include "backend/cpu/product.h"
#include "backend/cpu/product_table.h"
#include "backend/cpu/tile.h"
#include "mlx/env.h"

namespace mlx::core::cpu {

#define LEVEL(name)                             \
  namespace name {                              \
  void fill_products(ProductTable& t);          \
  bool fill_bfloat16_products(ProductTable& t); \
  }
#include "backend/cpu/tile_levels.def"
#undef LEVEL

const ProductTable& product_table() {
  static ProductTable table;
  static const bool filled = [] {
    std::string_view isa = tile_table().isa;
#define LEVEL(name)                                                 \
  if (isa == #name) {                                               \
    name::fill_products(table);                                     \
    if (env().cpu_isa.empty()) name::fill_bfloat16_products(table); \
  }
#include "backend/cpu/tile_levels.def"
#undef LEVEL
    return true;
  }();
  (void)filled;
  return table;
}

namespace {

// Rows of a for which packing b costs more than reading it as it lies.
constexpr int64_t few_rows = 16;

const ProductKernels* kernels_of(Dtype t) {
  const ProductTable& table = product_table();
  const ProductKernels* k = t == float32    ? &table.float32
                            : t == float16  ? &table.float16
                            : t == bfloat16 ? &table.bfloat16
                                            : nullptr;
  return k && k->rows > 0 ? k : nullptr;
}

int64_t round_up(int64_t n, int64_t unit) { return ceil_div(n, unit) * unit; }

// outᵀ = bᵀ @ aᵀ.
Product transposed(Product p) {
  std::swap(p.a, p.b);
  p.a = p.a.transposed();
  p.b = p.b.transposed();
  p.c = p.c.transposed();
  std::swap(p.batch.strides[0], p.batch.strides[1]);
  return p;
}

// Pieces of `rows` × `columns` (whole tiles and vectors), and the cost of all of them.
struct Cut {
  int64_t rows = 0, columns = 0, down = 0, across = 0;
  double cost = 0;

  int64_t count() const { return down * across; }
};

enum class Order { by_rows, by_columns };

class PackedProduct {
 public:
  // By columns: the rows of p.out, which is m × n, lie where the columns of the output do.
  PackedProduct(const Product& p, const ProductKernels& kernels, Order order)
      : p_(p),
        kernels_(kernels),
        order_(order),
        size_(p.dtype.size()),
        packing_(p.a.column_stride != 1 && p.k() > 1 ? Packing::panels
                 : kernels.in_place                  ? Packing::none
                 : kernels.pack_rows                 ? Packing::rows
                                                     : Packing::panels),
        reads_b_(kernels.in_place && kernels.pair == 1 && p.b.column_stride == 1 &&
                 p.m() <= few_rows),
        direct_(p.dtype == float32 && p.alpha == 1 && p.beta == 0 && order == Order::by_rows) {
    // Even blocks of k, in whole vectors of pairs.
    int64_t blocks = ceil_div(p.k() * kernels.item, kernels.column_bytes);
    depth_ = round_up(ceil_div(p.k(), blocks), 32);
    panel_ = kernels.vectors * kernels.lanes;
    group_ = packing_ == Packing::panels && p.a.row_stride == 1 ? 4 * kernels.group : kernels.group;
    int64_t fit = kernels.block_bytes / (depth_ * kernels.item) / panel_ * panel_;
    if (reads_b_) {
      // A few rows of b at a time, all along: the order it has in memory.
      depth_ = std::min<int64_t>(depth_, 32);
      fit = round_up(p.n(), panel_);
    }
    block_columns_ = std::max(fit, panel_);
    cut_ = choose_cut();
    block_columns_ = std::min(block_columns_, cut_.columns);
  }

  double cost() const { return cut_.cost; }
  bool reads_b() const { return reads_b_; }

  void run() {
    double work = double(cut_.rows) * double(cut_.columns) * double(p_.k());
    int64_t grain = std::max<int64_t>(1, int64_t(piece_work / work));
    parallel_for(p_.batch.size * cut_.count(), grain, [&](int64_t begin, int64_t end) {
      Scratch scratch(a_bytes() + b_bytes() + sum_bytes());
      Odometer at(p_.batch, 0);
      int64_t matrix = -1;
      for (int64_t t = begin; t < end; ++t) {
        if (t / cut_.count() != matrix) {
          matrix = t / cut_.count();
          at.seek(matrix);
        }
        piece(at, t % cut_.count(), scratch.as<char>());
      }
    });
  }

 private:
  // Of a: read in place, copied to panels, or copied to rows.
  enum class Packing { none, panels, rows };

  // Part of b in panels, and where it is in the product.
  struct Block {
    int64_t k, depth, column, columns;
    const char* panels;
    int64_t padded;  // depth, in whole steps
  };
  // Some rows of a as the kernels read them.
  struct Rows {
    const char* data;
    int64_t distance, step;
  };

  size_t a_bytes() const {
    return packing_ == Packing::none ? 0 : size_t(group_ * depth_ * kernels_.item);
  }
  size_t b_bytes() const {
    if (reads_b_) {
      return size_t(panel_ * depth_ * kernels_.item);
    }
    return size_t(round_up(block_columns_, kernels_.lanes) * depth_ * kernels_.item);
  }
  bool keeps_sums() const { return !direct_ && depth_ < p_.k(); }
  size_t sum_bytes() const {
    return size_t((keeps_sums() ? cut_.rows : kernels_.group) * block_columns_) * sizeof(float);
  }

  // The cut that costs the busiest thread least, by a count of cycles.
  Cut choose_cut() const {
    int64_t threads = thread_count(), vectors = ceil_div(p_.n(), kernels_.lanes);
    double work = double(p_.m()) * double(p_.n()) * double(p_.k()) * double(p_.batch.size);
    int64_t most = std::clamp<int64_t>(int64_t(work / piece_work), 1, 4 * threads);
    // An element of a or b comes from the third cache or from memory.
    double read_a = 0.15, read_b = p_.b.column_stride == 1 ? 0.4 : 0.6, finish = 0;
    if (packing_ != Packing::none) {
      read_a = packing_ == Packing::rows ? 0.3 : p_.a.row_stride == 1 ? 0.5 : 0.8;
    }
    if (!direct_) {
      finish = order_ == Order::by_rows ? 0.1 : 0.3;
    }
    Cut best;
    for (int64_t down = 1; down <= most; ++down) {
      for (int64_t across = 1; down * across <= most; ++across) {
        Cut c;
        c.rows = round_up(ceil_div(p_.m(), down), down == 1 ? 1 : kernels_.group);
        c.columns = ceil_div(vectors, across) * kernels_.lanes;
        c.down = ceil_div(p_.m(), c.rows);
        c.across = ceil_div(p_.n(), c.columns);
        int64_t pieces = p_.batch.size * c.count();
        double reads = read_a * double(c.rows) * double(ceil_div(c.columns, block_columns_)) +
                       read_b * double(c.columns);
        double piece =
            double(p_.k()) * (tiles_cost(c) + reads) + finish * double(c.rows) * double(c.columns);
        // The more pieces, the less an interrupted thread holds up the others.
        c.cost = piece * double(ceil_div(pieces, threads)) *
                 (1 + 0.1 * double(threads) / double(pieces));
        if (best.cost == 0 || c.cost < best.cost) {
          best = c;
        }
      }
    }
    return best;
  }

  // Of one element of k: the multiply-adds, or the loads where they are more.
  double tiles_cost(const Cut& c) const {
    auto tile = [&](int64_t vectors) {
      return std::max<double>(double(kernels_.rows * vectors), double(kernels_.rows + vectors)) /
                 2 +
             1;
    };
    int64_t vectors = c.columns / kernels_.lanes, rest = vectors % kernels_.vectors;
    double row =
        double(vectors / kernels_.vectors) * tile(kernels_.vectors) + (rest ? tile(rest) : 0);
    return row * double(ceil_div(c.rows, kernels_.rows)) / kernels_.pair;
  }

  const char* at(const Matrix& x, int64_t offset, int64_t r, int64_t c) const {
    return x.data + (offset + r * x.row_stride + c * x.column_stride) * size_;
  }

  void piece(const Odometer& batch, int64_t index, char* scratch) const {
    int64_t r = index % cut_.down * cut_.rows, c = index / cut_.down * cut_.columns;
    int64_t rows = std::min(cut_.rows, p_.m() - r), columns = std::min(cut_.columns, p_.n() - c);
    char *a = scratch, *b = a + a_bytes();
    float* sums = reinterpret_cast<float*>(b + b_bytes());
    for (int64_t j = 0; j < columns; j += block_columns_) {
      int64_t width = std::min(block_columns_, columns - j);
      for (int64_t k = 0; k < p_.k(); k += depth_) {
        int64_t depth = std::min(depth_, p_.k() - k);
        Block block{k, depth, c + j, width, b, round_up(depth, kernels_.pair)};
        // Of columns that are read in place, those that are no whole vectors are packed.
        int64_t ready = !reads_b_ ? 0 : width % kernels_.lanes ? width / panel_ * panel_ : width;
        kernels_.pack(at(p_.b, batch.offset(1), k, c + j + ready), p_.b.column_stride,
                      p_.b.row_stride, width - ready, depth, panel_, b);
        for (int64_t i = 0; i < rows; i += group_) {
          group(batch, block, r + i, std::min(group_, rows - i), a,
                keeps_sums() ? sums + i * block_columns_ : sums);
        }
      }
    }
  }

  // Rows that are packed together, in parts that are finished together.
  void group(const Odometer& batch, const Block& block, int64_t r, int64_t rows, char* packed,
             float* sums) const {
    const char* a = at(p_.a, batch.offset(0), r, block.k);
    if (packing_ == Packing::panels) {
      kernels_.pack(a, p_.a.row_stride, p_.a.column_stride, rows, block.depth, kernels_.group,
                    packed);
    } else if (packing_ == Packing::rows) {
      kernels_.pack_rows(a, p_.a.row_stride, rows, block.depth, packed);
    }
    for (int64_t i = 0; i < rows; i += kernels_.group) {
      int64_t some = std::min<int64_t>(kernels_.group, rows - i);
      Rows left{a + i * p_.a.row_stride * size_, p_.a.row_stride, kernels_.pair};
      if (packing_ == Packing::panels) {
        left = {packed + i * block.padded * kernels_.item, kernels_.pair,
                round_up(some, kernels_.lanes) * kernels_.pair};
      } else if (packing_ == Packing::rows) {
        left = {packed + i * block.depth * kernels_.item, block.depth, 1};
      }
      part(batch, block, r + i, some, left, keeps_sums() ? sums + i * block_columns_ : sums);
    }
  }

  void part(const Odometer& batch, const Block& block, int64_t r, int64_t rows, const Rows& left,
            float* sums) const {
    bool add = block.k > 0, last = block.k + block.depth == p_.k();
    char* out = p_.out;
    int64_t whole = 0;  // columns whose sums go to the output at once
    if (direct_) {
      whole = block.columns / kernels_.lanes * kernels_.lanes;
      out += (batch.offset(3) + r * p_.n() + block.column) * size_;
    } else if (order_ == Order::by_rows) {
      out += (batch.offset(3) + r * p_.n() + block.column) * size_;
    } else {
      out += (batch.offset(3) + r + block.column * p_.m()) * size_;
    }
    int64_t tiles = ceil_div(rows, kernels_.rows), tall = ceil_div(rows, tiles);
    for (int64_t i = 0; i < rows; i += tall) {
      int64_t height = std::min(tall, rows - i);
      const char* a = left.data + i * left.distance * kernels_.item;
      for (int64_t j = 0; j < block.columns; j += panel_) {
        int64_t vectors = ceil_div(std::min(panel_, block.columns - j), kernels_.lanes);
        const char* b = block.panels + (reads_b_ ? 0 : j * block.padded * kernels_.item);
        int64_t step = vectors * kernels_.lanes * kernels_.pair;
        if (reads_b_ && j + vectors * kernels_.lanes <= block.columns) {
          b = at(p_.b, batch.offset(1), block.k, block.column + j);
          step = p_.b.row_stride;
        }
        if (direct_ && j + vectors * kernels_.lanes <= block.columns) {
          kernels_.multiply[height - 1][vectors - 1](
              block.depth, a, left.distance, left.step, b, step,
              reinterpret_cast<float*>(out) + i * p_.n() + j, p_.n(), add);
        } else {
          whole = std::min(whole, j);
          kernels_.multiply[height - 1][vectors - 1](block.depth, a, left.distance, left.step, b,
                                                     step, sums + i * sum_distance() + j,
                                                     sum_distance(), add && keeps_sums());
        }
      }
    }
    if (whole < block.columns && (direct_ || last)) {
      finish(batch, block, r, rows, whole, sums, out);
    }
  }

  int64_t sum_distance() const { return block_columns_; }

  // Sums to the output, from column `j` of the block.
  void finish(const Odometer& batch, const Block& block, int64_t r, int64_t rows, int64_t j,
              const float* sums, char* out) const {
    ProductKernels::Result result{sums + j, sum_distance(), p_.alpha, p_.beta, nullptr, 0, 0,
                                  out,      p_.n()};
    if (order_ == Order::by_columns) {
      result.out_distance = p_.m();
    } else {
      result.out = out + j * size_;
    }
    if (direct_ && block.k > 0) {
      // What is there so far is added as c.
      result.beta = 1;
      result.c = result.out;
      result.c_row_stride = p_.n();
      result.c_column_stride = 1;
    } else if (p_.beta != 0) {
      result.c = at(p_.c, batch.offset(2), r, block.column + j);
      result.c_row_stride = p_.c.row_stride;
      result.c_column_stride = p_.c.column_stride;
    }
    auto function = order_ == Order::by_rows ? kernels_.finish : kernels_.finish_transposed;
    function(result, rows, block.columns - j);
  }

  const Product& p_;
  const ProductKernels& kernels_;
  const Order order_;
  const int64_t size_;
  const Packing packing_;
  const bool reads_b_;  // in place
  const bool direct_;   // sums grow where the result is
  int64_t depth_ = 0, panel_ = 0, group_ = 0, block_columns_ = 0;
  Cut cut_;
};

}  // namespace

bool try_packed_product(const Product& p) {
  const ProductKernels* kernels = kernels_of(p.dtype);
  if (!kernels || p.k() == 0) {
    return false;
  }
  const Product q = transposed(p);
  PackedProduct one(p, *kernels, Order::by_rows), other(q, *kernels, Order::by_columns);
  // What reads in place sums in blocks of its own, so that must not depend on the costs.
  bool turn = one.reads_b() || other.reads_b() ? !one.reads_b() : other.cost() < one.cost();
  (turn ? other : one).run();
  return true;
}

}  // namespace mlx::core::cpu
