// How arrays print, and the options for it.
#include <cstdio>
#include <cstring>

#include "mlx/scalar_value.h"
#include "python/src/array_slots.h"
#include "python/src/convert.h"

namespace mlx::core {

namespace {

struct PrintOptions {
  int precision = -1;  // decimals; negative: six significant digits
};

PrintOptions& options() {
  static PrintOptions o;
  return o;
}

// Axes longer than this show their ends only.
constexpr int64_t max_shown = 6;
constexpr int64_t shown_ends = 3;

void append_number(std::string& out, double v) {
  char text[400];  // the longest double in fixed notation has 309 digits
  int precision = std::min(options().precision, 60);
  if (precision >= 0) {
    std::snprintf(text, sizeof text, "%.*f", precision, v);
  } else {
    std::snprintf(text, sizeof text, "%g", v);
  }
  out += text;
}

template <typename T>
void append_element(std::string& out, T v) {
  if constexpr (std::is_same_v<T, bool>) {
    out += v ? "True" : "False";
  } else if constexpr (std::is_same_v<T, complex64_t>) {
    append_number(out, v.re);
    if (!std::signbit(v.im) || std::isnan(v.im)) {
      out += '+';
    }
    append_number(out, std::isnan(v.im) ? std::fabs(v.im) : v.im);
    out += 'j';
  } else if constexpr (is_half_type<T>) {
    append_number(out, to_float(v));
  } else if constexpr (std::is_floating_point_v<T>) {
    append_number(out, v);
  } else {
    out += std::to_string(v);
  }
}

class Printer {
 public:
  Printer(const array& a, std::string& out)
      : a_(a), data_(static_cast<const char*>(a.data())), strides_(a.strides()), out_(out) {}

  void print(int axis, int64_t offset) {
    if (axis == a_.ndim()) {
      dispatch(AllTypes{}, a_.dtype(), "print", [&]<typename T>() {
        T v;
        std::memcpy(&v, data_ + offset, sizeof v);
        append_element(out_, v);
      });
      return;
    }
    int64_t n = a_.shape(axis), step = strides_[axis] * a_.itemsize();
    out_ += '[';
    for (int64_t i = 0; i < n; ++i) {
      if (i > 0) {
        separate(axis);
      }
      if (n > max_shown && i == shown_ends) {
        out_ += "...";
        separate(axis);
        i = n - shown_ends;
      }
      print(axis + 1, offset + i * step);
    }
    out_ += ']';
  }

 private:
  void separate(int axis) {
    if (axis + 1 == a_.ndim()) {
      out_ += ", ";
    } else {
      out_ += ",\n";
      out_.append(size_t(7 + axis), ' ');
    }
  }

  const array& a_;
  const char* data_;
  const Strides& strides_;
  std::string& out_;
};

// with mx.printoptions(precision=3): …
struct PrintOptionsContext {
  PrintOptions wanted;
  PrintOptions before;
};

}  // namespace

std::string array_text(const array& self) {
  array a = self;
  eval_released(a);
  std::string out = "array(";
  Printer(a, out).print(0, 0);
  out += ", dtype=";
  out += a.dtype().name();
  out += ')';
  return out;
}

void bind_print(nb::module_& m) {
  nb::class_<PrintOptions>(m, "PrintOptions", "How arrays print.")
      .def(nb::init<int>(), "precision"_a = -1)
      .def_rw("precision", &PrintOptions::precision,
              "Number of decimals; negative: six significant digits.");
  nb::class_<PrintOptionsContext>(m, "_PrintOptionsContext",
                                  "Sets print options for a ``with`` block.")
      .def("__enter__",
           [](PrintOptionsContext& c) {
             c.before = std::exchange(options(), c.wanted);
             return options();
           })
      .def("__exit__", [](PrintOptionsContext& c, nb::args) { options() = c.before; });
  define(
      m, "set_printoptions", [](int precision) { options() = {precision}; }, "precision"_a = -1,
      "Set how arrays print.\n\nArgs:\n    precision: number of decimals; negative (default): six\n"
      "        significant digits.");
  define(m, "get_printoptions", [] { return options(); }, "The print options in use.");
  define(
      m, "printoptions", [](int precision) { return PrintOptionsContext{{precision}, {}}; },
      "precision"_a = -1,
      "A context manager that sets the print options and restores them on exit.\n\n"
      "Example:\n    >>> with mx.printoptions(precision=2):\n    ...     print(mx.array(1 / 3))\n"
      "    array(0.33, dtype=float32)");
}

}  // namespace mlx::core
