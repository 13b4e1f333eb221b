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
RECORD = {"trace", "store", "errors", "ask", "params", "inspection", "tokenlab"}
COMMANDS = {"cli", "bench", "stopwatch", "__main__"}
APART = {"text", "views", "ui"}


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
    named = {n.split(".")[1] for n in imports(path) if n.startswith("playground.")}
    return named - {"__version__"}


def room(path: Path) -> str:
    """The room a file belongs to: a module of the package, or one of its folders."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


FILES = sorted(PACKAGE.rglob("*.py"))
RECORD_FILES = [p for p in FILES if room(p) in RECORD]
COMMAND = [p for p in FILES if room(p) in COMMANDS]
TEXT, VIEWS, UI = ([p for p in FILES if room(p) == name] for name in ("text", "views", "ui"))
# Whatever is not named stands on the engine's side: torch, but no page.
ENGINE = [p for p in FILES if room(p) not in RECORD | COMMANDS | APART]


def test_every_room_is_looked_at():
    assert min(map(len, (RECORD_FILES, VIEWS, UI, TEXT, COMMAND, ENGINE))) >= 3
    assert {room(p) for p in ENGINE} >= {"engine", "sampling", "tokens", "template", "models"}


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
    graph: dict[str, set[str]] = {}
    for path in FILES:
        graph.setdefault(room(path), set()).update(rooms(path) - {room(path)})

    def walk(at: str, trail: tuple[str, ...]) -> None:
        assert at not in trail, " -> ".join((*trail, at))
        for deeper in graph.get(at, ()):
            walk(deeper, (*trail, at))

    for start in graph:
        walk(start, ())
