"""The page itself goes over the wire compressed, and its description for Gradio's clients too.

Gradio 6.31 compresses what has a file's extension; these have none, and carry the whole client,
well over a megabyte of text. In a workshop the whole room loads it at once.
"""

from __future__ import annotations

from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from playground.ui.gate import local_path

PATHS = {"/", "/config", "/config/"}
LEVEL = 6  # a quarter of the size for about 40 ms


class Gzipped:
    """Pure ASGI: answers on other paths, streams among them, pass untouched."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.packed = GZipMiddleware(app, compresslevel=LEVEL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        packed = scope["type"] == "http" and local_path(scope) in PATHS
        await (self.packed if packed else self.app)(scope, receive, send)
