"""The GPT example end to end at a tiny size, and its Markov baselines against plain counting."""

import json
import math
import os
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
SENTENCE = b"a cat sat on the mat, that is what a fat cat does at times. "


@pytest.fixture
def example(monkeypatch):
    """Lets a test import the example, which is run from the root of the repository."""
    monkeypatch.syspath_prepend(str(ROOT))


def run_demo(*options):
    command = [sys.executable, "-m", "examples.gpt", *map(str, options)]
    path = os.pathsep.join(os.path.abspath(p) for p in sys.path if p)  # mlx of a build tree, too
    env = os.environ | {"PYTHONIOENCODING": "utf-8", "PYTHONPATH": path}
    return subprocess.run(command, capture_output=True, text=True, env=env, cwd=ROOT, timeout=300)


TINY = ["--dims=16", "--layers=1", "--heads=2", "--context=16", "--batch=8", "--lr=1e-2"]


def needs_its_packages():
    for package in ("tqdm", "matplotlib"):
        pytest.importorskip(package)


@pytest.fixture(scope="module")
def text_file(tmp_path_factory):
    """Sentences in random order: English enough, and small."""
    words = SENTENCE.split()
    order = np.random.default_rng(1).integers(0, len(words), 1500)
    path = tmp_path_factory.mktemp("demo") / "text.txt"
    path.write_bytes(b" ".join(words[i] for i in order))
    return path


def test_end_to_end(tmp_path, text_file):
    needs_its_packages()
    done = run_demo(*TINY, "--steps", 40, "--data", text_file, "--out", tmp_path / "out")
    # forty steps are too few to beat the baseline, and the program has to say so
    assert done.returncode == 1, done.stderr
    assert "not clearly below" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr

    out = tmp_path / "out"
    history = json.loads((out / "history.json").read_text())
    assert len(history["train"]) == 40
    assert np.mean(history["train"][-5:]) < np.mean(history["train"][:5]) - 1
    assert history["valid"][-1][0] == 40
    assert history["valid"][-1][1] < history["valid"][0][1]
    assert history["reloaded"] == history["valid"][-1][1]
    assert (out / "loss.png").read_bytes().startswith(b"\x89PNG")
    assert (out / "sample.txt").read_text(encoding="utf-8").startswith("The ")

    weights = mx.load(str(out / "model.safetensors"))
    assert sum(w.size for w in weights.values()) == history["parameters"]


def test_same_seed_same_run(tmp_path, text_file):
    needs_its_packages()
    runs = []
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        run_demo(*TINY, "--steps", 3, "--seed", seed, "--data", text_file, "--out", tmp_path / name)
        runs.append(json.loads((tmp_path / name / "history.json").read_text())["train"])
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--heads", "3", "--dims", "16"], "cannot be divided"),
        (["--steps", "0"], "expected more than 0"),
        (["--data", "no/such/file"], "cannot be read"),
        (["--data", os.devnull], "too few for a context of 64"),
    ],
)
def test_bad_options_are_explained(tmp_path, options, message):
    needs_its_packages()
    done = run_demo(*options, "--out", tmp_path)
    assert done.returncode != 0
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_verdict(example):
    needs_its_packages()
    from examples.gpt.train import verdict

    assert verdict(1.8, {1: 3.0, 2: 2.0}) is None
    assert "1.950" in verdict(1.95, {1: 3.0, 2: 2.0})
    assert "2.5" in verdict(2.5, {1: 2.4, 2: 2.6})
    assert verdict(math.nan, {1: 3.0, 2: 2.0}) is not None


def test_missing_text_is_explained(example, monkeypatch):
    from examples.gpt.text import load_text

    monkeypatch.setitem(sys.modules, "pydoc_data.topics", None)
    with pytest.raises(SystemExit, match="--data FILE"):
        load_text()


def count_followers(text, order):
    followers = defaultdict(Counter)
    for i in range(order, len(text)):
        followers[text[i - order : i]][text[i]] += 1
    return followers


def brute_force(followers, context, byte):
    """p(byte | context) by the formula in markov.py, one dictionary for each order."""
    p = 1 / 256
    for k, table in enumerate(followers):
        seen = table.get(context[len(context) - k :])
        if seen:
            total, kinds = sum(seen.values()), len(seen)
            p = (seen[byte] + kinds * p) / (total + kinds)
    return p


@pytest.mark.parametrize("order", [0, 1, 2, 3])
@pytest.mark.parametrize("alphabet", [3, 40, 256])
def test_markov_against_brute_force(example, order, alphabet):
    from examples.gpt.markov import MarkovModel

    rng = np.random.default_rng(order * 1000 + alphabet)
    train = bytes(rng.integers(0, alphabet, 700, np.uint8)) + SENTENCE
    # the last byte of the training text is a context that nothing follows; 255 may be new
    text = train[-5:] + bytes(rng.integers(0, alphabet, 300, np.uint8)) + SENTENCE + b"\xff\x00"
    model = MarkovModel(train, order)
    followers = [count_followers(train, k) for k in range(order + 1)]
    expected = [brute_force(followers, text[i - order : i], text[i]) for i in range(5, len(text))]
    np.testing.assert_allclose(model.probabilities(text, 5), expected, rtol=1e-12)
    bits = -sum(math.log2(p) for p in expected) / len(expected)
    assert model.bits_per_byte(text, 5) == pytest.approx(bits, rel=1e-12)


@pytest.mark.parametrize("context", [b"th", b"e ", b"\xff\xfe", b"q\x00"])
def test_markov_probabilities_add_up_to_one(example, context):
    from examples.gpt.markov import MarkovModel

    model = MarkovModel(SENTENCE * 3, 2)
    total = sum(model.probabilities(context + bytes([b]), 2)[0] for b in range(256))
    assert total == pytest.approx(1, rel=1e-12)


def test_markov_refuses_bad_arguments(example):
    from examples.gpt.markov import MarkovModel

    with pytest.raises(ValueError, match="order is 7"):
        MarkovModel(SENTENCE, 7)
    with pytest.raises(ValueError, match="needs as many bytes before"):
        MarkovModel(SENTENCE, 2).probabilities(SENTENCE, 1)
