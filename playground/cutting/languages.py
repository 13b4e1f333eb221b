"""One sentence in many languages: article 1 of the Universal Declaration of Human Rights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parents[2] / "assets" / "corpus" / "article-1.json"


def sentences() -> Mapping[str, str]:
    """The article by the code of its language, in the order of the file."""
    found: dict[str, str] = _file()["sentences"]
    return found


def source() -> str:
    """Where the article is from."""
    return str(_file()["source"])


@cache
def _file() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found
