"""What many tests share: the real model, loaded once, and the browser of a file's tests."""

from __future__ import annotations

import os

# Before any test imports transformers or gradio: nothing here may wait for a hub.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import pytest
from hypothesis import settings

# On CI the same examples every time: a change fails because of itself. Elsewhere, new ones.
settings.register_profile("ci", derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


def pytest_collection_modifyitems(config, items):
    """Tests marked `cuda` need a GPU; everything else always runs."""
    import torch

    if not torch.cuda.is_available():
        skip = pytest.mark.skip(reason="needs an NVIDIA GPU")
        for item in items:
            if "cuda" in item.keywords:
                item.add_marker(skip)


@pytest.fixture(scope="module")
def chromium():
    """A browser. Playwright's synchronous interface may stand once in a thread: a test takes this
    one and starts no other."""
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=flags)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def pages(chromium):
    """Pages that the tests of a file use again: name -> page."""
    kept = {}
    yield kept
    for page in kept.values():
        page.close()


@pytest.fixture(scope="session")
def smollm():
    """The engine on the real SmolLM2-135M-Instruct, on the CPU in float32."""
    from playground import models
    from playground.engine import Engine

    return Engine(models.load("smollm2-135m", device="cpu", dtype="fp32"))
