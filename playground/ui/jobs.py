"""Work that takes a while, done behind the requests that ask for it.

A browser asks again and again until it gets its answer. Equal requests share one job, and a job
lives only as long as somebody asks: who halts, or is silent for `patience_s`, no longer counts,
and a job without anybody stops at the next place where it can.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from playground.errors import PlaygroundError
from playground.inspection import Stopped
from playground.ui.shelf import Shelf

log = logging.getLogger(__name__)

OnProgress: TypeAlias = Callable[[str, float | None], None]
ShouldStop: TypeAlias = Callable[[], bool]
Work: TypeAlias = Callable[[OnProgress, ShouldStop], Any]


class Done(NamedTuple):
    """The job's result."""

    value: Any


class Waiting(NamedTuple):
    """Its turn has not come; ahead: jobs that are running or come before."""

    ahead: int


class Running(NamedTuple):
    """It is being worked on; fraction: 0 … 1 of the stage, None where it can not be known."""

    stage: str
    fraction: float | None


State: TypeAlias = Done | Waiting | Running


class Failed(NamedTuple):
    """A PlaygroundError without its traceback, whose frames would hold the work's memory."""

    key: str
    values: dict[str, object]


@dataclass(slots=True, eq=False)
class Job:
    """waiters: when each was last heard of. long: may keep others waiting for minutes."""

    key: Hashable
    work: Work
    shelf: Shelf
    long: bool
    stage: str = "work"
    fraction: float | None = None
    waiters: dict[Hashable, float] = field(default_factory=dict)
    running: bool = False
    over: bool = False


class Jobs:
    """Thread-safe. One worker is never given to a long job: short ones pass those by.

    clock: seconds that only grow (the tests bring their own).
    """

    def __init__(
        self,
        *,
        workers: int = 2,
        most: int = 24,
        patience_s: float = 10.0,
        wait_s: float = 0.12,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.most = most
        self.patience_s = patience_s
        self.wait_s = wait_s
        self._workers = workers
        self._clock = clock
        self._jobs: dict[Hashable, Job] = {}  # those not over, by age
        self._outcomes: dict[tuple[Hashable, Hashable], tuple[float, Done | Failed]] = {}
        self._busy = 0  # workers at work
        self._long = 0  # of them, those with a long job
        self._closed = False
        self._changed = threading.Condition()
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="job")

    def follow(self, key: Hashable, waiter: Hashable, shelf: Shelf) -> State | None:
        """Where `key` stands: a kept result or a job, which `waiter` now waits for too; None
        where there is neither. Comes back at once or, for a job, within `wait_s`.

        Raises the job's PlaygroundError, once for each waiter.
        """
        with self._changed:
            self._sweep()
            if (told := self._told(key, waiter)) is not None:
                return told
            job = self._jobs.get(key)
            if job is not None:
                return self._wait(job, waiter)
            # A job goes from the table only after its result lies on the shelf.
            value = shelf.get(key)
            return None if value is None else Done(value)

    def begin(
        self, key: Hashable, waiter: Hashable, shelf: Shelf, work: Work, *, long: bool = False
    ) -> State:
        """As `follow`, and where there is neither, begin a job whose result `shelf` will keep.

        work(on_progress, should_stop) runs in another thread and gives a result that is not None;
        it may raise PlaygroundError, or Stopped once should_stop said yes. Raises PlaygroundError
        also when too many jobs wait.
        """
        with self._changed:
            told = self.follow(key, waiter, shelf)
            if told is not None:
                return told
            if self._closed:
                raise PlaygroundError("error.busy")
            if len(self._jobs) >= self.most:
                raise PlaygroundError("error.jobs_full", waiting=len(self._jobs))
            job = self._jobs[key] = Job(key, work, shelf, long)
            if self._busy < self._workers:
                self._busy += 1
                self._pool.submit(self._work_off)
            return self._wait(job, waiter)

    def leave(self, gone: Callable[[Any], bool]) -> int:
        """Forget every waiter for whom `gone` says yes; how many were waiting."""
        with self._changed:
            found = 0
            for job in self._jobs.values():
                for waiter in [w for w in job.waiters if gone(w)]:
                    del job.waiters[waiter]
                    found += 1
            for place in [p for p in self._outcomes if gone(p[1])]:
                del self._outcomes[place]
            self._sweep()
            return found

    def close(self) -> None:
        """Stop every job where it can be stopped, and take no more."""
        with self._changed:
            self._closed = True
            for job in list(self._jobs.values()):
                self._drop(job)
        self._pool.shutdown(wait=False)

    def __len__(self) -> int:
        """Jobs that run or wait, and outcomes that were not fetched: 0 when nothing is left."""
        with self._changed:
            self._sweep()
            return len(self._jobs) + len(self._outcomes)

    # ---- below, the lock is held ----

    def _wait(self, job: Job, waiter: Hashable) -> State:
        job.waiters[waiter] = self._clock()
        self._changed.wait_for(lambda: job.over, self.wait_s)
        if (told := self._told(job.key, waiter)) is not None:
            return told
        if waiter in job.waiters:
            job.waiters[waiter] = self._clock()
        if job.running:
            return Running(job.stage, job.fraction)
        before = list(self._jobs.values())
        return Waiting(before.index(job) if job in before else 0)

    def _told(self, key: Hashable, waiter: Hashable) -> Done | None:
        _, outcome = self._outcomes.pop((key, waiter), (0.0, None))
        if isinstance(outcome, Failed):
            raise PlaygroundError(outcome.key, **outcome.values)
        return outcome

    def _sweep(self) -> None:
        """Forget who has been silent for too long, and the jobs that nobody waits for."""
        oldest = self._clock() - self.patience_s
        for job in list(self._jobs.values()):
            for waiter in [w for w, heard in job.waiters.items() if heard < oldest]:
                del job.waiters[waiter]
            if not job.waiters:
                self._drop(job)
        for place in [p for p, (since, _) in self._outcomes.items() if since < oldest]:
            del self._outcomes[place]

    def _drop(self, job: Job) -> None:
        job.over = True
        # One of the same name may have begun since.
        if self._jobs.get(job.key) is job:
            del self._jobs[job.key]
        self._changed.notify_all()

    def _next(self) -> Job | None:
        """The oldest job whose turn it can be; None ends a worker."""
        self._sweep()
        room = self._long < max(1, self._workers - 1)
        for job in self._jobs.values():
            if not job.running and (room or not job.long):
                job.running = True
                self._long += job.long
                return job
        self._busy -= 1
        return None

    # ---- in a worker's thread, without the lock ----

    def _work_off(self) -> None:
        while True:
            with self._changed:
                job = self._next()
            if job is None:
                return
            outcome = self._outcome(job)
            with self._changed:
                # Stopped jobs, too, are counted until they really end.
                self._long -= job.long
                if outcome is not None and not job.over:
                    since = self._clock()
                    self._outcomes |= {(job.key, w): (since, outcome) for w in job.waiters}
                self._drop(job)

    def _outcome(self, job: Job) -> Done | Failed | None:
        """None: it was stopped."""

        def progress(stage: str, fraction: float | None) -> None:
            job.stage, job.fraction = stage, fraction

        def stopped() -> bool:
            with self._changed:
                self._sweep()
                return job.over

        try:
            value = job.work(progress, stopped)
            job.shelf.put(job.key, value)
            return Done(value)
        except Stopped:
            return None
        except PlaygroundError as error:
            return Failed(error.key, dict(error.values))
        except Exception:
            log.exception("a job failed")
            return Failed("error.internal", {})
