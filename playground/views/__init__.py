"""Trace → what the browser draws: one file per view, no model, no Gradio."""
