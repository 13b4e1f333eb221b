"""One sentence in many languages: article 1 of the Universal Declaration of Human Rights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

FILE = Path(__file__).resolve().parents[2] / "assets" / "corpus" / "article-1.json"


@cache
def sentences() -> Mapping[str, str]:
    """The article by the code of its language, in the order of the file."""
    found: dict[str, str] = json.loads(FILE.read_text(encoding="utf-8"))["sentences"]
    return found
