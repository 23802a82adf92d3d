"""The text the example learns from: Python's own language reference, as bytes."""

from pathlib import Path


def load_text(path=None):
    """The bytes of `path`, or of the reference that Python's `help()` prints."""
    if path is not None:
        try:
            return Path(path).read_bytes()
        except OSError as error:
            raise SystemExit(f"The text cannot be read: {error}") from None
    try:
        from pydoc_data.topics import topics
    except ImportError:
        raise SystemExit(
            "This Python comes without the module pydoc_data.topics, the text of help(). "
            "Name a text file of some 500 kB to learn from: --data FILE"
        ) from None
    return "\n".join(topics[name] for name in sorted(topics)).encode()


def split_text(text, context):
    """Training and validation part: the last tenth, in one piece, is for validation."""
    cut = len(text) - len(text) // 10
    train, valid = text[:cut], text[cut:]
    if len(valid) <= context:
        raise SystemExit(
            f"The text has {len(text)} bytes, so {len(valid)} for validation: "
            f"too few for a context of {context}."
        )
    return train, valid
