"""Runs wait here for the one model, in the order they came, each knowing its place.

Gradio's own queue can bound the waiting but shows it in English and only on its own
components; this one lets the page say the place, and the refusal, in the reader's language.
All methods belong to the event loop's thread.
"""

from __future__ import annotations

import asyncio
import contextlib

from playground.errors import PlaygroundError


class Turnstile:
    """One at a time; at most `max_waiting` more in line."""

    def __init__(self, max_waiting: int) -> None:
        self.max_waiting = max_waiting
        self._line: list[asyncio.Event] = []

    def __len__(self) -> int:
        """How many are in line, the one whose turn it is included."""
        return len(self._line)

    def join(self) -> asyncio.Event:
        """A ticket at the end of the line. Raises PlaygroundError when the line is full."""
        if len(self._line) > self.max_waiting:
            raise PlaygroundError("error.queue_full", waiting=len(self._line) - 1)
        ticket = asyncio.Event()
        self._line.append(ticket)
        return ticket

    def place(self, ticket: asyncio.Event) -> int:
        """How many are before this one; 0 is its turn."""
        return self._line.index(ticket)

    async def moved(self, ticket: asyncio.Event, seconds: float) -> None:
        """Come back when the line has moved, at the latest after `seconds`."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(ticket.wait(), seconds)
        ticket.clear()

    def leave(self, ticket: asyncio.Event) -> None:
        """Make room, from any place in the line; a second time does nothing."""
        if ticket not in self._line:
            return
        self._line.remove(ticket)
        for other in self._line:
            other.set()
