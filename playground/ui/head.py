"""What goes into the page's <head>: styles, the client's scripts, and the data they start from.

Gradio rewrites the selectors of its own `css=`, which would break variables; a style element in
the head is left alone. Scripts are inlined so that they are there before any `js_on_load` runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from playground.errors import PlaygroundError
from playground.text import LANGUAGES, texts
from playground.ui import wire
from playground.ui.sources import SCRIPTS, STYLES
from playground.views import candidates

ASSETS = Path(__file__).resolve().parents[2] / "assets"
# The client's own prefixes; what only the command line says stays here.
PREFIXES = ("ui.", "deck.", "panel.", "error.", "note.", "stage.", "missing.", "check.")
PLOTLY_ROUTE = "bot/plotly.min.js"


def plotly_file() -> Path:
    """plotly.js as the installed plotly brings it; found without importing plotly."""
    spec = find_spec("plotly")
    if spec is None or not spec.submodule_search_locations:
        raise PlaygroundError("error.internal")
    return Path(spec.submodule_search_locations[0]) / "package_data" / "plotly.min.js"


def head(data: Mapping[str, Any]) -> str:
    """The head's HTML. data: further globals of the client, name -> JSON value."""
    known = {
        "BOT_TEXT": {lang: _texts(lang) for lang in LANGUAGES},
        "BOT_FIGURES": {"candidates": candidates.template()},
        "BOT_PLOTLY_URL": f"{PLOTLY_ROUTE}?v={version('plotly')}",
    }
    globals_ = "".join(
        f"window.{name}={wire.in_script(value)};" for name, value in (known | dict(data)).items()
    )
    styles = "".join(f"<style>{_asset('css', name)}</style>" for name in STYLES)
    scripts = "".join(f"<script>{_asset('js', name)}</script>" for name in SCRIPTS)
    return f"{styles}<script>{globals_}</script>{scripts}"


def _texts(lang: str) -> dict[str, str]:
    return {key: text for key, text in texts(lang).items() if key.startswith(PREFIXES)}


def _asset(kind: str, name: str) -> str:
    return (ASSETS / kind / name).read_text(encoding="utf-8")
