"""Fixtures of the tests about model files; a module asks for them with `pytest_plugins`."""

from __future__ import annotations

import socket

import pytest

from playground.models import embedded, wheel
from tests.fake_hub import served
from tests.model_files import CONTENT, expect, quick, wheel_file


@pytest.fixture
def small_cache(tmp_path, monkeypatch):
    """An empty cache, a small wheel, and a conversion that takes no time."""
    monkeypatch.setenv(embedded.VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv(wheel.VARIABLE, str(wheel_file(tmp_path, CONTENT)))
    expect(monkeypatch, CONTENT)
    monkeypatch.setattr(embedded, "convert", quick)
    return tmp_path / "cache"


@pytest.fixture
def nobody():
    """Addresses of this machine where nothing answers: one refuses, one takes and stays silent."""
    with socket.socket() as silent, socket.socket() as closed:
        for sock in (silent, closed):
            sock.bind(("127.0.0.1", 0))
        silent.listen()
        yield {
            "refused": f"http://127.0.0.1:{closed.getsockname()[1]}",
            "silent": f"http://127.0.0.1:{silent.getsockname()[1]}",
        }


@pytest.fixture
def some_server():
    """The address of a server that answers every request."""
    with served({}, []) as address:
        yield address
