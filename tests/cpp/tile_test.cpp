// Tiles: every instruction set gives the same bits, those of the scalar text, for any length and in
// place; the integer rules and conversions against independent formulas.
#include "backend/cpu/tile.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "mlx/ops/elementwise/scalar_dialect.h"
//
#include "mlx/dtype.h"
#include "mlx/ops/elementwise/convert.h"

namespace {

using namespace mlx::core;
using cpu::TileFn;
using cpu::TileOps;
using cpu::TileTable;
using cpu::TileTypes;

constexpr int arity[] = {
#define OP(Name, python, arity, ...) arity,
#include "mlx/ops/elementwise/elementwise.def"
#undef OP
};
const char* const names[] = {
#define OP(Name, ...) #Name,
#include "mlx/ops/elementwise/elementwise.def"
#undef OP
};
enum class Result { same, floating, boolean, magnitude, shift };
constexpr Result results[] = {
#define OP(Name, python, arity, result, ...) Result::result,
#include "mlx/ops/elementwise/elementwise.def"
#undef OP
};
enum class Accepts { any, real, integral, number };

template <typename F>
void for_each_level(F f) {
  for (const char* const* level = cpu::tile_levels(); *level; ++level) {
    INFO("instruction set ", std::string(*level));
    f(cpu::tile_table(*level));
  }
}

using Bytes = std::vector<unsigned char>;

// Elements of a type: random bits, small numbers and the edges of its range.
Bytes samples(Dtype type, int n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  const float special[] = {0,     -0.0f,  1,      -1,       0.5f,      3,
                           1e30f, -1e30f, 1e-42f, INFINITY, -INFINITY, NAN};
  Bytes bytes(n * type.size());
  auto real = [&](int kind) {
    uint32_t bits = uint32_t(random());
    float x;
    std::memcpy(&x, &bits, 4);
    if (kind == 1) x = special[random() % std::size(special)];
    if (kind >= 2) x = normal(random) * 4;
    return kind == 3 ? std::round(x) : x;
  };
  for (int i = 0; i < n; ++i) {
    unsigned char* p = &bytes[i * type.size()];
    int kind = int(random() % 4);
    uint64_t bits = kind == 0   ? random()
                    : kind == 1 ? uint64_t(-1) << (8 * type.size() - 1)
                                : random() % 20 - 10;
    float x = real(kind), y = real(kind);
    double d = x;
    switch (type.id) {
      case Dtype::Id::Bool:
        *p = bits & 1;
        break;
      case Dtype::Id::Float32:
        std::memcpy(p, &x, 4);
        break;
      case Dtype::Id::Float64:
        std::memcpy(p, &d, 8);
        break;
      case Dtype::Id::Float16:
        *(float16_t*)p = to_float16(x);
        break;
      case Dtype::Id::BFloat16:
        *(bfloat16_t*)p = to_bfloat16(x);
        break;
      case Dtype::Id::Complex64:
        std::memcpy(p, &x, 4), std::memcpy(p + 4, &y, 4);
        break;
      default:
        std::memcpy(p, &bits, type.size());
    }
  }
  return bytes;
}

// Bits that compare: a NaN's sign and payload are not promised.
uint32_t comparable(float x) { return x == x ? float_bits(x) : 0x7fc00000; }

void canonical(Bytes& bytes, Dtype type) {
  auto each = [&]<typename T>(T nan, auto is_nan) {
    for (size_t i = 0; i < bytes.size(); i += sizeof(T)) {
      T x;
      std::memcpy(&x, &bytes[i], sizeof(T));
      if (is_nan(x)) std::memcpy(&bytes[i], &nan, sizeof(T));
    }
  };
  if (type == float32 || type == complex64) each(NAN, [](float x) { return x != x; });
  if (type == float64) each(double(NAN), [](double x) { return x != x; });
  if (type == float16)
    each(float16_t{0x7e00}, [](float16_t x) { return (x.bits & 0x7fff) > 0x7c00; });
  if (type == bfloat16)
    each(bfloat16_t{0x7fc0}, [](bfloat16_t x) { return (x.bits & 0x7fff) > 0x7f80; });
}

Dtype result_type(int op, Dtype type) {
  if (results[op] == Result::boolean) return bool_;
  if (results[op] == Result::magnitude && type == complex64) return float32;
  return type;
}

// n results of a row on the samples of a type, from element `first` on.
Bytes run(const TileTable& table, int op, Dtype type, int n, int first = 0) {
  std::vector<Bytes> operands;
  const void* in[3] = {};
  for (int k = 0; k < arity[op]; ++k) {
    Dtype t = arity[op] == 3 && k == 0 ? bool_ : type;
    operands.push_back(samples(t, first + n, 1 + k));
    in[k] = operands[k].data() + first * t.size();
  }
  Dtype result = result_type(op, type);
  Bytes out(n * result.size());
  table.op[op][type.index()](in, out.data(), n);
  canonical(out, result);
  return out;
}

constexpr int count = 1003;

TEST_CASE("all instruction sets give the same bits") {
  const TileTable& first = cpu::tile_table(cpu::tile_levels()[0]);
  for_each_level([&](const TileTable& table) {
    for (int type = 0; type < TileTypes::count; ++type) {
      Dtype dtype{Dtype::Id(type)};
      for (int op = 0; op < TileOps::count; ++op) {
        INFO(std::string(names[op]), " of ", std::string(dtype.name()));
        REQUIRE((table.op[op][type] == nullptr) == (first.op[op][type] == nullptr));
        if (table.op[op][type]) CHECK(run(table, op, dtype, count) == run(first, op, dtype, count));
      }
      for (int to = 0; to < TileTypes::count; ++to) {
        Dtype target{Dtype::Id(to)};
        Bytes in = samples(dtype, count, 1), a(count * target.size()), b(a);
        const void* operands[] = {in.data()};
        table.cast[type][to](operands, a.data(), count);
        first.cast[type][to](operands, b.data(), count);
        canonical(a, target), canonical(b, target);
        INFO(std::string(dtype.name()), " to ", std::string(target.name()));
        CHECK(a == b);
      }
    }
  });
}

TEST_CASE("tiles take any length and alignment, and may be overwritten") {
  for_each_level([](const TileTable& table) {
    for (int type = 0; type < TileTypes::count; ++type) {
      Dtype dtype{Dtype::Id(type)};
      for (int op = 0; op < TileOps::count; ++op) {
        if (!table.op[op][type]) continue;
        INFO(std::string(names[op]), " of ", std::string(dtype.name()));
        Dtype result = result_type(op, dtype);
        Bytes all = run(table, op, dtype, 70);
        bool same = true;
        for (int n : {0, 1, 2, 7, 15, 16, 33}) {
          Bytes part(all.begin() + 3 * result.size(), all.begin() + (3 + n) * result.size());
          same &= run(table, op, dtype, n, 3) == part;
        }
        CHECK(same);
        if (arity[op] == 3 || result.size() != dtype.size()) continue;
        Bytes a = samples(dtype, 70, 1), b = samples(dtype, 70, 2);
        Bytes& target = arity[op] == 1 ? a : b;
        const void* in[] = {a.data(), b.data()};
        table.op[op][type](in, target.data(), 70);
        canonical(target, result);
        CHECK(target == all);
      }
    }
  });
}

// A float32 or complex64 row of the scalar text.
template <int op, typename T, typename Row>
void check_scalar(const TileTable& table, Dtype type, Row row) {
  Bytes a = samples(type, count, 1), b = samples(type, count, 2), out = run(table, op, type, count);
  using R = decltype(row(T(), T()));
  REQUIRE(out.size() == count * sizeof(R));
  Bytes expected(out.size());
  for (int i = 0; i < count; ++i) {
    T x, y;
    std::memcpy(&x, &a[i * sizeof(T)], sizeof(T));
    std::memcpy(&y, &b[i * sizeof(T)], sizeof(T));
    R z = row(x, y);
    std::memcpy(&expected[i * sizeof(R)], &z, sizeof(R));
  }
  canonical(expected, result_type(op, type));
  INFO(std::string(names[op]), " of ", std::string(type.name()));
  CHECK(expected == out);
}

template <int op, int n, Accepts accepts, typename T, typename One, typename Two>
void check_accepted(const TileTable& table, Dtype type, One one, Two two) {
  constexpr bool real_only = accepts == Accepts::real && sizeof(T) == sizeof(complex64_t);
  if constexpr (op == TileOps::Cast || accepts == Accepts::integral || real_only || n == 3) {
    return;
  } else if constexpr (n == 1) {
    check_scalar<op, T>(table, type, [&](T x, T) { return one(x); });
  } else {
    check_scalar<op, T>(table, type, two);
  }
}

TEST_CASE("vectors give the bits of the scalar text") {
  for_each_level([](const TileTable& table) {
    auto all = [&]<typename T>(T, Dtype type) {
#define OP(Name, python, n, result, accepts, ...)          \
  check_accepted<TileOps::Name, n, Accepts::accepts, T>(   \
      table, type, [](auto x) { return scalar::Name(x); }, \
      [](auto x, auto y) { return scalar::Name(x, y); });
#include "mlx/ops/elementwise/elementwise.def"
#undef OP
    };
    all(float(), float32);
    all(complex64_t(), complex64);
  });
}

TEST_CASE("half types round the float32 result once") {
  for_each_level([](const TileTable& table) {
    for (Dtype half : {float16, bfloat16}) {
      for (int op = 0; op < TileOps::count; ++op) {
        TileFn tile = table.op[op][half.index()];
        if (!tile || arity[op] == 3) continue;
        Bytes a = samples(half, count, 1), b = samples(half, count, 2), wide[2], out(count * 4),
              rounded(count * 2);
        const void *narrow[] = {a.data(), b.data()}, *in[2];
        for (int k = 0; k < 2; ++k) {
          wide[k].resize(count * 4);
          table.cast[half.index()][TileTypes::Float32](&narrow[k], wide[k].data(), count);
          in[k] = wide[k].data();
        }
        table.op[op][TileTypes::Float32](in, out.data(), count);
        const void* result[] = {out.data()};
        table.cast[TileTypes::Float32][half.index()](result, rounded.data(), count);
        canonical(rounded, half);
        out.resize(count);
        INFO(std::string(names[op]), " of ", std::string(half.name()));
        CHECK(run(table, op, half, count) == (results[op] == Result::boolean ? out : rounded));
      }
    }
  });
}

template <typename T>
T apply(const TileTable& table, int op, T a, T b) {
  const void* in[] = {&a, &b};
  T out;
  table.op[op][dtype_of<T>.index()](in, &out, 1);
  return out;
}

// Exact arithmetic in 128 bits, wrapped to T.
template <typename T>
void check_integers(const TileTable& table) {
  using Wide = __int128;
  constexpr T low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  constexpr int bits = 8 * sizeof(T);
  INFO(std::string(dtype_of<T>.name()));
  const T values[] = {low, T(low + 1), T(-7), T(-2), T(-1), 0,           1,   2,
                      3,   7,          8,     31,    63,    T(high - 1), high};
  for (T a : values) {
    for (T b : values) {
      CAPTURE(+a);
      CAPTURE(+b);
      Wide x = a, y = b, q = 0, r = 0;
      if (y != 0) {
        q = x / y, r = x % y;
        if (r != 0 && (r < 0) != (y < 0)) q -= 1, r += y;
      }
      CHECK(apply(table, TileOps::FloorDivide, a, b) == T(q));
      CHECK(apply(table, TileOps::Remainder, a, b) == T(r));
      CHECK(apply(table, TileOps::Add, a, b) == T(x + y));
      CHECK(apply(table, TileOps::Subtract, a, b) == T(x - y));
      CHECK(apply(table, TileOps::Multiply, a, b) == T(x * y));
      bool inside = y >= 0 && y < bits;
      CHECK(apply(table, TileOps::LeftShift, a, b) ==
            (inside ? T((unsigned __int128)x << int(y)) : T(0)));
      CHECK(apply(table, TileOps::RightShift, a, b) ==
            (inside ? T(x >> int(y)) : T(x < 0 ? -1 : 0)));
      T power = y < 0 ? 0 : 1;
      for (int i = 0; y >= 0 && i < (y > 64 ? 0 : int(y)); ++i)
        power = T(uint64_t(power) * uint64_t(a));
      if (y <= 64) CHECK(apply(table, TileOps::Power, a, b) == power);
    }
    CHECK(apply(table, TileOps::Negative, a, a) == T(-Wide(a)));
    CHECK(apply(table, TileOps::Abs, a, a) == T(a < 0 ? -Wide(a) : Wide(a)));
    CHECK(apply(table, TileOps::Sign, a, a) == T((a > 0) - (a < 0)));
    CHECK(apply(table, TileOps::BitwiseInvert, a, a) == T(~a));
  }
}

TEST_CASE("integers wrap, divide as NumPy's and never trap") {
  for_each_level([](const TileTable& table) {
    check_integers<int8_t>(table);
    check_integers<int16_t>(table);
    check_integers<int32_t>(table);
    check_integers<int64_t>(table);
    check_integers<uint8_t>(table);
    check_integers<uint16_t>(table);
    check_integers<uint32_t>(table);
    check_integers<uint64_t>(table);
  });
}

template <typename To, typename From>
To cast(const TileTable& table, From x) {
  const void* in[] = {&x};
  To y;
  table.cast[dtype_of<From>.index()][dtype_of<To>.index()](in, &y, 1);
  return y;
}

template <typename To, typename From>
void check_saturation(const TileTable& table) {
  using Limits = std::numeric_limits<To>;
  for (From x : {From(-0.9), From(0.9), From(1.5), From(100), From(-100), From(1e30), From(-1e30),
                 From(INFINITY), From(-INFINITY), From(NAN), From(Limits::max()),
                 From(Limits::min()), From(2147483648.0), From(-2147483648.0), From(9.3e18),
                 From(255.5), From(-128.5), From(-129), From(65536)}) {
    CAPTURE(x);
    long double t = std::trunc((long double)x);
    To expected = x != x               ? To(0)
                  : t <= Limits::min() ? Limits::min()
                  : t >= Limits::max() ? Limits::max()
                                       : To(t);
    CHECK(cast<To>(table, x) == expected);
  }
}

TEST_CASE("conversions saturate, wrap and round once") {
  for_each_level([](const TileTable& table) {
    auto saturation = [&]<typename To>(To) {
      check_saturation<To, float>(table);
      check_saturation<To, double>(table);
    };
    saturation(int8_t()), saturation(int16_t()), saturation(int32_t()), saturation(int64_t());
    saturation(uint8_t()), saturation(uint16_t()), saturation(uint32_t()), saturation(uint64_t());
    CHECK(cast<int8_t>(table, int32_t(300)) == 44);
    CHECK(cast<uint8_t>(table, int64_t(-1)) == 255);
    CHECK(cast<int64_t>(table, uint32_t(4000000000u)) == 4000000000);
    CHECK(cast<bool>(table, NAN));
    CHECK(cast<bool>(table, complex64_t{0, 0.5f}));
    CHECK_FALSE(cast<bool>(table, complex64_t{0, -0.0f}));
    CHECK(cast<int32_t>(table, complex64_t{-2.5f, 9}) == -2);
    CHECK(cast<complex64_t>(table, int8_t(-3)).re == -3);
    // 1 + 2^-11 + 2^-40 lies above the middle of two float16, but rounds to it as a float32.
    CHECK(cast<float16_t>(table, 1 + 0x1p-11 + 0x1p-40).bits == 0x3c01);
    CHECK(cast<float16_t>(table, 1 + 0x1p-11).bits == 0x3c00);
    CHECK(cast<bfloat16_t>(table, 1 + 0x1p-8 + 0x1p-40).bits == 0x3f81);
    CHECK(cast<float16_t>(table, 65519.0f).bits == 0x7bff);
    CHECK(cast<float16_t>(table, 65520.0f).bits == 0x7c00);
    CHECK(cast<float16_t>(table, 0x1p-25f).bits == 0);
    CHECK(cast<float16_t>(table, 0x1.8p-25f).bits == 1);
    CHECK(cast<bfloat16_t>(table, 3.4e38f).bits == 0x7f80);
    int wrong = 0;
    for (int h = 0; h < 65536; ++h) {
      float16_t x{uint16_t(h)};
      float wide = cast<float>(table, x), expected = to_float(x);
      wrong += comparable(wide) != comparable(expected);
      if (wide == wide) wrong += cast<float16_t>(table, wide).bits != x.bits;
    }
    CHECK(wrong == 0);
  });
}

}  // namespace
