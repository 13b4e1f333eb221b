"""The look that all views share: the page's colours by name, and its fonts.

These are the variables of assets/css/base.css (a test holds them equal). The page switches
between light and dark by CSS, and what is drawn in it takes its colours from there; this serves
what is drawn without a browser's styles.
"""

from __future__ import annotations

LIGHT: dict[str, str] = {
    "--bot-bg": "#f6f4ee",
    "--bot-surface": "#fffdf9",
    "--bot-raised": "#ffffff",
    "--bot-ink": "#1b1b1f",
    "--bot-muted": "#5c5a55",
    "--bot-line": "#e0dcd0",
    "--bot-edge": "#8d897e",
    "--bot-accent": "#3446c4",
    "--bot-accent-ink": "#ffffff",
    "--bot-accent-soft": "#e6e9fb",
    "--bot-good": "#1c6b45",
    "--bot-warn": "#875200",
    "--bot-bad": "#b0243a",
    "--bot-src-template": "#5c5a55",
    "--bot-src-system": "#7a3f9d",
    "--bot-src-user": "#1d5fa8",
    "--bot-src-assistant": "#0f6a66",
    "--bot-src-thinking": "#875200",
    "--bot-src-generated": "#a8323f",
    "--bot-tok-0": "#dfe6fb",
    "--bot-tok-1": "#fbe6d2",
    "--bot-tok-2": "#d9efdd",
    "--bot-tok-3": "#f2dff0",
    "--bot-tok-4": "#f5ecc4",
    "--bot-tok-5": "#d3ecef",
}

DARK: dict[str, str] = {
    "--bot-bg": "#131418",
    "--bot-surface": "#1a1c21",
    "--bot-raised": "#22252b",
    "--bot-ink": "#f0eee8",
    "--bot-muted": "#aeaba2",
    "--bot-line": "#33363e",
    "--bot-edge": "#7d7f86",
    "--bot-accent": "#a7b4ff",
    "--bot-accent-ink": "#14183a",
    "--bot-accent-soft": "#2a3058",
    "--bot-good": "#7fd3a4",
    "--bot-warn": "#efb964",
    "--bot-bad": "#ff93a0",
    "--bot-src-template": "#aeaba2",
    "--bot-src-system": "#d3a6ef",
    "--bot-src-user": "#8fc1f7",
    "--bot-src-assistant": "#7ed3cb",
    "--bot-src-thinking": "#efb964",
    "--bot-src-generated": "#ff9ba4",
    "--bot-tok-0": "#29335c",
    "--bot-tok-1": "#4c3320",
    "--bot-tok-2": "#21412e",
    "--bot-tok-3": "#452a45",
    "--bot-tok-4": "#433b18",
    "--bot-tok-5": "#1c4047",
}

SANS = (
    '"Inter", "Source Sans 3", "Helvetica Neue", "Segoe UI", "Noto Sans", '
    '"PingFang SC", "Hiragino Sans GB", "Microsoft YaHei", "Noto Sans SC", '
    '"Noto Sans CJK SC", "Source Han Sans SC", system-ui, sans-serif, '
    '"Apple Color Emoji", "Segoe UI Emoji", "Noto Color Emoji"'
)
MONO = (
    '"JetBrains Mono", "SF Mono", "Cascadia Mono", "Menlo", "Consolas", '
    '"Noto Sans Mono", "DejaVu Sans Mono", "Noto Sans Mono CJK SC", "PingFang SC", '
    '"Microsoft YaHei", monospace, "Apple Color Emoji", "Segoe UI Emoji", '
    '"Noto Color Emoji"'
)
