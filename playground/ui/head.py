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
from playground.views import candidates

ASSETS = Path(__file__).resolve().parents[2] / "assets"
# In this order; the views in between register themselves, the bars in the order of the page.
SCRIPTS = (
    "core.js", "views.js", "format.js", "feed.js", "notices.js", "map.js", "player.js", "rows.js",
    "hero.js", "timeline.js", "text.js", "template.js", "tokens_card.js", "tokens.js", "look.js",
    "strip.js", "embedding.js", "candidates_chart.js", "candidates_words.js", "candidates_draw.js",
    "candidates_table.js", "candidates.js",
    "arrays.js", "work.js", "inside.js", "gate.js", "deck.js", "heat.js", "controls.js",
    "view_position_rotary.js",
    "view_position_curves.js",
    "view_position_turn.js",
    "view_position_shift.js",
    "view_position_rows.js",
    "view_position.js",
    "view_attention_bar.js", "view_attention_all.js", "view_attention_chips.js",
    "view_attention_map.js", "view_attention_keys.js", "view_attention.js",
    "view_qkv_strip.js", "view_qkv_share.js", "view_qkv_vectors.js", "view_qkv_dot.js",
    "view_qkv.js",
    "view_ffn_parts.js", "view_ffn_picture.js", "view_ffn_neuron.js", "view_ffn_fires.js",
    "view_ffn.js",
    "view_residual_columns.js", "view_residual_river.js", "view_residual_sum.js",
    "view_residual_votes.js", "view_residual.js",
    "view_lens_list.js",
    "view_lens.js",
    "view_lm_head_lines.js",
    "view_lm_head_histogram.js",
    "view_lm_head_check.js",
    "view_lm_head.js",
    "view_runs_count.js", "view_runs_picture.js", "view_runs_table.js", "view_runs_chart.js",
    "view_runs_again.js", "view_runs_rows.js", "view_runs.js",
    "view_kv_cache_count.js", "view_kv_cache_map.js", "view_kv_cache_bytes.js", "view_kv_cache.js",
    "view_contrast_bars.js", "view_contrast_curve.js", "view_contrast_draw.js", "view_contrast.js",
    "view_ablation_pick.js", "view_ablation_result.js", "view_ablation.js",
    "view_check_table.js", "view_check.js",
    "lab.js", "labinput.js", "labpanel.js",
    "lab_ledger_symbols.js", "lab_ledger_model.js", "lab_ledger_words.js", "lab_ledger_line.js",
    "lab_ledger_picture.js", "lab_ledger_notes.js", "lab_ledger.js",
    "lab_merges_rules.js", "lab_merges_words.js", "lab_merges_model.js", "lab_merges_row.js",
    "lab_merges_tree.js", "lab_merges_play.js", "lab_merges_other.js", "lab_merges_twin.js",
    "lab_merges_stage.js", "lab_merges.js",
    "lab_ways_align.js", "lab_ways_lanes.js", "lab_ways_cells.js", "lab_ways_costs.js",
    "lab_ways.js",
    "lab_vocabs_others.js", "lab_vocabs_model.js", "lab_vocabs.js",
    "lab_languages_sum.js", "lab_languages_cost.js", "lab_languages_chart.js", "lab_languages.js",
    "lab_training_merges.js", "lab_training_pieces.js", "lab_training_costs.js", "lab_training.js",
    "lab_asking.js", "lab_letters_bars.js", "lab_letters.js",
    "lab_families_text.js", "lab_families_control.js", "lab_families_pair.js", "lab_families.js",
    "lab_detok_bytes.js", "lab_detok_lane.js", "lab_detok.js",
    "main.js", "form.js",
)  # fmt: skip
STYLES = (
    "base.css", "panels.css", "form.css", "inside.css",
    "view_position.css",
    "view_attention.css",
    "view_qkv.css",
    "view_ffn.css",
    "view_residual.css",
    "view_lens.css",
    "view_lm_head.css",
    "view_runs.css",
    "view_kv_cache.css",
    "view_contrast.css",
    "view_ablation.css",
    "view_check.css",
    "lab.css",
    "lab_ledger.css",
    "lab_merges.css",
    "lab_ways.css",
    "lab_vocabs.css",
    "lab_languages.css",
    "lab_training.css",
    "lab_letters.css",
    "lab_families.css",
    "lab_detok.css",
)  # fmt: skip
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
