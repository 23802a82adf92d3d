// einsum: the subscripts, the path (the pair that shrinks most first), and contractions of pairs as
// products of matrices.
#include "mlx/ops/matmul/einsum.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/matmul/matmul.h"
#include "mlx/ops/reduce/reduce.h"
#include "mlx/ops/shape/like.h"
#include "mlx/ops/shape/shape.h"

namespace mlx::core {

namespace {

// An axis: the code of its letter, or first_dots + its place from the right under "...".
using Label = int;
using Labels = std::vector<Label>;
constexpr Label first_dots = 256;

bool has(const Labels& labels, Label l) {
  return std::find(labels.begin(), labels.end(), l) != labels.end();
}

void insert(Labels& labels, Label l) {
  if (!has(labels, l)) {
    labels.push_back(l);
  }
}

// ---- subscripts ----

// The subscripts of one operand, or of the result: letters before and after "...".
struct Subscript {
  Labels before, after;
  bool dots = false;

  size_t letters() const { return before.size() + after.size(); }
  Labels labels(int dot_axes) const {
    Labels all = before;
    for (int k = dot_axes; dots && k-- > 0;) {
      all.push_back(first_dots + k);
    }
    all.insert(all.end(), after.begin(), after.end());
    return all;
  }
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

Subscript parse_subscript(std::string_view text, std::string_view op, std::string_view whole) {
  Subscript result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (is_letter(text[i])) {
      (result.dots ? result.after : result.before).push_back(text[i]);
    } else if (text.substr(i, 3) == "..." && !result.dots) {
      result.dots = true;
      i += 2;
    } else {
      fail<ValueError>("[{}] expected letters and at most one '...', got '{}' in '{}'", op, text,
                       whole);
    }
  }
  return result;
}

struct Equation {
  std::vector<Labels> inputs;
  Labels output;
  std::map<Label, int64_t> sizes;
  std::string text;  // without spaces, the result written out

  int64_t size_of(Label l) const { return sizes.at(l); }
  double size(const Labels& labels) const {
    double n = 1;
    for (Label l : labels) {
      n *= double(size_of(l));
    }
    return n;
  }
};

// Letters that occur once over all operands, in alphabetical order, behind the axes of "...".
Subscript implied_output(const std::vector<Subscript>& inputs) {
  std::map<Label, int> count;
  Subscript output;
  for (const Subscript& s : inputs) {
    output.dots |= s.dots;
    for (Label l : s.labels(0)) {
      ++count[l];
    }
  }
  for (auto [l, n] : count) {
    if (n == 1) {
      output.after.push_back(l);
    }
  }
  return output;
}

std::string text_of(const Subscript& s) {
  std::string text(s.before.begin(), s.before.end());
  text += s.dots ? "..." : "";
  return text.append(s.after.begin(), s.after.end());
}

// Axes of operand k that "..." stands for.
int count_dots(const Subscript& s, const array& x, size_t k, std::string_view op) {
  int rest = x.ndim() - int(s.letters());
  if (rest < 0 || (rest > 0 && !s.dots)) {
    fail<ValueError>("[{}] operand {} of shape {} has {} axes, which '{}' does not fit", op, k,
                     x.shape(), x.ndim(), text_of(s));
  }
  return rest;
}

void note_sizes(Equation& e, const Labels& labels, const array& x, size_t k, std::string_view op) {
  for (size_t i = 0; i < labels.size(); ++i) {
    int64_t n = x.shape(int(i));
    for (size_t j = 0; j < i; ++j) {
      if (labels[j] == labels[i] && x.shape(int(j)) != n) {
        fail<ValueError>(
            "[{}] the diagonal of axes {} and {} of operand {} needs equal sizes, got "
            "shape {}",
            op, j, i, k, x.shape());
      }
    }
    auto [at, added] = e.sizes.insert({labels[i], n});
    if (!added && at->second != n) {
      if (at->second != 1 && n != 1) {
        fail<ValueError>("[{}] axis {} of operand {} has size {}, the same subscript elsewhere {}",
                         op, i, k, n, at->second);
      }
      at->second = at->second == 1 ? n : at->second;
    }
  }
}

void check_output(const Equation& e, std::string_view op) {
  for (size_t i = 0; i < e.output.size(); ++i) {
    Label l = e.output[i];
    if (!e.sizes.contains(l)) {
      fail<ValueError>("[{}] the result's subscript '{}' is in no operand of '{}'", op,
                       std::string(1, char(l)), e.text);
    }
    if (std::find(e.output.begin(), e.output.begin() + i, l) != e.output.begin() + i) {
      fail<ValueError>("[{}] the result's subscript '{}' is there twice in '{}'", op,
                       std::string(1, char(l)), e.text);
    }
  }
}

Equation parse(std::string_view subscripts, std::span<const array> operands, std::string_view op) {
  std::string text;
  std::copy_if(subscripts.begin(), subscripts.end(), std::back_inserter(text),
               [](char c) { return c != ' '; });
  std::string_view left = text;
  size_t arrow = left.find("->");
  std::optional<Subscript> output;
  if (arrow != left.npos) {
    output = parse_subscript(left.substr(arrow + 2), op, subscripts);
    left = left.substr(0, arrow);
  }
  std::vector<Subscript> inputs;
  for (size_t begin = 0, end = 0; end != left.npos; begin = end + 1) {
    end = left.find(',', begin);
    inputs.push_back(parse_subscript(left.substr(begin, end - begin), op, subscripts));
  }
  if (inputs.size() != operands.size() || operands.empty()) {
    fail<ValueError>("[{}] '{}' is for {} operands, got {}", op, subscripts, inputs.size(),
                     operands.size());
  }
  if (!output) {
    output = implied_output(inputs);
  }
  Equation e;
  e.text = std::string(left) + "->" + text_of(*output);
  int most_dots = 0;
  for (size_t k = 0; k < inputs.size(); ++k) {
    int dots = count_dots(inputs[k], operands[k], k, op);
    most_dots = std::max(most_dots, dots);
    e.inputs.push_back(inputs[k].labels(dots));
    note_sizes(e, e.inputs.back(), operands[k], k, op);
  }
  e.output = output->labels(most_dots);
  check_output(e, op);
  return e;
}

// ---- path ----

// A contraction of several operands: the axes it runs over, and those that are left.
struct Contraction {
  Labels over, result;
};

Contraction contraction_of(const std::vector<Labels>& terms, const std::vector<int>& which,
                           const Labels& output) {
  Contraction c;
  Labels needed = output;
  for (int i = 0; i < int(terms.size()); ++i) {
    bool taken = std::find(which.begin(), which.end(), i) != which.end();
    for (Label l : terms[i]) {
      insert(taken ? c.over : needed, l);
    }
  }
  std::copy_if(c.over.begin(), c.over.end(), std::back_inserter(c.result),
               [&](Label l) { return has(needed, l); });
  return c;
}

// One multiplication per further operand, and an addition if anything is summed.
double flops(const Equation& e, const Contraction& c, size_t operands) {
  double per_element = std::max<double>(1, double(operands) - 1);
  return e.size(c.over) * (per_element + (c.result.size() < c.over.size() ? 1 : 0));
}

void apply(std::vector<Labels>& terms, const std::vector<int>& which, Labels result) {
  for (size_t i = which.size(); i-- > 0;) {
    terms.erase(terms.begin() + which[i]);
  }
  terms.push_back(std::move(result));
}

// The greedy choice of opt_einsum (Smith and Gray, 2018): the pair that frees most memory, then the
// cheapest; pairs without a common axis only when there are no others. A pair may not make more
// than `limit` elements nor the path cost more than no path.
struct Greedy {
  const Equation& e;
  std::vector<Labels> terms;
  double limit, budget;

  std::optional<std::vector<int>> best_pair(bool outer) const {
    std::optional<std::vector<int>> best;
    std::tuple<double, double> best_key;
    for (int i = 0; i < int(terms.size()); ++i) {
      for (int j = i + 1; j < int(terms.size()); ++j) {
        bool shares = std::any_of(terms[i].begin(), terms[i].end(),
                                  [&](Label l) { return has(terms[j], l); });
        if (!shares && !outer) {
          continue;
        }
        Contraction c = contraction_of(terms, {i, j}, e.output);
        double size = e.size(c.result), cost = flops(e, c, 2);
        std::tuple key(size - e.size(terms[i]) - e.size(terms[j]), cost);
        if (size <= limit && cost <= budget && (!best || key < best_key)) {
          best = {i, j};
          best_key = key;
        }
      }
    }
    return best;
  }
};

std::vector<int> all_of(size_t n) {
  std::vector<int> all(n);
  for (size_t i = 0; i < n; ++i) {
    all[i] = int(i);
  }
  return all;
}

std::vector<Labels> distinct(const std::vector<Labels>& terms) {
  std::vector<Labels> result;
  for (const Labels& t : terms) {
    result.emplace_back();
    for (Label l : t) {
      insert(result.back(), l);
    }
  }
  return result;
}

ContractionPath greedy_path(const Equation& e) {
  std::vector<int> all = all_of(e.inputs.size());
  Greedy g{e, distinct(e.inputs), e.size(e.output), 0};
  for (const Labels& t : g.terms) {
    g.limit = std::max(g.limit, e.size(t));
  }
  g.budget = flops(e, contraction_of(g.terms, all, e.output), all.size());
  ContractionPath path;
  while (g.terms.size() > 2) {
    std::optional<std::vector<int>> pair = g.best_pair(false);
    if (!pair) {
      pair = g.best_pair(true);
    }
    if (!pair) {
      break;
    }
    Contraction c = contraction_of(g.terms, *pair, e.output);
    g.budget -= flops(e, c, 2);
    apply(g.terms, *pair, c.result);
    path.push_back(*pair);
  }
  if (g.terms.size() > 1 || path.empty()) {
    path.push_back(all_of(g.terms.size()));
  }
  return path;
}

// ---- evaluation ----

struct Term {
  array value;
  Labels labels;

  int axis(Label l) const {
    return int(std::find(labels.begin(), labels.end(), l) - labels.begin());
  }
};

// Each label on one axis, of its full size: diagonals are taken and axes that broadcast dropped.
Term simplified(Term t, const Equation& e, StreamOrDevice s) {
  for (size_t i = 0; i < t.labels.size(); ++i) {
    for (size_t j = i + 1; j < t.labels.size();) {
      if (t.labels[i] != t.labels[j]) {
        ++j;
        continue;
      }
      // The diagonal's axis comes last.
      t.value = moveaxis(diagonal(t.value, 0, int(i), int(j), s), -1, int(i), s);
      t.labels.erase(t.labels.begin() + j);
    }
  }
  Axes dropped;
  Labels kept;
  for (size_t i = 0; i < t.labels.size(); ++i) {
    if (t.value.shape(int(i)) == 1 && e.size_of(t.labels[i]) != 1) {
      dropped.push_back(int(i));
    } else {
      kept.push_back(t.labels[i]);
    }
  }
  if (!dropped.empty()) {
    t = {squeeze(t.value, std::span<const int>(dropped), s), kept};
  }
  return t;
}

// Sums the axes that nobody needs.
Term summed(const Term& t, const Labels& needed, StreamOrDevice s) {
  Axes axes;
  Labels kept;
  for (size_t i = 0; i < t.labels.size(); ++i) {
    if (has(needed, t.labels[i])) {
      kept.push_back(t.labels[i]);
    } else {
      axes.push_back(int(i));
    }
  }
  return axes.empty() ? t : Term{sum(t.value, std::span<const int>(axes), false, s), kept};
}

// The axes of t in the order of `labels`.
array ordered(const Term& t, const Labels& labels, StreamOrDevice s) {
  Axes order;
  bool sorted = true;
  for (Label l : labels) {
    sorted &= t.axis(l) == int(order.size());
    order.push_back(t.axis(l));
  }
  return sorted ? t.value : transpose(t.value, std::span<const int>(order), s);
}

int64_t count_of(const Equation& e, const Labels& labels) {
  int64_t n = 1;
  for (Label l : labels) {
    n *= e.size_of(l);
  }
  return n;
}

void append_sizes(Shape& shape, const Equation& e, const Labels& labels) {
  for (Label l : labels) {
    shape.push_back(e.size_of(l));
  }
}

Labels joined(const Labels& a, const Labels& b, const Labels& c) {
  Labels all = a;
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  return all;
}

// t as (batch…, the axes `rows` as one, the axes `columns` as one).
array as_matrices(const Term& t, const Equation& e, const Labels& batch, const Labels& rows,
                  const Labels& columns, StreamOrDevice s) {
  Shape shape;
  append_sizes(shape, e, batch);
  shape.push_back(count_of(e, rows));
  shape.push_back(count_of(e, columns));
  return reshape(ordered(t, joined(batch, rows, columns), s), shape, s);
}

// Both operands stand side by side: batch axes together, the others by themselves.
array outer_product(const Term& a, const Term& b, const Equation& e, const Labels& batch,
                    const Labels& free_a, const Labels& free_b, StreamOrDevice s) {
  Shape shape;
  append_sizes(shape, e, batch);
  append_sizes(shape, e, free_a);
  shape.resize(shape.size() + free_b.size(), 1);
  array left = ordered(a, joined(batch, free_a, {}), s);
  if (!free_b.empty()) {
    left = reshape(left, shape, s);
  }
  array right = ordered(b, joined(batch, free_b, {}), s);
  if (!free_a.empty() && !batch.empty()) {
    Shape wide;
    append_sizes(wide, e, batch);
    wide.resize(wide.size() + free_a.size(), 1);
    append_sizes(wide, e, free_b);
    right = reshape(right, wide, s);
  }
  return multiply(left, right, s);
}

Term contract(Term a, Term b, const Equation& e, const Labels& needed, StreamOrDevice s) {
  Labels needed_a = joined(needed, b.labels, {}), needed_b = joined(needed, a.labels, {});
  a = summed(a, needed_a, s);
  b = summed(b, needed_b, s);
  Labels batch, over, free_a, free_b;
  for (Label l : a.labels) {
    (!has(b.labels, l) ? free_a : has(needed, l) ? batch : over).push_back(l);
  }
  std::copy_if(b.labels.begin(), b.labels.end(), std::back_inserter(free_b),
               [&](Label l) { return !has(a.labels, l); });
  Labels labels = joined(batch, free_a, free_b);
  if (over.empty()) {
    return {outer_product(a, b, e, batch, free_a, free_b, s), labels};
  }
  if (!promote_types(a.value.dtype(), b.value.dtype()).is_inexact()) {
    fail<ValueError>(
        "[einsum] expected floating or complex operands where products are summed "
        "('{}'), got {}",
        e.text, a.value.dtype());
  }
  array p = matmul(as_matrices(a, e, batch, free_a, over, s),
                   as_matrices(b, e, batch, over, free_b, s), s);
  Shape shape;
  append_sizes(shape, e, labels);
  return {reshape(p, shape, s), labels};
}

// Takes the terms of a step out and contracts them, one after the other.
Term run_step(std::vector<Term>& terms, const std::vector<int>& which, const Equation& e,
              StreamOrDevice s) {
  std::vector<Term> taken;
  for (size_t i = which.size(); i-- > 0;) {
    taken.insert(taken.begin(), terms[which[i]]);
    terms.erase(terms.begin() + which[i]);
  }
  Labels needed = e.output;
  for (const Term& t : terms) {
    needed.insert(needed.end(), t.labels.begin(), t.labels.end());
  }
  Term result = taken[0];
  for (size_t i = 1; i < taken.size(); ++i) {
    Labels later = needed;
    for (size_t j = i + 1; j < taken.size(); ++j) {
      later.insert(later.end(), taken[j].labels.begin(), taken[j].labels.end());
    }
    result = contract(result, taken[i], e, later, s);
  }
  return summed(result, needed, s);
}

std::string number(double x) { return x < 9e18 ? std::to_string(int64_t(x)) : format("{}", x); }

}  // namespace

array einsum(std::string_view subscripts, std::span<const array> operands, StreamOrDevice where) {
  Stream s = to_stream(where);
  Equation e = parse(subscripts, operands, "einsum");
  Dtype t = operands[0].dtype();
  for (const array& x : operands) {
    t = promote_types(t, x.dtype());
  }
  std::vector<Term> terms;
  for (size_t k = 0; k < operands.size(); ++k) {
    terms.push_back(simplified({astype(pin_shape(operands[k]), t, s), e.inputs[k]}, e, s));
  }
  for (const std::vector<int>& step : greedy_path(e)) {
    terms.push_back(run_step(terms, step, e, s));
  }
  return ordered(terms[0], e.output, s);
}

std::pair<ContractionPath, std::string> einsum_path(std::string_view subscripts,
                                                    std::span<const array> operands) {
  Equation e = parse(subscripts, operands, "einsum_path");
  ContractionPath path = greedy_path(e);
  std::vector<Labels> terms = distinct(e.inputs);
  Contraction naive = contraction_of(terms, all_of(terms.size()), e.output);
  double naive_cost = flops(e, naive, terms.size()), cost = 0;
  size_t scaling = 0;
  for (const std::vector<int>& step : path) {
    Contraction c = contraction_of(terms, step, e.output);
    cost += flops(e, c, step.size());
    scaling = std::max(scaling, c.over.size());
    apply(terms, step, c.result);
  }
  std::string text = "  Complete contraction:  " + e.text;
  text += "\n         Naive scaling:  " + std::to_string(naive.over.size());
  text += "\n     Optimized scaling:  " + std::to_string(scaling);
  text += "\n      Naive FLOP count:  " + number(naive_cost);
  text += "\n  Optimized FLOP count:  " + number(cost) + "\n";
  return {path, text};
}

}  // namespace mlx::core
