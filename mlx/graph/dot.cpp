// Graphviz text of the nodes that are still to be computed.
#include "mlx/graph/dot.h"

#include <unordered_map>

#include "mlx/error.h"
#include "mlx/graph/node.h"

namespace mlx::core {

namespace {

// A, B, … Z, AA, AB …
std::string letters(size_t n) {
  std::string s;
  for (++n; n > 0; n = (n - 1) / 26) {
    s.insert(s.begin(), char('A' + (n - 1) % 26));
  }
  return s;
}

std::string quoted(std::string_view text) {
  std::string s = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      s += '\\';
    }
    s += c;
  }
  return s + '"';
}

class Writer {
 public:
  explicit Writer(std::span<const std::pair<std::string, array>> names) {
    for (const auto& [name, a] : names) {
      names_[a.node()] = name;
    }
  }

  // Inputs before users, without recursion.
  std::string write(std::span<const array> outputs) {
    std::lock_guard lock(graph_mutex());
    for (const array& out : outputs) {
      std::vector<std::pair<Node*, size_t>> stack{{out.node(), 0}};
      while (!stack.empty()) {
        auto& [n, next] = stack.back();
        if (done_.count(n)) {
          stack.pop_back();
        } else if (is_built(n) && next < n->inputs.size()) {
          stack.push_back({n->inputs[next++].node(), 0});
        } else {
          declare(n);
          stack.pop_back();
        }
      }
    }
    for (const array& out : outputs) {
      text_ += format("{ rank=sink; {}; }\n", label(out.node()));
    }
    return "digraph {\n" + text_ + "}";
  }

 private:
  static bool is_built(const Node* n) {
    return n->primitive && n->state.load(std::memory_order_acquire) == NodeState::built;
  }

  std::string label(const Node* n) {
    auto [it, fresh] = names_.try_emplace(n);
    if (fresh) {
      it->second = letters(next_letter_++);
    }
    return quoted(it->second);
  }

  void declare(Node* n) {
    done_[n] = true;
    if (!is_built(n)) {
      text_ += format("{ rank=source; {}; }\n", label(n));
      return;
    }
    // Outputs of one primitive share its box.
    const void* key = n->group ? static_cast<const void*>(n->group.get()) : n;
    auto [it, fresh] = boxes_.try_emplace(key, boxes_.size());
    std::string box = format("op{}", it->second);
    if (fresh) {
      std::string title(n->primitive->name());
      if (std::string parameters = n->primitive->describe(); !parameters.empty()) {
        title += "\n" + parameters;
      }
      text_ += format("{ {} [label={}, shape=rectangle]; }\n", box, quoted(title));
      for (const array& x : n->inputs) {
        text_ += format("{} -> {}\n", label(x.node()), box);
      }
    }
    text_ += format("{} -> {}\n", box, label(n));
  }

  std::unordered_map<const Node*, std::string> names_;
  std::unordered_map<const Node*, bool> done_;
  std::unordered_map<const void*, size_t> boxes_;
  size_t next_letter_ = 0;
  std::string text_;
};

}  // namespace

std::string to_dot(std::span<const array> outputs,
                   std::span<const std::pair<std::string, array>> names) {
  return Writer(names).write(outputs);
}

}  // namespace mlx::core
