"""The server's door: what is not meant is not there, and what is malformed is the sender's fault.

Gradio 6.31 answers an unknown `fn_index` or component id with 500, serves routes that this page
has no use for (saved links, screen recordings, its editor), and reads bodies of any length. Here
the paths are a list, bodies have a limit, and calls are checked before Gradio sees them.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from typing import Any

from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.ask import Limits
from playground.text import LANGUAGES, say
from playground.ui.desk import MAX_UPLOAD

API = "/gradio_api"
# What the page and Gradio's own clients need, relative to where the page is mounted.
OPEN = re.compile(
    r"/|/config/?|/theme\.css|/favicon\.ico|/robots\.txt|/manifest\.json"
    r"|/(?:assets|static|svelte|bot)/.+"
    rf"|{API}/(?:info/?|openapi\.json|app_id/?|token/?|user/?|login_check/?|startup-events"
    r"|theme\.css|heartbeat/[^/]+|queue/(?:join|data|status)|cancel|reset/?|upload"
    r"|upload_progress|component_server/?|call/(?:v2/)?[^/]+/?(?:[^/]+)?)"
)
CALL = re.compile(rf"{API}/call/(?P<v2>v2/)?(?P<name>[^/]+)/?")
UPLOAD = f"{API}/upload"
# JSON may spell one character of a prompt as two escapes of six.
BYTES_PER_CHAR = 12
SLACK_BYTES = 256 * 1024
# A prompt that is too long is told its own length by the event, up to this size of request.
PATIENCE_BYTES = 4 * 1024 * 1024


class Refused(Exception):
    """A request that goes no further: an HTTP status and the key of the sentence to answer."""

    def __init__(self, status: int, key: str) -> None:
        super().__init__(key)
        self.status = status
        self.key = key


def middleware(blocks: Any, limits: Limits) -> list[Middleware]:
    """For `FastAPI(middleware=…)`."""
    most = max(PATIENCE_BYTES, limits.max_prompt_chars * BYTES_PER_CHAR + SLACK_BYTES)
    return [Middleware(Gate, blocks=blocks, max_json=most)]


class Gate:
    """Pure ASGI: streams pass untouched."""

    def __init__(self, app: ASGIApp, blocks: Any, max_json: int) -> None:
        self.app = app
        self.blocks = blocks
        self.max_json = max_json

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = False

        async def watched(message: Message) -> None:
            nonlocal began
            began = True
            await send(message)

        try:
            path = local_path(scope)
            if not OPEN.fullmatch(path):
                raise Refused(404, "error.request_unknown")
            if scope["method"] == "POST":
                receive = await self._admit(path, scope, receive)
            await self.app(scope, receive, watched)
        except Refused as refused:
            if began:
                raise
            await answer(refused, scope, receive, send)
        except RuntimeError as error:
            # Gradio tells the stream of a session it does not know so, and then also raises it.
            if not began or not isinstance(error.__cause__, HTTPException):
                raise
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _admit(self, path: str, scope: Scope, receive: Receive) -> Receive:
        """Check a POST; gives the `receive` that the application is to read from."""
        if path == UPLOAD:
            return limited(receive, MAX_UPLOAD + SLACK_BYTES)
        body = await whole_body(limited(receive, self.max_json))
        if not is_multipart(scope):
            self._check(path, parsed(body))
        elif path.startswith(f"{API}/component_server"):
            # No server function of this page takes files.
            raise Refused(400, "error.request_form")
        return replay(body, receive)

    def _check(self, path: str, body: Any) -> None:
        if path.startswith(f"{API}/component_server"):
            self._check_component(body)
        elif path == f"{API}/queue/join":
            self._check_event(body)
        elif called := CALL.fullmatch(path):
            self._check_call(called["name"], body, bool(called["v2"]))

    def _check_component(self, body: Any) -> None:
        block = self.blocks.blocks.get(_field(body, "component_id", int))
        name = _field(body, "fn_name", str)
        _field(body, "session_hash", str)
        if "data" not in body:
            raise Refused(422, "error.request_form")
        if block is None or name not in {fn.__name__ for fn in getattr(block, "server_fns", ())}:
            raise Refused(404, "error.request_unknown")

    def _check_event(self, body: Any) -> None:
        fn = self.blocks.fns.get(_field(body, "fn_index", int))
        if fn is None:
            raise Refused(404, "error.request_unknown")
        data = _field(body, "data", list)
        if not fn.cancels and len(data) != len(fn.inputs):
            raise Refused(422, "error.request_form")

    def _check_call(self, name: str, body: Any, named: bool) -> None:
        fn = next((f for f in self.blocks.fns.values() if f.api_name == name), None)
        if fn is None or fn.api_visibility == "private":
            raise Refused(404, "error.request_unknown")
        if not isinstance(body, dict):
            raise Refused(422, "error.request_form")
        if not named and len(_field(body, "data", list)) != len(fn.inputs):
            raise Refused(422, "error.request_form")
        if named and not fits(fn.fn, body):
            raise Refused(422, "error.request_form")


def local_path(scope: Scope) -> str:
    """The path below the mount point: a proxy may or may not have cut its prefix off."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "").rstrip("/")
    return path[len(root) :] or "/" if root and path.startswith(root) else path


def fits(fn: Callable[..., Any], values: dict[str, Any]) -> bool:
    """Whether `values` name what the handler takes, and all it can not do without."""
    try:
        inspect.signature(fn).bind(**values)
    except TypeError:
        return False
    return True


def parsed(body: bytes) -> Any:
    """The JSON value of a body. Deep nesting, NaN spelled out and bad UTF-8 are malformed."""
    if not body:
        return {}
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise Refused(400, "error.request_form") from None


def is_multipart(scope: Scope) -> bool:
    kind = dict(scope["headers"]).get(b"content-type", b"")
    return bool(kind.startswith(b"multipart/form-data"))


def limited(receive: Receive, most: int) -> Receive:
    """`receive` that refuses a body of more than `most` bytes while it is still coming."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > most:
            raise Refused(413, "error.request_size")
        return message

    return counted


async def whole_body(receive: Receive) -> bytes:
    """Everything that a request brings."""
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b"".join(parts)
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


def replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives `body` once and then what really comes (the disconnect)."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def answer(refused: Refused, scope: Scope, receive: Receive, send: Send) -> None:
    detail = " ".join(say(lang, refused.key) for lang in LANGUAGES)
    await JSONResponse({"detail": detail}, refused.status)(scope, receive, send)


def _field(body: Any, name: str, kind: type) -> Any:
    value = body.get(name) if isinstance(body, dict) else None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise Refused(422, "error.request_form")
    return value
