"""Trains a small GPT on English text, byte by byte, in about two minutes on two CPU cores.

Compares it with Markov models of the same text, prints a sample of what it writes, and leaves
the weights, the loss curve and the figures in a folder. `--help` lists the options.
"""

import argparse
import json
import math
import sys
import time
from functools import partial
from pathlib import Path

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
import numpy as np
from matplotlib.figure import Figure
from mlx.utils import tree_flatten
from tqdm import tqdm

from .markov import MarkovModel
from .model import GPT, generate
from .text import load_text, split_text

CLEARLY_BELOW = 0.95  # the model has to need less than this part of the baseline's bits
TEMPERATURE = 0.7


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="python -m examples.gpt",
        description=__doc__,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--steps", type=int, default=1500, help="training steps")
    parser.add_argument(
        "--seconds",
        type=float,
        help="time for training: takes as many steps as fit, by a short trial, instead of --steps",
    )
    parser.add_argument("--dims", type=int, default=128, help="width of the model")
    parser.add_argument("--layers", type=int, default=3, help="transformer blocks")
    parser.add_argument("--heads", type=int, default=4, help="attention heads of a block")
    parser.add_argument("--context", type=int, default=64, help="bytes that the model looks back")
    parser.add_argument("--batch", type=int, default=32, help="pieces of text in a step")
    parser.add_argument("--lr", type=float, default=4e-3, help="highest learning rate")
    parser.add_argument("--seed", type=int, default=0, help="of all random numbers")
    parser.add_argument("--out", type=Path, default=Path("demo-output"), help="folder of results")
    parser.add_argument("--data", type=Path, help="text to learn from instead of Python's own")
    parser.add_argument("--device", choices=["cpu", "gpu"], help="instead of the default device")
    options = parser.parse_args()
    for name in ("steps", "seconds", "dims", "layers", "heads", "context", "batch", "lr"):
        value = getattr(options, name)
        if value is not None and value <= 0:
            parser.error(f"--{name} is {value}, expected more than 0")
    if options.dims % options.heads:
        parser.error(f"--dims {options.dims} cannot be divided among --heads {options.heads}")
    return options


def to_tokens(text):
    return mx.array(np.frombuffer(text, np.uint8).astype(np.int32))


def sample_batch(tokens, batch, context):
    """Random pieces of the text, and the same pieces one byte further on."""
    starts = mx.random.randint(0, tokens.size - context, (batch, 1))
    windows = tokens[starts + mx.arange(context + 1)]
    return windows[:, :-1], windows[:, 1:]


def loss_fn(model, inputs, targets, reduction="mean"):
    """The cross-entropy in bits."""
    loss = nn.losses.cross_entropy(model(inputs), targets, reduction=reduction)
    return loss / math.log(2)


def scored_bytes(text, context):
    """How many bytes `evaluate` predicts: whole pieces only, and not the first byte."""
    return (len(text) - 1) // context * context


def evaluate(model, text, batch=64):
    """The mean bits per byte over the text, cut into pieces of the context's length."""
    count = scored_bytes(text, model.context)
    tokens = to_tokens(text)
    inputs = tokens[:count].reshape(-1, model.context)
    targets = tokens[1 : count + 1].reshape(-1, model.context)
    total = 0.0
    for i in range(0, len(inputs), batch):
        total += loss_fn(model, inputs[i : i + batch], targets[i : i + batch], "sum").item()
    return total / count


def make_model(options):
    """A new model: the same one for the same seed."""
    mx.random.seed(options.seed)
    return GPT(options.dims, options.layers, options.heads, options.context)


def make_optimizer(steps, lr):
    """AdamW whose learning rate rises for a tenth of the steps and then falls to a tenth."""
    warmup = max(1, steps // 10)
    rise = optim.linear_schedule(lr / warmup, lr, warmup)
    fall = optim.cosine_decay(lr, max(1, steps - warmup), lr / 10)
    schedule = optim.join_schedules([rise, fall], [warmup])
    return optim.AdamW(schedule, betas=[0.9, 0.99], weight_decay=0.1, bias_correction=True)


def make_step(model, optimizer, options):
    """A function that trains on a random batch of tokens and returns the loss."""
    loss_and_grad = nn.value_and_grad(model, loss_fn)
    state = [model.state, optimizer.state]

    @partial(mx.compile, inputs=state, outputs=state)  # its Python code runs once or twice
    def update(inputs, targets):
        loss, grads = loss_and_grad(model, inputs, targets)
        grads, _ = optim.clip_grad_norm(grads, 1.0)
        optimizer.update(model, grads)
        return loss

    def step(tokens):
        loss = update(*sample_batch(tokens, options.batch, options.context))
        mx.eval(loss, state)  # until here nothing was computed
        return loss.item()

    return step


def steps_within(seconds, tokens, options, trial=10):
    """How many steps fit in the time, by a trial with a model that is thrown away."""
    model = make_model(options)
    step = make_step(model, make_optimizer(trial, options.lr), options)
    for _ in range(2):  # the first steps, which are traced, are slower than the others
        step(tokens)
    start = time.perf_counter()
    for _ in range(trial):
        step(tokens)
    return max(1, int(seconds * trial / (time.perf_counter() - start)))


def train(model, tokens, valid, steps, options):
    """Trains the model; returns what the loss was at each step, and at times on `valid`."""
    step = make_step(model, make_optimizer(steps, options.lr), options)
    history = {"train": [], "valid": []}
    validate_at = {steps * k // 8 for k in range(1, 9)}
    seconds = 0.0
    with tqdm(total=steps, unit="step", dynamic_ncols=True) as bar:
        for i in range(1, steps + 1):
            start = time.perf_counter()
            history["train"].append(step(tokens))
            seconds += time.perf_counter() - start
            if i in validate_at:
                history["valid"].append((i, evaluate(model, valid)))
                bar.write(f"step {i}: {history['valid'][-1][1]:.3f} bits per byte on validation")
            rate = i * options.batch * options.context / seconds
            bar.set_postfix_str(f"loss {history['train'][-1]:.3f}, {rate:,.0f} tokens/s", False)
            bar.update()
    print(f"trained on {rate:,.0f} tokens/s for {seconds:.0f} s")
    history["tokens_per_second"] = rate
    return history


def baselines(train_text, valid, context):
    """Bits per byte of the Markov models for the very bytes that `evaluate` predicts."""
    before = train_text[-8:]
    text = before + valid[: scored_bytes(valid, context) + 1]
    return {k: MarkovModel(train_text, k).bits_per_byte(text, len(before) + 1) for k in (1, 2)}


def save_curve(path, history, markov):
    figure = Figure(figsize=(8, 5), layout="constrained")  # draws into a file, needs no screen
    axes = figure.subplots()
    axes.plot(range(1, len(history["train"]) + 1), history["train"], lw=0.7, label="training")
    axes.plot(*zip(*history["valid"], strict=True), "o-", label="validation")
    for order, bits in markov.items():
        axes.axhline(bits, ls="--", color=f"C{order + 1}", label=f"order-{order} Markov model")
    axes.set(xlabel="step", ylabel="bits per byte", ylim=(0, None))
    axes.legend()
    figure.savefig(path, dpi=120)


def verdict(bits, markov):
    """None if the model did better than every Markov model, else what is wrong."""
    best = min(markov.values())
    if bits < CLEARLY_BELOW * best:
        return None
    return (
        f"The model needs {bits:.3f} bits per byte, which is not clearly below the "
        f"{best:.3f} of the best Markov model. Train it longer: --steps or --seconds."
    )


def main():
    options = parse_arguments()
    if options.device:
        mx.set_default_device(getattr(mx, options.device))
    train_text, valid = split_text(load_text(options.data), options.context)
    tokens = to_tokens(train_text)
    options.out.mkdir(parents=True, exist_ok=True)

    markov = baselines(train_text, valid, options.context)
    for order, bits in markov.items():
        print(f"order-{order} Markov model (Witten-Bell smoothing): {bits:.3f} bits per byte")

    steps = options.steps
    if options.seconds:
        steps = steps_within(options.seconds, tokens, options)
    model = make_model(options)
    size = sum(array.size for _, array in tree_flatten(model.parameters()))
    print(
        f"{len(train_text):,} bytes to learn from, {len(valid):,} for validation; "
        f"{size:,} parameters; {steps} steps of {options.batch * options.context:,} tokens "
        f"on {mx.default_device()}"
    )
    history = train(model, tokens, valid, steps, options)
    bits = history["valid"][-1][1]

    weights = options.out / "model.safetensors"
    model.save_weights(str(weights))
    copy = GPT(options.dims, options.layers, options.heads, options.context)
    copy.load_weights(str(weights))
    reloaded = evaluate(copy, valid)

    sample = generate(copy, b"The ", 400, TEMPERATURE).decode(errors="replace")
    print(f"\n--- a sample, at temperature {TEMPERATURE} ---\n{sample}\n---\n")
    (options.out / "sample.txt").write_text(sample, encoding="utf-8")
    save_curve(options.out / "loss.png", history, markov)
    figures = {"markov": markov, "reloaded": reloaded, "steps": steps, "parameters": size}
    (options.out / "history.json").write_text(json.dumps(history | figures, indent=1))
    print(f"weights, sample, loss curve and figures are in {options.out}/")

    ratio = bits / markov[2]
    print(f"validation: {bits:.3f} bits per byte, {ratio:.0%} of the order-2 Markov model's")
    if reloaded != bits:
        sys.exit(f"The reloaded weights give {reloaded!r} bits per byte, the saved gave {bits!r}.")
    sys.exit(verdict(bits, markov))
