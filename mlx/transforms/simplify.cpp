// What a program can do without: copies, expressions that are there already, results nobody reads.
// Nothing here changes a bit of a value.
#include <cstring>
#include <unordered_map>

#include "mlx/graph/node.h"
#include "mlx/transforms/program.h"

namespace mlx::core {

namespace {

size_t mixed(size_t h, size_t value) { return (h ^ value) * 0x9e3779b97f4a7c15ull + (h >> 29); }

size_t hash_of(const Step& s) {
  size_t h = size_t(s.primitive->id());
  if (s.primitive->id() == PrimitiveId::custom) {
    h = mixed(h, reinterpret_cast<size_t>(s.primitive.get()));
  }
  for (int32_t i : s.inputs) {
    h = mixed(h, size_t(i));
  }
  for (const Step::Output& out : s.outputs) {
    h = mixed(h, size_t(out.size) * 31 + size_t(out.dtype.index()));
  }
  return h;
}

bool same_step(const Step& a, const Step& b) {
  auto same_output = [](const Step::Output& x, const Step::Output& y) {
    return x.dtype == y.dtype && x.shape == y.shape;
  };
  return a.inputs == b.inputs && a.stream == b.stream &&
         std::equal(a.outputs.begin(), a.outputs.end(), b.outputs.begin(), b.outputs.end(),
                    same_output) &&
         a.primitive->equivalent(*b.primitive);
}

// The input that output k is, as far as computing goes; -1: none. The order that Depends asks for
// stays.
int copied_input(const Step& s, size_t k) {
  switch (s.primitive->id()) {
    case PrimitiveId::Copy:
    case PrimitiveId::StopGradient:
      return 0;
    case PrimitiveId::CustomFunction:
      return s.primitive->passed_input(k);
    default:
      return -1;
  }
}

// Scalars by their bits, so that every NaN stays what it is.
struct ScalarKey {
  uint64_t bits;
  int dtype;
  bool operator==(const ScalarKey&) const = default;
};
struct ScalarHash {
  size_t operator()(const ScalarKey& k) const { return mixed(size_t(k.dtype), size_t(k.bits)); }
};

}  // namespace

Program Program::simplified() const {
  Program p;
  p.inputs_ = inputs_;
  std::vector<int32_t> renumbered(static_cast<size_t>(value_count_));
  int32_t next = 0;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    renumbered[size_t(next)] = next;
    ++next;
  }
  std::unordered_map<ScalarKey, int32_t, ScalarHash> scalars;
  for (size_t i = 0; i < constants_.size(); ++i) {
    const Node& n = *constants_[i].node();
    int32_t number = int32_t(inputs_.size() + p.constants_.size());
    if (n.has_scalar && n.tracer == 0) {
      ScalarKey key{0, n.dtype.index()};
      std::memcpy(&key.bits, n.scalar, sizeof key.bits);
      auto [it, fresh] = scalars.try_emplace(key, number);
      if (!fresh) {
        renumbered[inputs_.size() + i] = it->second;
        continue;
      }
    }
    renumbered[inputs_.size() + i] = number;
    p.constants_.push_back(constants_[i]);
  }
  p.value_count_ = p.first_step_value();
  std::unordered_multimap<size_t, size_t> seen;
  for (const Step& old : steps_) {
    Step s = old;
    for (int32_t& i : s.inputs) {
      i = renumbered[size_t(i)];
    }
    if (copied_input(s, 0) >= 0) {
      for (size_t k = 0; k < s.outputs.size(); ++k) {
        renumbered[size_t(old.first_output) + k] = s.inputs[size_t(copied_input(s, k))];
      }
      continue;
    }
    size_t h = hash_of(s);
    auto [from, to] = seen.equal_range(h);
    auto it = std::find_if(from, to,
                           [&](const auto& entry) { return same_step(p.steps_[entry.second], s); });
    if (it != to) {
      s.first_output = p.steps_[it->second].first_output;
    } else {
      s.first_output = p.value_count_;
      p.value_count_ += int32_t(s.outputs.size());
      seen.emplace(h, p.steps_.size());
      p.steps_.push_back(s);
    }
    for (size_t k = 0; k < s.outputs.size(); ++k) {
      renumbered[size_t(old.first_output) + k] = s.first_output + int32_t(k);
    }
  }
  for (int32_t i : outputs_) {
    p.outputs_.push_back(renumbered[size_t(i)]);
  }
  p.drop_unread();
  return p;
}

void Program::drop_unread() {
  std::vector<char> read(static_cast<size_t>(value_count_), 0);
  for (int32_t i : outputs_) {
    read[size_t(i)] = 1;
  }
  std::vector<char> kept(steps_.size(), 0);
  for (size_t i = steps_.size(); i-- > 0;) {
    const Step& s = steps_[i];
    for (size_t k = 0; k < s.outputs.size(); ++k) {
      kept[i] |= read[size_t(s.first_output) + k];
    }
    for (int32_t x : s.inputs) {
      read[size_t(x)] |= kept[i];
    }
  }
  // Constants that nobody reads would keep their memory; inputs keep their numbers.
  std::vector<int32_t> renumbered(static_cast<size_t>(value_count_));
  int32_t next = 0;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    renumbered[i] = next++;
  }
  std::vector<array> constants;
  for (size_t i = 0; i < constants_.size(); ++i) {
    size_t old = inputs_.size() + i;
    if (read[old]) {
      renumbered[old] = next++;
      constants.push_back(std::move(constants_[i]));
    }
  }
  std::vector<Step> steps;
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (!kept[i]) {
      continue;
    }
    Step& s = steps_[i];
    for (int32_t& x : s.inputs) {
      x = renumbered[size_t(x)];
    }
    for (size_t k = 0; k < s.outputs.size(); ++k) {
      renumbered[size_t(s.first_output) + k] = next + int32_t(k);
    }
    s.first_output = next;
    next += int32_t(s.outputs.size());
    steps.push_back(std::move(s));
  }
  for (int32_t& i : outputs_) {
    i = renumbered[size_t(i)];
  }
  constants_ = std::move(constants);
  steps_ = std::move(steps);
  value_count_ = next;
}

}  // namespace mlx::core
