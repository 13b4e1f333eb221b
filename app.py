"""Start the page: `python app.py`. The only place where the engine and the ui meet.

The server is up first; the model is loaded behind it, and neither torch nor transformers is
imported before that, so the recorded examples can be read at once.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

# Gradio reads these when it is imported and set up: nothing is sent home, and no table of the
# last 10,000 events is summed up again at the end of each one.
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("GRADIO_ANALYTICS_MAX_EVENTS", "100")
os.environ.setdefault("GRADIO_ANALYTICS_CACHE_FREQUENCY", "1000")

from playground import examples
from playground.ask import Limits
from playground.errors import PlaygroundError
from playground.host import Host
from playground.models.placing import DEVICES, DTYPES
from playground.text import LANGUAGES, say

VARIABLES = "BIRTH_OF_A_TOKEN_"
DEFAULTS = Limits()
FAILED = 2


def parser(environ: Mapping[str, str], lang: str = "en") -> argparse.ArgumentParser:
    """The options; each has an environment variable, and the command line wins."""
    cli = argparse.ArgumentParser(
        prog="app.py", description=say(lang, "app.about"), epilog=say(lang, "app.variables"),
        allow_abbrev=False,
    )  # fmt: skip

    def add(flag: str, kind: Callable[[str], Any], default: Any, **values: str) -> None:
        variable = VARIABLES + flag.upper()
        shown = {True: "yes", False: "no"}.get(default, default) if kind is yes else default
        text = say(lang, f"app.help.{flag}", default=shown, **values)
        # argparse reads a default that is a string as if it had been typed, errors included.
        cli.add_argument(
            f"--{flag.replace('_', '-')}", type=in_words(kind, lang), metavar="X",
            default=environ.get(variable, default), help=f"{text} [{variable}]",
        )  # fmt: skip

    cli.add_argument("--lang", choices=LANGUAGES, default=lang, help=say(lang, "app.help.lang"))
    add("host", str, "0.0.0.0" if "SPACE_ID" in environ else "127.0.0.1")
    add("port", port, 7860)
    add("root_path", str, "")
    add("model", str, "auto")
    add("models", names, ())
    add("free_models", yes, False)
    add("device", one_of(DEVICES), "auto", choices=", ".join(DEVICES))
    add("dtype", one_of(tuple(DTYPES)), "auto", choices=", ".join(DTYPES))
    add("threads", positive, None)
    add("max_prompt_chars", positive, DEFAULTS.max_prompt_chars)
    add("max_new_tokens", positive, DEFAULTS.max_new_tokens)
    add("queue_size", positive, DEFAULTS.queue_size)
    add("store_mb", positive, DEFAULTS.store_bytes // 2**20)
    add("store_minutes", positive, int(DEFAULTS.store_ttl_s // 60))
    return cli


class Must(ValueError):
    """What is wrong with an option's value: a text key and its fields."""

    def __init__(self, key: str, **values: str) -> None:
        super().__init__(key)
        self.key = key
        self.values = values


def in_words(kind: Callable[[str], Any], lang: str) -> Callable[[str], Any]:
    """`kind` with its complaint in the reader's language."""

    def read(text: str) -> Any:
        try:
            return kind(text)
        except Must as must:
            raise argparse.ArgumentTypeError(say(lang, must.key, **must.values)) from None

    return read


def port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= 65535):
        raise Must("app.must.port")
    return int(text)


def positive(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 10**9):
        raise Must("app.must.positive")
    return int(text)


def names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def yes(text: str) -> bool:
    known = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
    if text.lower() not in known:
        raise Must("app.must.yes")
    return known[text.lower()]


def one_of(values: Sequence[str]) -> Callable[[str], str]:
    def kind(text: str) -> str:
        if text not in values:
            raise Must("app.must.choice", choices=", ".join(values))
        return text

    return kind


def language(argv: Sequence[str]) -> str:
    """The language asked for, before anything is parsed: the help is in it too."""
    spelled = " ".join(argv).replace("--lang=", "--lang ").split()
    at = spelled.index("--lang") + 1 if "--lang" in spelled else len(spelled)
    return spelled[at] if at < len(spelled) and spelled[at] in LANGUAGES else "en"


def build_host(options: argparse.Namespace) -> Host:
    """The model behind the page, not loaded yet."""
    return Host(
        options.model,
        allowed=options.models,
        free=options.free_models,
        device=options.device,
        dtype=options.dtype,
        threads=options.threads,
        limits=Limits(
            max_prompt_chars=options.max_prompt_chars,
            max_new_tokens=options.max_new_tokens,
            queue_size=options.queue_size,
            store_bytes=options.store_mb * 2**20,
            store_ttl_s=options.store_minutes * 60.0,
        ),
    )


def build_page(host: Host, options: argparse.Namespace) -> Any:
    """The page for that host, with the recorded examples."""
    # Here, because `--help` and a wrong option should not wait for Gradio.
    from playground.ui.page import build
    from playground.ui.recorded import Recorded

    recorded = Recorded(examples.FOLDER, [example.name for example in examples.EXAMPLES])
    models = tuple(dict.fromkeys((options.model, *options.models)))
    return build(host, recorded, models=models, free_models=options.free_models)


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until Ctrl-C or SIGTERM. Exit code 2 when the server can not start."""
    argv = list(sys.argv[1:] if argv is None else argv)
    options = parser(os.environ, language(argv)).parse_args(argv)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    over = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: over.set())
    host = build_host(options)
    page = build_page(host, options)
    try:
        _, url, _ = page.launch(
            server_name=options.host,
            server_port=options.port or free_port(options.host),
            root_path=options.root_path or None,
            prevent_thread_lock=True,
            quiet=True,
        )
        print(say(options.lang, "app.running", url=url), flush=True)
        host.start()
    except (OSError, PlaygroundError) as error:
        why = error.say(options.lang) if isinstance(error, PlaygroundError) else str(error)
        print(f"app.py: {say(options.lang, 'app.no_start', why=why)}", file=sys.stderr)
        return FAILED
    # In steps, because on Windows an endless wait can not be interrupted.
    while not over.wait(1.0):
        pass
    page.close()
    return 0


def free_port(host: str) -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    sys.exit(main())
