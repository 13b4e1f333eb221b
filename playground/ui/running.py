"""One run from the question to the stored trace, as messages for the browser.

The model's steps are done in threads, one after the other; the waiting, the messages and the
clean-up are the event loop's. When the reader goes away (Stop, a closed tab, a cancelled job)
the generator is closed at a `yield` or an `await`; `finally` then stops the run before its next
forward and keeps what it had.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from playground import store
from playground.ask import Ask
from playground.errors import PlaygroundError
from playground.trace import Trace
from playground.ui import wire
from playground.ui.desk import Desk
from playground.ui.protocol import Run
from playground.ui.turnstile import Turnstile
from playground.views import payload

log = logging.getLogger(__name__)
T = TypeVar("T")

# How often the progress of a long prefill is looked at.
PROGRESS_S = 0.2
# Gradio sees that a reader has gone when something is sent: so the place in the line, and the
# progress of a prefill, are told at least this often.
PULSE_S = 1.0


class Job:
    """A run and what its threads share. `step` and `conclude` never overlap."""

    def __init__(self, desk: Desk, ask: Ask) -> None:
        self.id = secrets.token_hex(8)
        self.desk = desk
        self.progress: tuple[int, int] | None = None
        self.run: Run | None = None
        self._ask = ask
        self._lock = threading.Lock()
        self._closed = False
        self._result: tuple[str | None, Trace] | None = None

    @property
    def concluded(self) -> bool:
        return self._result is not None

    def start(self) -> str:
        """Tokenize the prompt and get the run ready; the message that announces it."""
        with self._lock:
            run = self.desk.host.run(self._ask, self._prefilled)
            # Only now is there something to close, should that have been asked for meanwhile.
            self.run = run
            if self._closed:
                run.close()
            self.desk.vault.begin(self.id)
        begun = payload.trace_payload(run.trace(), None, steps=False, finished=False)
        return wire.dump({"type": "start", "run": self.id, "trace": begun})

    def step(self) -> str | None:
        """The message of the next step; None when there is none."""
        with self._lock:
            if self.run is None or self._closed:
                return None
            step = next(self.run, None)
            if step is None:
                return None
            self.desk.vault.append(self.id, step)
        return wire.dump({"type": "step", "run": self.id, "step": payload.step_payload(step)})

    def close(self) -> None:
        """Stop before the next forward; returns at once."""
        self._closed = True
        if self.run is not None:
            self.run.close()

    def conclude(self) -> str | None:
        """Keep the trace; the message that ends the run, None if there never was one."""
        self.close()
        with self._lock:
            if self.run is None:
                return None
            if self._result is None:
                self._result = self._keep(self.run.trace())
        trace_id, trace = self._result
        ended = payload.trace_payload(trace, trace_id, steps=False)
        return wire.dump({"type": "end", "run": self.id, "trace": ended, "trace_id": trace_id})

    def _keep(self, trace: Trace) -> tuple[str | None, Trace]:
        trace_id = store.trace_id(trace) if trace.steps else None
        try:
            self.desk.vault.end(self.id, trace_id, trace)
        except PlaygroundError as error:
            log.warning("a trace was not kept: %s", error)
            trace_id = None
        return trace_id, trace

    def _prefilled(self, done: int, total: int) -> None:
        self.progress = (done, total)


class Runner:
    """Takes runs one at a time. One for the whole server."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.turnstile = Turnstile(desk.host.limits.queue_size)
        self._pool = ThreadPoolExecutor(4, thread_name_prefix="run")
        self._jobs: set[Job] = set()

    def close(self) -> None:
        """Stop every run before its next forward: the server is going down."""
        for job in list(self._jobs):
            job.close()

    async def messages(self, ask: Ask) -> AsyncIterator[str]:
        """The run of `ask` as JSON messages: queue*, start, progress*, step*, end.

        A failure is a message too: error, in both languages; then the end of what there was.
        """
        job = Job(self.desk, ask)
        self._jobs.add(job)
        ticket = None
        try:
            try:
                ticket = self.turnstile.join()
                while place := self.turnstile.place(ticket):
                    yield self._queue_message(place)
                    await self.turnstile.moved(ticket, PULSE_S)
                yield await self._in_thread(job.start)
                async with contextlib.aclosing(self._stepping(job)) as steps:
                    async for message in steps:
                        yield message
            except PlaygroundError as error:
                yield error_message(error)
            except Exception:
                # Not `BaseException`: a closed generator and a cancelled task pass through.
                log.exception("a run failed")
                yield error_message(PlaygroundError("error.internal"))
            ended = await self._in_thread(job.conclude)
            if ended is not None:
                yield ended
        finally:
            job.close()
            self._jobs.discard(job)
            if ticket is not None:
                self.turnstile.leave(ticket)
            if not job.concluded:
                # Not awaited: this may be the clean-up of a cancelled task.
                self._pool.submit(job.conclude).add_done_callback(_log_failure)

    async def _stepping(self, job: Job) -> AsyncGenerator[str, None]:
        told, at = None, 0.0
        while True:
            future = asyncio.get_running_loop().run_in_executor(self._pool, job.step)
            future.add_done_callback(_retrieve)
            while not (await asyncio.wait({future}, timeout=PROGRESS_S))[0]:
                now = time.monotonic()
                if job.progress is None or (job.progress == told and now - at < PULSE_S):
                    continue
                told, at = job.progress, now
                done, total = told
                yield wire.dump({"type": "progress", "run": job.id, "done": done, "total": total})
            message = future.result()
            if message is None:
                return
            yield message

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def _queue_message(self, place: int) -> str:
        waiting = len(self.turnstile) - 1
        return wire.message({"type": "queue", "place": place, "waiting": waiting})


def error_message(error: PlaygroundError) -> str:
    """`error` as the browser gets it; by its key the page knows when it is over."""
    return wire.message({"type": "error", "key": error.key, "text": wire.both(error)})


def _retrieve(future: asyncio.Future[Any]) -> None:
    """Nobody waits for the step of a run whose reader has gone; its failure is no news."""
    if not future.cancelled():
        future.exception()


def _log_failure(future: Future[Any]) -> None:
    if not future.cancelled() and (error := future.exception()) is not None:
        log.error("a run could not be concluded", exc_info=error)
