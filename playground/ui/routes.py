"""Two plain routes beside Gradio's: a trace as a file, and plotly.js for the client's charts."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from playground.errors import PlaygroundError
from playground.ui import wire
from playground.ui.desk import Desk
from playground.ui.head import PLOTLY_ROUTE, plotly_file

YEAR_S = 31_536_000


def routes(desk: Desk) -> list[Route]:
    """Routes for Gradio's app; the paths are relative to wherever the page is mounted."""

    def trace(request: Request) -> Response:
        """The file's name is made from the trace's id, never from what was asked for."""
        try:
            trace_id, data = desk.file(request.path_params["key"])
        except PlaygroundError as error:
            return JSONResponse({"error": wire.both(error)}, status_code=404)
        return Response(
            data,
            media_type="application/json",
            headers={"Content-Disposition": f'attachment; filename="{trace_id}.trace.json"'},
        )

    def plotly(request: Request) -> Response:
        # The address carries the version, so a browser may keep the file for good.
        return FileResponse(
            plotly_file(),
            media_type="text/javascript",
            headers={"Cache-Control": f"public, max-age={YEAR_S}, immutable"},
        )

    return [Route("/bot/trace/{key}", trace), Route(f"/{PLOTLY_ROUTE}", plotly)]
