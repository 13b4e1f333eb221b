"""Gradio's own widgets in the page's colours: the variables of assets/css/base.css by name.

Those variables change with light and dark by themselves, so each of Gradio's dark values is
the same name again. Fonts are the reader's own: the page loads nothing from elsewhere.
"""

from __future__ import annotations

import inspect
from typing import Any

import gradio as gr

WORDS = {
    "body_background_fill": "--bot-bg",
    "body_text_color": "--bot-ink",
    "body_text_color_subdued": "--bot-muted",
    "background_fill_primary": "--bot-surface",
    "background_fill_secondary": "--bot-bg",
    "border_color_primary": "--bot-line",
    "border_color_accent": "--bot-accent",
    "color_accent": "--bot-accent",
    "color_accent_soft": "--bot-raised",
    "link_text_color": "--bot-accent",
    "link_text_color_hover": "--bot-accent",
    "link_text_color_active": "--bot-accent",
    "link_text_color_visited": "--bot-accent",
    "block_background_fill": "--bot-surface",
    "block_border_color": "--bot-line",
    "block_info_text_color": "--bot-muted",
    "block_label_background_fill": "--bot-surface",
    "block_label_text_color": "--bot-ink",
    "block_title_text_color": "--bot-ink",
    "panel_background_fill": "--bot-surface",
    "panel_border_color": "--bot-line",
    "input_background_fill": "--bot-bg",
    "input_background_fill_focus": "--bot-bg",
    "input_border_color": "--bot-line",
    "input_border_color_hover": "--bot-muted",
    "input_border_color_focus": "--bot-accent",
    "input_placeholder_color": "--bot-muted",
    "checkbox_background_color": "--bot-bg",
    "checkbox_background_color_selected": "--bot-accent",
    "checkbox_border_color": "--bot-muted",
    "checkbox_border_color_selected": "--bot-accent",
    "checkbox_label_background_fill": "--bot-raised",
    "checkbox_label_background_fill_hover": "--bot-raised",
    "checkbox_label_background_fill_selected": "--bot-raised",
    "checkbox_label_border_color": "--bot-line",
    "checkbox_label_border_color_selected": "--bot-accent",
    "checkbox_label_text_color": "--bot-ink",
    "checkbox_label_text_color_selected": "--bot-ink",
    "slider_color": "--bot-accent",
    "loader_color": "--bot-accent",
    "button_primary_background_fill": "--bot-accent",
    "button_primary_background_fill_hover": "--bot-accent",
    "button_primary_border_color": "--bot-accent",
    "button_primary_border_color_hover": "--bot-accent",
    "button_primary_text_color": "--bot-accent-ink",
    "button_primary_text_color_hover": "--bot-accent-ink",
    "button_secondary_background_fill": "--bot-raised",
    "button_secondary_background_fill_hover": "--bot-line",
    "button_secondary_border_color": "--bot-line",
    "button_secondary_border_color_hover": "--bot-muted",
    "button_secondary_text_color": "--bot-ink",
    "button_secondary_text_color_hover": "--bot-ink",
}

PLAIN = {
    "block_shadow": "none",
    "block_border_width": "0px",
    "block_padding": "0px",
    "block_title_text_weight": "600",
    "block_title_text_size": "0.95rem",
    "block_info_text_size": "0.85rem",
    "block_label_text_size": "0.95rem",
    "input_border_width": "1px",
    "input_shadow": "none",
    "input_shadow_focus": "0 0 0 3px var(--bot-raised)",
    "input_text_size": "1rem",
    "button_primary_shadow": "none",
    "button_primary_shadow_hover": "none",
    "button_secondary_shadow": "none",
    "button_secondary_shadow_hover": "none",
    "button_border_width": "1px",
    "button_transform_hover": "none",
    "button_large_text_weight": "600",
    "button_small_text_weight": "500",
    "checkbox_label_shadow": "none",
    "layout_gap": "16px",
}


def theme() -> Any:
    """A fresh theme; Gradio's themes are mutable."""
    values = PLAIN | {name: f"var({variable})" for name, variable in WORDS.items()}
    base = gr.themes.Base(font=("system-ui", "sans-serif"), font_mono=("ui-monospace", "monospace"))
    known = inspect.signature(base.set).parameters
    dark = {f"{name}_dark": value for name, value in values.items() if f"{name}_dark" in known}
    return base.set(**values, **dark)
