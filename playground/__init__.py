"""Birth of a Token: see, with real numbers, how a language model writes."""

__version__ = "0.1.0"
