"""Tests of tests/structure.py: each rule finds its fault in a small bad tree and lets a good one pass."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[1] / "structure.py"
spec = importlib.util.spec_from_file_location("structure", SCRIPT)
structure = importlib.util.module_from_spec(spec)
spec.loader.exec_module(structure)


@pytest.fixture
def find(tmp_path):
    """Writes {path: text} below a folder and returns the findings there."""

    def run(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return structure.findings(tmp_path)

    return run


def body(n):
    return "".join(f"  x += {i};\n" for i in range(n))


def test_good_tree_has_no_findings(find):
    files = {
        "mlx/a.h": '// A.\n#pragma once\n#include <vector>\n#include "mlx/b.h"\n',
        "mlx/types.h": "// Types.\n#ifdef __CUDACC__\n#endif\n",
        "mlx/env.cpp": '// Environment.\nconst char* t[] = {"MLX_DEBUG"};\nauto v = getenv("MLX_DEBUG");\n',
        "mlx/ops.cpp": '// Ops.\n#define OP(N, n) N,\n#include "mlx/x.def"\n#undef OP\n',
        "backend/cpu/a.cpp": '// A.\n#include "mlx/a.h"\n#include "backend/cpu/b.h"\n',
        "backend/cuda/a.cu": '// A.\n#include "backend/gpu/dialect.h"\n',
        "python/src/a.cpp": '// A.\n#include <nanobind/nanobind.h>\n#include "mlx/a.h"\n',
        "tests/python/a.py": '"""A."""\n',
    }
    assert find(files) == []


@pytest.mark.parametrize(
    "files, where, what",
    [
        ({"mlx/a.cpp": "// A.\n" + "int x;\n" * 800}, "mlx/a.cpp:801:", "file of 801 lines"),
        ({"mlx/a.cpp": "// A.\nvoid f() {\n" + body(99) + "}\n"}, "mlx/a.cpp:2:", "function f"),
        ({"a.py": '"""A."""\ndef g():\n' + "    x = 1\n" * 100}, "a.py:2:", "function g of 101"),
        ({"mlx/a.h": '// A.\n#include "backend/cpu/a.h"\n'}, "mlx/a.h:2:", "neither devices nor"),
        ({"mlx/a.h": "// A.\n#include <nanobind/nanobind.h>\n"}, "mlx/a.h:2:", "nor Python"),
        ({"mlx/a.h": '// A.\n#include "../b.h"\n'}, "mlx/a.h:2:", "from the root"),
        ({"backend/cpu/a.h": '// A.\n#include "backend/cuda/a.h"\n'}, "backend/cpu/a.h:2:", "each"),
        ({"backend/cpu/a.h": "// A.\n#include <Python.h>\n"}, "backend/cpu/a.h:2:", "no Python"),
        ({"python/src/a.h": '// A.\n#include "backend/cpu/a.h"\n'}, "python/src/a.h:2:", "core"),
        ({"mlx/a.cpp": "// A.\n#ifdef __CUDACC__\n#endif\n"}, "mlx/a.cpp:2:", "device word 'CUDA'"),
        ({"mlx/a.cpp": '// A.\nauto n = "libmlx_metal.so";\n'}, "mlx/a.cpp:2:", "'metal'"),
        ({"mlx/a.h": "// A.\n#define F(x) x\n"}, "mlx/a.h:2:", "macro F"),
        ({"mlx/a.h": '// A.\n#define F(x) x\n#include "a.def"\n'}, "mlx/a.h:2:", "macro F"),
        ({"mlx/a.h": '// A.\n#define F(x) x\n#undef F\n#include "a.def"\n'}, "mlx/a.h:2:", "F"),
        ({"mlx/a.cpp": '// A.\nauto v = getenv("HOME");\n'}, "mlx/a.cpp:2:", "getenv outside"),
        ({"mlx/a.cpp": '// A.\nauto v = read("MLX_NEW");\n'}, "mlx/a.cpp:2:", "MLX_NEW is not"),
        (
            {"python/mlx/a.py": '"""A."""\nos.environ' + '["MLX_NEW"]\n'},
            "python/mlx/a.py:2:",
            "MLX_NEW",
        ),
        ({"mlx/a.h": "#pragma once\n"}, "mlx/a.h:1:", "open with a comment"),
        ({"mlx/a.h": "// A.\n// TO" + "DO later\n"}, "mlx/a.h:2:", "left in the text"),
        ({"mlx/a.h": "// A.\nint x;"}, "mlx/a.h:2:", "newline"),
        ({"big.json": "0" * 1_000_001}, "big.json:1:", "bytes"),
    ],
)
def test_bad_tree_has_one_finding(find, files, where, what):
    found = find(files)
    assert len(found) == 1, found
    assert found[0].startswith(where)
    assert what in found[0]


def test_comments_and_strings_are_not_code(find):
    text = '// A. cuda\n/* getenv("X") metal */\nauto s = "// not a comment"; // nvidia\n'
    assert find({"mlx/a.cpp": text}) == []


def test_row_without_reference(find):
    files = {
        "mlx/ops/elementwise/elementwise.def": '// Ops.\nOP(Sin, sin, 1)\nOP(Cos, "cos", 1)\n',
        "mlx/ops/reduce/reduce.def": "// Reductions.\nREDUCE(Sum, sum)\n",
    }
    assert find(files) == []  # nothing to compare with yet
    rows = '"""R."""\nrow("sin", 1)\nother("cos", 1)\n'
    found = find({"tests/python/reference.py": rows, "tests/python/reduce_reference.py": rows})
    assert [f.split(":")[:2] for f in found] == [
        ["mlx/ops/elementwise/elementwise.def", "3"],
        ["mlx/ops/reduce/reduce.def", "2"],
    ]
    assert "cos has no row" in found[0]


CPP = """// F.
namespace a {
struct S : B<int> {
  S() : x{1}, y{2} {
    x = 3;
  }
  int get() const { return x; }
  enum class E { one, two };
  int x = 0;
};
#define BODY { ( {
#ifdef A
template <class T> void branch(T) {
#else
void branch(int) {
#endif
}
inline constexpr int table[] = {
    1,
    f(2),
};
template <typename T = decltype([] {})>
  requires(sizeof(T) > 1)
auto lambda(std::string s = "}{") -> int {
  auto g = [&](int x) { return x; };
  if (g(1)) {
    return '{';
  }
  return 0;
}
bool operator==(const S& x, const S& y) {
  return true;
}
extern "C" {
void c() {
}
}
}  // namespace a
TEST_CASE("one") {
  CHECK(true);
}
"""


def test_cpp_functions():
    found = list(structure.cpp_functions(CPP))
    assert [(a, b) for a, b, _ in found] == [
        (4, 6),
        (7, 7),
        (13, 17),
        (22, 30),
        (31, 33),
        (35, 36),
        (39, 41),
    ]
    assert [name for _, _, name in found][:3] == ["S", "get", "branch"]


def test_command_line(tmp_path):
    run = lambda: subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path)], capture_output=True, text=True
    )
    (tmp_path / "a.py").write_text('"""A."""\n')
    assert run().returncode == 0
    (tmp_path / "a.py").write_text("x = 1\n")
    bad = run()
    assert bad.returncode == 1
    assert bad.stdout.splitlines()[0].startswith("a.py:1: ")


def test_the_table_of_gpu_primitives_is_true():
    done = subprocess.run(
        [sys.executable, SCRIPT.parents[1] / "tools/gpu_table.py", "--check"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
