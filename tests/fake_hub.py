"""A model hub on this machine: the few answers that `huggingface_hub` asks for."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def _handler(repos: dict[str, Path], asked: list[str]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            path = unquote(urlsplit(self.path).path).strip("/")
            asked.append(f"{self.command} {path}")
            if path.startswith("status/"):
                return self.say(int(path[7:]))
            parts = path.removeprefix("api/models/").split("/")
            repo = "/".join(parts[:2])
            if repo == "me/gated":
                return self.gated(path)
            if repo not in repos:
                return self.say(404, code="RepoNotFound")
            rest = parts[2:]
            if path.startswith("api/"):
                if rest and rest[-1] not in ("main", COMMIT):
                    return self.say(404, code="RevisionNotFound")
                if "tree" in rest:
                    return self.json(self.tree(repos[repo]))
                return self.json(self.info(repo, repos[repo]))
            return self.file(repos[repo] / "/".join(rest[2:]))

        def info(self, repo: str, folder: Path) -> dict:
            files = [
                {"rfilename": f.name, "size": f.stat().st_size, "blobId": "0" * 40}
                for f in sorted(folder.iterdir())
            ]
            return {"id": repo, "sha": COMMIT, "siblings": files, "tags": [], "private": False}

        def tree(self, folder: Path) -> list[dict]:
            return [
                {
                    "type": "file", "path": f.name, "size": f.stat().st_size, "oid": "0" * 40,
                    "lfs": {"oid": sum_of(f), "size": f.stat().st_size, "pointerSize": 130},
                }
                for f in sorted(folder.iterdir())
            ]  # fmt: skip

        def file(self, path: Path) -> None:
            if not path.is_file():
                return self.say(404, code="EntryNotFound")
            self.say(200, path.read_bytes(), etag=sum_of(path))

        def gated(self, path: str) -> None:
            if path.startswith("api/") and "tree" not in path:
                files = [{"rfilename": n, "size": 9} for n in ("config.json", "model.safetensors")]
                self.json({"id": "me/gated", "sha": COMMIT, "gated": "manual", "siblings": files})
            else:
                self.say(403, code="GatedRepo")

        def json(self, data: object) -> None:
            self.say(200, json.dumps(data).encode(), kind="application/json")

        def say(
            self, status: int, body: bytes = b"", *, kind: str = "text/plain", code: str = "",
            etag: str = "",
        ) -> None:  # fmt: skip
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("X-Repo-Commit", COMMIT)
            if etag:
                self.send_header("ETag", f'"{etag}"')
            if code:
                self.send_header("X-Error-Code", code)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    return Handler


def sum_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@contextmanager
def served(repos: dict[str, Path], asked: list[str]) -> Iterator[str]:
    """Its address; `asked` gets every request."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(repos, asked))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
