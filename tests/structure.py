"""Checks the structure of the sources: sizes, include directions, device words, macros, tables, environment.

usage: python tests/structure.py [ROOT]     prints `file:line: finding`, exits with 1 if there is any

Each rule is a function from the tree to findings. What a rule lets pass is listed beside it, with the reason.
"""

import ast
import bisect
import pathlib
import re
import subprocess
import sys

MAX_FILE = 800
MAX_FUNCTION = 100
MAX_BYTES = 1_000_000

CPP = (".h", ".hpp", ".cpp", ".cu", ".cuh", ".metal", ".mm", ".def")
SIZED = (*CPP, ".py", ".cmake")
SKIP = ("build/", "dist/", ".venv/", ".git/", ".cache/", "carry/")


class Tree:
    """The files of a checkout: what git tracks or would track; all of the folder where there is no git."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.paths = sorted(p for p in self._names() if not p.startswith(SKIP))
        self._text, self._code = {}, {}

    def _names(self):
        if (self.root / ".git").exists():
            out = subprocess.run(
                ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                cwd=self.root,
                capture_output=True,
                check=True,
            ).stdout.decode()
            return {n for n in out.split("\0") if n and (self.root / n).is_file()}
        return {p.relative_to(self.root).as_posix() for p in self.root.rglob("*") if p.is_file()}

    def having(self, suffixes, *folders):
        return [
            p for p in self.paths if p.endswith(suffixes) and (not folders or p.startswith(folders))
        ]

    def text(self, path):
        if path not in self._text:
            self._text[path] = (self.root / path).read_text(encoding="utf-8", errors="replace")
        return self._text[path]

    def code(self, path):
        """C++ text with comments blanked; strings stay. Line numbers stay true."""
        if path not in self._code:
            self._code[path] = blank(self.text(path), strings=False)
        return self._code[path]


TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"([^\s()\\]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'""",
    re.S,
)


def blank(text, strings):
    """C++ text with comments (and, if asked, the insides of strings) replaced by spaces, newlines kept."""

    def hide(m):
        token = m.group(0)
        if token.startswith(("//", "/*")):
            return re.sub(r"[^\n]", " ", token)
        return re.sub(r"[^\n\"]", " ", token) if strings else token

    return TOKEN.sub(hide, text)


def lines(text):
    return enumerate(text.split("\n"), 1)


# ---- sizes ------------------------------------------------------------------------------------


def file_sizes(tree):
    for path in tree.having(SIZED):
        count = tree.text(path).count("\n")
        if count > MAX_FILE:
            yield path, count, f"file of {count} lines, at most {MAX_FILE}"


def large_files(tree):
    for path in tree.paths:
        size = (tree.root / path).stat().st_size
        if size > MAX_BYTES:
            yield path, 1, f"file of {size} bytes, at most {MAX_BYTES}"


def function_sizes(tree):
    for path in tree.having(CPP):
        for start, end, name in cpp_functions(tree.text(path)):
            if end - start + 1 > MAX_FUNCTION:
                yield (
                    path,
                    start,
                    f"function {name} of {end - start + 1} lines, at most {MAX_FUNCTION}",
                )
    for path in tree.having((".py",)):
        for node in ast.walk(ast.parse(tree.text(path), path)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                size = node.end_lineno - node.lineno + 1
                if size > MAX_FUNCTION:
                    yield (
                        path,
                        node.lineno,
                        f"function {node.name} of {size} lines, at most {MAX_FUNCTION}",
                    )


def without_directives(text):
    """Preprocessor lines blanked, and of #if/#else pairs the first branch kept, so that braces balance."""
    out, stack, directive = [], [], False
    for line in text.split("\n"):
        continued = directive
        directive = continued or line.lstrip().startswith("#")
        if not continued and directive:
            word = re.match(r"\s*#\s*(\w*)", line).group(1)
            if word in ("if", "ifdef", "ifndef"):
                stack.append(True)
            elif word in ("else", "elif", "elifdef", "elifndef") and stack:
                stack[-1] = False
            elif word == "endif" and stack:
                stack.pop()
        out.append(line if not directive and all(stack) else "")
        directive = directive and line.rstrip().endswith("\\")
    return "\n".join(out)


TYPE_HEAD = re.compile(
    r"(^|[\s>])(namespace|class|struct|union|enum)\b[^()=]*$|extern\s*\"[^\"]*\"\s*$"
)


def is_scope(head):
    """Whether a brace after this text opens a namespace or a type (so that functions may follow inside)."""
    head = re.sub(r"\b(alignas|__attribute__|final|MLX_\w+)\s*\((\([^()]*\)|[^()])*\)", "", head)
    head = re.sub(r"template\s*<.*?>\s*(?=class|struct|union)", "", head, flags=re.S)
    return bool(TYPE_HEAD.search(head.strip())) or not head.strip()


def cpp_functions(text):
    """(first line, last line, name) of each function defined at namespace or class level."""
    text = without_directives(blank(text, strings=True))
    newlines = [m.start() for m in re.finditer("\n", text)]
    line_of = lambda pos: bisect.bisect_left(newlines, pos) + 1
    head = 0  # where the text that may be a function's head begins
    depth = 0  # braces open inside the current function or initialiser
    parens = 0
    start = None
    for m in re.finditer(r"[{}();]", text):
        c, pos = m.group(0), m.start()
        if depth:
            depth += (c == "{") - (c == "}")
            if depth == 0:
                rest = re.match(r"\s*([,{])", text[pos + 1 :])
                if start is not None and rest:  # a member's initialiser: the body is still to come
                    continue
                if start is not None:
                    yield line_of(start), line_of(pos), name_of(text[start:pos])
                head, start = pos + 1, None
        elif c in "()":
            parens += 1 if c == "(" else -1
        elif parens:
            continue
        elif c == "{":
            before = text[head:pos]
            if start is None and is_scope(before):
                head = pos + 1
                continue
            depth = 1
            if "(" in before and not re.search(r"=\s*$", before):
                start = head + len(before) - len(before.lstrip()) if start is None else start
        else:
            head, start = pos + 1, None


def name_of(text):
    m = re.search(
        r"(operator\s*[^\s(]+|[~\w:]+)\s*\(",
        re.sub(r"^\s*template\s*<.*?>\s", "", text, flags=re.S),
    )
    return m.group(1) if m else "?"


# ---- includes and device words ----------------------------------------------------------------

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
PYTHON_HEADERS = re.compile(r"^(nanobind/|Python\.h|pybind)")


def include_directions(tree):
    """python/ → mlx/ ← backend/; a device does not see another one, but all may use backend/common
    and backend/gpu."""
    for path in tree.having(CPP, "mlx/", "backend/", "python/"):
        top = path.split("/")[0]
        for n, line in lines(tree.code(path)):
            m = INCLUDE.match(line)
            if not m:
                continue
            name = m.group(1)
            if ".." in name.split("/"):
                yield path, n, f"include of {name}: write paths from the root"
            target = name.split("/")[0]
            if top == "mlx" and (target in ("backend", "python") or PYTHON_HEADERS.match(name)):
                yield path, n, f"mlx/ includes {name}: the core knows neither devices nor Python"
            if top == "backend":
                if target == "python" or PYTHON_HEADERS.match(name):
                    yield path, n, f"backend/ includes {name}: devices know no Python"
                device = path.split("/")[1]
                if target == "backend" and name.split("/")[1] not in (device, "common", "gpu"):
                    yield (
                        path,
                        n,
                        f"backend/{device} includes {name}: devices do not know each other",
                    )
            if top == "python" and target == "backend":
                yield path, n, f"python/ includes {name}: bindings use the core only"


DEVICE_WORD = re.compile(
    r"(?i)(cuda|metal|nvidia|cublas|cudnn|nccl|nvrtc|cufft|cusolver|simdgroup|__apple__|rocm|__hip)"
)
# Words that may stand in a file of the core, and why.
DIALECT = r"__CUDACC__|__CUDA_ARCH__|__METAL_VERSION__"  # read by the device compilers too
DEVICE_WORDS_ALLOWED = {
    "mlx/types.h": DIALECT,
    "mlx/offset.h": DIALECT,
    "mlx/ops/elementwise/scalar.h": DIALECT,
    "mlx/ops/elementwise/scalar_dialect.h": DIALECT,
    "mlx/ops/reduce/monoid.h": DIALECT,
    "mlx/env.cpp": r"MLX_(CUDA|METAL)_\w+",  # the table of all variables has those of the backends
}


def device_words(tree):
    """No device is named in the core, in code or #if; comments may."""
    for path in tree.having(CPP, "mlx/"):
        allowed = DEVICE_WORDS_ALLOWED.get(path)
        for n, line in lines(tree.code(path)):
            rest = re.sub(allowed, "", line) if allowed else line
            m = DEVICE_WORD.search(rest)
            if m:
                yield path, n, f"device word '{m.group(0)}' in the core"


# ---- macros -----------------------------------------------------------------------------------

# Headers whose purpose is a macro: assertions, checks of library calls, doctest helpers.
MACRO_HEADERS = re.compile(r"(^|/)(assert|check|error)\.h$")


def function_macros(tree):
    """Function-like macros only expand a .def table (defined, included, undefined) or check something."""
    for path in tree.having(CPP, "mlx/", "backend/", "python/", "tests/"):
        if path.endswith(".def") or MACRO_HEADERS.search(path):
            continue
        text = tree.code(path)
        for m in re.finditer(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(", text, re.M):
            name, after = m.group(1), text[m.end() :]
            undefined = re.search(rf"^[ \t]*#[ \t]*undef[ \t]+{name}\b", after, re.M)
            table = re.search(r'^[ \t]*#[ \t]*include[ \t]+"[^"]+\.def"', after, re.M)
            if not (undefined and table and table.start() < undefined.start()):
                n = text.count("\n", 0, m.start()) + 1
                yield path, n, f"function-like macro {name} that expands no .def table"


# ---- tables -----------------------------------------------------------------------------------

# table: (macro of a row, where its oracle is)
TABLES = {
    "mlx/ops/elementwise/elementwise.def": ("OP", "tests/python/reference.py"),
    "mlx/ops/reduce/reduce.def": ("REDUCE", "tests/python/reduce_reference.py"),
    "mlx/ops/reduce/scan.def": ("SCAN", "tests/python/scan_reference.py"),
}


def table_rows(text, macro):
    """(line, second argument) of each row of a .def table."""
    for m in re.finditer(
        rf"^[ \t]*{macro}\(\s*\w+\s*,\s*\"?(\w+)", blank(text, strings=False), re.M
    ):
        yield text.count("\n", 0, m.start()) + 1, m.group(1)


def reference_rows(text):
    """First arguments of the calls row("name", …)."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            if isinstance(node.func, ast.Name) and node.func.id == "row":
                yield node.args[0].value


def references(tree):
    """Every row of the op tables has an oracle row("name", …) in the tests."""
    for path, (macro, reference) in TABLES.items():
        if path not in tree.paths or reference not in tree.paths:
            continue
        known = set(reference_rows(tree.text(reference)))
        for n, name in table_rows(tree.text(path), macro):
            if name not in known:
                yield path, n, f"{name} has no row in {reference}"


# ---- environment ------------------------------------------------------------------------------

ENV_TABLE = "mlx/env.cpp"
VARIABLE = re.compile(r'"(MLX_[A-Z0-9_]+)"')
# Read by build scripts and tests, not by the library.
TEST_VARIABLES = {
    "MLX_FUZZ_SEED",
    "MLX_GPU_GRAPHS",
    "MLX_PROPERTY_EXAMPLES",
    "MLX_TEST_ALL",
    "MLX_VECTORS_SHOW",
}


def environment(tree):
    """The environment is read in one file, whose table lists every variable."""
    table = set(VARIABLE.findall(tree.code(ENV_TABLE))) if ENV_TABLE in tree.paths else set()
    for path in tree.having(CPP, "mlx/", "backend/", "python/"):
        if path == ENV_TABLE:
            continue
        for n, line in lines(tree.code(path)):
            if re.search(r"\b(secure_)?getenv\s*\(", line):
                yield path, n, f"getenv outside {ENV_TABLE}"
            for name in VARIABLE.findall(line):
                if name not in table:
                    yield path, n, f"{name} is not in the table of {ENV_TABLE}"
    for path in tree.having((".py",), "python/mlx/", "tests/python/", "examples/", "benchmarks/"):
        for n, line in lines(tree.text(path)):
            for name in re.findall(r"environ\S*?[\[(]\s*[\"'](MLX_\w+)", line):
                if name not in table | TEST_VARIABLES:
                    yield path, n, f"{name} is not in the table of {ENV_TABLE}"


# ---- text -------------------------------------------------------------------------------------

OPENING = {".py": ('"""', "#", 'r"""'), ".cmake": ("#",)}
PREFIXED = (".h", ".cpp", ".cu", ".cuh", ".def", ".metal", ".py", ".cmake")


def openings(tree):
    """A file opens with what lives in it."""
    for path in tree.having(PREFIXED):
        text = tree.text(path).lstrip()
        suffix = path[path.rindex(".") :]
        if text and not text.startswith(OPENING.get(suffix, ("//", "/*"))):
            yield path, 1, "does not open with a comment saying what lives here"


def leftovers(tree):
    """No promises in the sources, and every text file ends its last line."""
    marker = re.compile(r"\b(" + "TO" + "DO|FIX" + r"ME)\b")
    for path in tree.having((*SIZED, ".md", ".pyi")):
        text = tree.text(path)
        for n, line in lines(text):
            if marker.search(line):
                yield path, n, f"{marker.search(line).group(0)} left in the text"
        if text and not text.endswith("\n"):
            yield path, text.count("\n") + 1, "no newline at the end"


def bindings(tree):
    """Functions of the module are bound by define(), which makes their errors name them."""
    for path in tree.having((".cpp",), "python/src/"):
        for n, line in lines(tree.code(path)):
            if re.search(r"\bm\.def\(", line):
                yield path, n, "m.def() in place of define(m, …) (python/src/define.h)"


RULES = (
    file_sizes,
    large_files,
    function_sizes,
    include_directions,
    device_words,
    function_macros,
    references,
    environment,
    openings,
    leftovers,
    bindings,
)


def findings(root):
    tree = Tree(root)
    return [f"{path}:{n}: {what}" for rule in RULES for path, n, what in rule(tree)]


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[1]
    found = findings(root)
    print(*found, sep="\n", end="\n" if found else "")
    print(f"structure: {len(found)} findings" if found else "structure: all rules hold")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
