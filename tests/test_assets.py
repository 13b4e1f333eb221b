"""The client's sources: text goes in as text, keys exist in both languages, colours are legible."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from playground.text import texts
from playground.trace import FINISHES, PHASES
from playground.views import style

ASSETS = Path(__file__).parent.parent / "assets"
SCRIPTS = sorted((ASSETS / "js").glob("*.js"))
CSS = (ASSETS / "css" / "base.css").read_text("utf-8")
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|document\.write|srcdoc"
    r"|DOMParser|setHTML|\beval\b|\bFunction\s*\(|javascript:|set(?:Timeout|Interval)\(\s*[\"'`]"
)
# Full keys in the sources, as `BOT.t("…")`, `BOT.say(node, "…")` or in a table of them.
KEY = re.compile(r"""["'`]((?:ui|stage|panel|error|note)\.[a-z0-9_]+(?:\.[a-z0-9_]+)*)["'`]""")
OPEN_KEY = re.compile(r"""["'`]((?:ui|stage|panel|error|note)\.[a-z0-9_.]*\.)["'`]""")
PANELS = re.compile(r"BOT\.panel\(\{\s*id: \"(\w+)\", stage: (\d)")


def sources():
    assert len(SCRIPTS) > 10
    return [(path.name, path.read_text("utf-8")) for path in SCRIPTS]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: p.name)
def test_nothing_is_ever_parsed_as_html_or_code(path):
    assert not FORBIDDEN.findall(path.read_text("utf-8"))


@pytest.mark.parametrize(
    "bad",
    ['a.innerHTML = "x"', "new Function('a')", "eval(x)", "setTimeout('x()', 1)",
     "document.write(x)", "a.insertAdjacentHTML('beforeend', x)"],
)  # fmt: skip
def test_the_search_finds_what_it_looks_for(bad):
    assert FORBIDDEN.search(bad)


def test_no_script_names_another_host():
    for name, source in sources():
        hosts = set(re.findall(r"https?://[^\s\"'`)]+", source)) - {"http://www.w3.org/2000/svg"}
        assert not hosts, name
    for sheet in (ASSETS / "css").glob("*.css"):
        assert not re.search(r"https?://|@import|url\(", sheet.read_text("utf-8")), sheet.name


def test_no_style_depends_on_what_an_element_contains():
    """One `:has(+ …)` in the sheet lets each node that comes or goes cost 40 ms of layout. The page
    Gradio makes around ours is named by what it holds: once, and not by siblings."""
    for sheet in (ASSETS / "css").glob("*.css"):
        for selector in re.findall(r"[^{};]*:has\([^{]*", sheet.read_text("utf-8")):
            assert re.search(r":has\(\.bot-(root|line\[hidden\])\)", selector), selector


def test_every_key_in_the_scripts_has_a_text():
    used = {key for _, source in sources() for key in KEY.findall(source)}
    assert len(used) > 80
    for lang in ("en", "zh"):
        assert not used - texts(lang).keys()


def test_keys_that_are_put_together_have_texts():
    opened = {key for _, source in sources() for key in OPEN_KEY.findall(source)}
    for lang in ("en", "zh"):
        known = texts(lang)
        for start in opened:
            assert any(key.startswith(start) for key in known), start
        for value in FINISHES:
            assert f"ui.finish.{value}" in known
        for value in PHASES:
            assert f"ui.phase.{value}" in known


def test_every_panel_has_its_frame_of_texts():
    found = {i: int(stage) for _, source in sources() for i, stage in PANELS.findall(source)}
    assert found == {
        "template": 1, "tokens": 2, "embedding": 3, "candidates": 4, "timeline": 5, "text": 6,
        "contrast": 7, "check": 7, "letters": 2, "detok": 6,
    }  # fmt: skip
    for lang in ("en", "zh"):
        for panel in found:
            for part in ("title", "why", "how"):
                assert texts(lang)[f"panel.{panel}.{part}"]


def test_the_page_owns_no_text_that_nobody_shows():
    """Keys of the page's own topic are used by a script, or put together by one."""
    from playground.text.en.page import TEXT

    joined = "\n".join(source for _, source in sources())
    frame = re.compile(r"panel\.\w+\.(title|why|how)")
    # `BOT.t` takes `key.one` where {n} is 1
    known = [key.removesuffix(".one") for key in TEXT]
    unused = [key for key in known if f'"{key}"' not in joined and not frame.fullmatch(key)]
    assert not unused


def variables(selector):
    block = re.search(re.escape(selector) + r"\s*\{(.*?)\n\}", CSS, re.S)
    assert block, selector
    return dict(re.findall(r"(--bot-[\w-]+):\s*(#[0-9a-f]{6});", block[1]))


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_as_wcag_defines_it():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("mode", [":root", ".dark"])
def test_every_pair_of_text_and_ground_is_legible(mode):
    colours = variables(mode)
    assert colours.keys() == variables(":root").keys()
    sources_ = [f"src-{s}" for s in
                ("template", "system", "user", "assistant", "thinking", "generated")]  # fmt: skip
    pairs = [
        (text, ground, 4.5)
        for text in ("ink", "muted", "accent", "good", "warn", "bad", *sources_)
        for ground in ("bg", "surface", "raised")
    ]
    pairs += [(text, f"tok-{k}", 4.5) for k in range(6) for text in ("ink", "muted")]
    pairs += [("accent-ink", "accent", 4.5), ("ink", "accent-soft", 4.5), ("edge", "surface", 3)]
    for text, ground, least in pairs:
        found = contrast(colours[f"--bot-{text}"], colours[f"--bot-{ground}"])
        assert found >= least, (text, ground, round(found, 2))


def test_python_and_css_have_the_same_colours():
    assert variables(":root") == style.LIGHT
    assert variables(".dark") == style.DARK


@pytest.mark.parametrize("name", ["sans", "mono"])
def test_python_and_css_have_the_same_fonts(name):
    found = re.search(rf"--bot-{name}:\s*(.*?);", CSS, re.S)
    assert found and " ".join(found[1].split()) == getattr(style, name.upper())


def test_no_two_scripts_give_the_client_the_same_name():
    found = [n for _, source in sources()
             for n in re.findall(r"^  (BOT\.[\w.]+) = ", source, re.M)]  # fmt: skip
    assert [n for n, count in Counter(found).items() if count > 1] == []
