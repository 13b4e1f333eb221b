"""Who may import whom: the table of the design, held by reading every import."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "playground"
HEAVY = {"torch", "transformers", "tokenizers", "accelerate", "gguf", "safetensors"}
PAGE = {"gradio", "plotly"}
# Rooms of the engine's side that are not listed stand under "engine": torch, but no page.
RECORD = {"trace", "store", "strict", "read", "fields", "errors", "__init__"}


def imports(path: Path) -> set[str]:
    """Every module named by an import anywhere in `path`, functions and type checks too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def tops(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imports(path)}


def rooms(path: Path) -> set[str]:
    return {
        name.split(".")[1]
        for name in imports(path)
        if name.startswith("playground.") and name != "playground.__version__"
    }


def files(*under: str) -> list[Path]:
    return sorted(PACKAGE.joinpath(*under).rglob("*.py"))


RECORD_FILES = [p for p in PACKAGE.glob("*.py") if p.stem in RECORD]
VIEWS, UI, TEXT = files("views"), files("ui"), files("text")
COMMAND = [p for p in PACKAGE.glob("*.py") if p.stem in {"bench", "__main__"} or "cli" in p.stem]
ENGINE = [p for p in PACKAGE.glob("*.py") if p not in {*RECORD_FILES, *COMMAND}]


def test_every_room_is_looked_at():
    assert min(map(len, (RECORD_FILES, VIEWS, UI, TEXT, COMMAND, ENGINE))) >= 3
    assert {p.stem for p in ENGINE} >= {"engine", "sampling", "tokens", "template", "models"}


@pytest.mark.parametrize("path", RECORD_FILES, ids=str)
def test_the_record_needs_numpy_alone(path):
    assert tops(path) <= {"numpy", "playground", *sys.stdlib_module_names}
    assert rooms(path) <= RECORD | {"text"}


@pytest.mark.parametrize("path", TEXT, ids=str)
def test_prose_needs_nothing(path):
    assert tops(path) <= set(sys.stdlib_module_names)


@pytest.mark.parametrize("path", ENGINE, ids=str)
def test_the_engines_side_knows_no_page(path):
    assert not tops(path) & PAGE
    assert not rooms(path) & {"views", "ui", "cli"}


@pytest.mark.parametrize("path", VIEWS, ids=str)
def test_a_view_reads_traces_and_nothing_else(path):
    assert tops(path) <= {"numpy", "plotly", "playground", *sys.stdlib_module_names}
    own = {n for n in imports(path) if n.startswith("playground.views.")}
    assert rooms(path) <= RECORD | {"text", "views"}
    assert all(n.startswith("playground.views.style") for n in own)


@pytest.mark.parametrize("path", UI, ids=str)
def test_the_page_gets_its_engine_passed_in(path):
    assert not tops(path) & HEAVY
    assert rooms(path) <= RECORD | {"text", "views", "ui"}


@pytest.mark.parametrize("path", COMMAND, ids=str)
def test_the_command_line_knows_no_gradio(path):
    assert "gradio" not in tops(path)


def test_opening_the_page_imports_no_torch():
    code = (
        "import sys, app, playground.ui.page, playground.host\n"
        "print([m for m in ('torch', 'transformers') if m in sys.modules])"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "[]"


def test_no_import_goes_in_a_circle():
    graph = {p.stem: rooms(p) for p in PACKAGE.glob("*.py")}

    def walk(room: str, trail: tuple[str, ...]) -> None:
        assert room not in trail, " -> ".join((*trail, room))
        for deeper in graph.get(room, ()):
            walk(deeper, (*trail, room))

    for room in graph:
        walk(room, ())
