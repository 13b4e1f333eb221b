"""The client's files, in the order in which they go into the page.

The views register themselves, and the panels stand on the page in this order.
"""

from __future__ import annotations

SCRIPTS = (
    "core.js", "views.js", "format.js", "feed.js", "notices.js", "map.js", "player.js", "rows.js",
    "hero.js", "timeline.js", "text.js", "template.js", "tokens_card.js", "tokens.js", "look.js",
    "strip.js", "embedding.js", "candidates_chart.js", "candidates_words.js", "candidates_draw.js",
    "candidates_table.js", "candidates.js",
    "arrays.js", "work.js", "inside.js", "gate.js", "deck.js", "heat.js", "controls.js",
    "duo.js", "pools.js",
    "view_position_rotary.js", "view_position_curves.js", "view_position_turn.js",
    "view_position_shift.js", "view_position_rows.js", "view_position.js",
    "view_attention_bar.js", "view_attention_all.js", "view_attention_chips.js",
    "view_attention_map.js", "view_attention_keys.js", "view_attention.js",
    "view_qkv_strip.js", "view_qkv_share.js", "view_qkv_vectors.js", "view_qkv_dot.js",
    "view_qkv.js",
    "view_ffn_picture.js", "view_ffn_neuron.js", "view_ffn_fires.js", "view_ffn.js",
    "view_residual_columns.js", "view_residual_river.js", "view_residual_sum.js",
    "view_residual_votes.js", "view_residual.js",
    "view_lens_list.js", "view_lens.js",
    "view_lm_head_lines.js", "view_lm_head_histogram.js", "view_lm_head_check.js",
    "view_lm_head.js",
    "view_runs_count.js", "view_runs_picture.js", "view_runs_table.js", "view_runs_chart.js",
    "view_runs_again.js", "view_runs_rows.js", "view_runs.js",
    "view_kv_cache_count.js", "view_kv_cache_map.js", "view_kv_cache_bytes.js", "view_kv_cache.js",
    "view_contrast_curve.js", "view_contrast_draw.js", "view_contrast.js",
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
    "lab_asking.js",
    "lab_letters_bars.js", "lab_letters.js",
    "lab_families_text.js", "lab_families_control.js", "lab_families_pair.js", "lab_families.js",
    "lab_detok_bytes.js", "lab_detok_lane.js", "lab_detok.js",
    "main.js", "form.js",
)  # fmt: skip
STYLES = (
    "base.css", "panels.css", "form.css", "inside.css", "view_position.css", "view_attention.css",
    "view_qkv.css", "view_ffn.css", "view_residual.css", "view_lens.css", "view_lm_head.css",
    "view_runs.css", "view_kv_cache.css", "view_contrast.css", "view_ablation.css",
    "view_check.css", "lab.css", "lab_ledger.css", "lab_merges.css", "lab_ways.css",
    "lab_vocabs.css", "lab_languages.css", "lab_training.css", "lab_letters.css",
    "lab_families.css", "lab_detok.css",
)  # fmt: skip
