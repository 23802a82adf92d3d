"""What `python -m examples.gpt` runs."""

from .train import main

main()
