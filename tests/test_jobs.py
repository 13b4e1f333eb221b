"""Work behind requests: shared, told about, given up, kept, and never left behind."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from playground.errors import PlaygroundError
from playground.inspection import Stopped
from playground.ui.jobs import Done, Jobs, Running, Waiting
from playground.ui.shelf import Shelf


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Task:
    """Work that the test lets go on, and that looks whether it is to stop."""

    def __init__(self, value: object = "result") -> None:
        self.value = value
        self.began = threading.Event()
        self.go = threading.Event()
        self.stopped = threading.Event()
        self.times = 0

    def __call__(self, progress, should_stop):
        self.times += 1
        self.began.set()
        progress("forward", 0.25)
        while not self.go.wait(0.005):
            if should_stop():
                self.stopped.set()
                raise Stopped
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def shelf(clock):
    return Shelf(1_000_000, 600, clock)


@pytest.fixture
def jobs(clock):
    made = Jobs(wait_s=0.02, clock=clock)
    yield made
    made.close()


def until(true, seconds: float = 5) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "too late"
        time.sleep(0.002)


def finish(jobs: Jobs, key, waiter, shelf, task=None):
    """Ask until it is done."""
    end = time.monotonic() + 5
    while time.monotonic() < end:
        told = jobs.begin(key, waiter, shelf, task)
        if isinstance(told, Done):
            return told.value
    raise AssertionError(told)


def test_what_is_quick_is_answered_at_once(jobs, shelf):
    slow = Jobs(wait_s=5)
    start = time.perf_counter()
    assert slow.begin("a", "w", shelf, lambda *_: 7) == Done(7)
    assert time.perf_counter() - start < 1
    assert len(slow) == 0 and slow.follow("a", "other", shelf) == Done(7)
    slow.close()


def test_progress_is_told_until_it_is_done(jobs, shelf):
    task = Task()
    assert jobs.follow("a", "w", shelf) is None
    jobs.begin("a", "w", shelf, task)
    task.began.wait(5)
    until(lambda: jobs.begin("a", "w", shelf, task) == Running("forward", 0.25))
    task.go.set()
    assert finish(jobs, "a", "w", shelf, task) == "result"
    assert task.times == 1 and len(jobs) == 0


def test_equal_requests_share_one_job_and_each_gets_the_result(jobs, shelf):
    task = Task()
    for who in "abc":
        jobs.begin("k", who, shelf, task)
    task.go.set()
    assert [finish(jobs, "k", who, shelf, task) for who in "abc"] == ["result"] * 3
    assert task.times == 1


def test_a_result_reaches_its_waiters_even_where_it_is_too_large_to_keep(jobs, clock):
    small = Shelf(10, 600, clock)
    task = Task(np.zeros(1000))
    jobs.begin("k", "a", small, task)
    jobs.begin("k", "b", small, task)
    task.go.set()
    assert finish(jobs, "k", "a", small) is task.value
    assert finish(jobs, "k", "b", small) is task.value
    assert small.size == 0 and jobs.follow("k", "c", small) is None and task.times == 1


def test_the_line_is_told_and_has_an_end(clock, shelf):
    jobs = Jobs(workers=1, most=4, wait_s=0, clock=clock)
    tasks = [Task(k) for k in range(4)]
    for k, task in enumerate(tasks):
        told = jobs.begin(k, "w", shelf, task)
        assert k == 0 or told == Waiting(k)
    with pytest.raises(PlaygroundError, match="4 computations") as caught:
        jobs.begin("one more", "w", shelf, Task())
    assert caught.value.say("zh")
    # who joins one that is there takes no room
    assert jobs.begin(3, "other", shelf, tasks[3]) == Waiting(3)
    for k, task in enumerate(tasks):
        task.go.set()
        assert finish(jobs, k, "w", shelf, task) == k
    assert finish(jobs, "one more", "w", shelf, lambda *_: 5) == 5
    jobs.close()


def test_one_that_halts_does_not_take_it_from_the_other(jobs, shelf):
    task = Task()
    jobs.begin("k", "a", shelf, task)
    jobs.begin("k", "b", shelf, task)
    assert jobs.leave(lambda waiter: waiter == "a") == 1
    assert jobs.leave(lambda waiter: waiter == "a") == 0
    assert isinstance(jobs.follow("k", "b", shelf), Running)
    task.go.set()
    assert finish(jobs, "k", "b", shelf, task) == "result" and not task.stopped.is_set()


def test_when_the_last_one_halts_the_job_stops_and_is_forgotten(jobs, shelf):
    task = Task()
    jobs.begin("k", "a", shelf, task)
    assert task.began.wait(5)
    jobs.leave(lambda waiter: True)
    assert task.stopped.wait(1)
    assert len(jobs) == 0 and jobs.follow("k", "a", shelf) is None


def test_a_job_asked_for_again_while_its_first_self_is_stopping_is_a_new_one(jobs, shelf):
    deaf, second = threading.Event(), Task("second")

    def first(progress, should_stop):
        deaf.wait(5)
        raise Stopped

    jobs.begin("k", "a", shelf, first)
    jobs.leave(lambda waiter: True)
    jobs.begin("k", "a", shelf, second)
    deaf.set()
    second.go.set()
    assert finish(jobs, "k", "a", shelf) == "second"


def test_silence_stops_a_job_that_runs(jobs, shelf, clock):
    task = Task()
    jobs.begin("k", "a", shelf, task)
    assert task.began.wait(5)
    clock.now += 9
    assert isinstance(jobs.follow("k", "a", shelf), Running)
    clock.now += 9
    time.sleep(0.05)
    assert not task.stopped.is_set()
    clock.now += 2
    assert task.stopped.wait(1)
    assert len(jobs) == 0


def test_silence_stops_a_job_before_it_began(clock, shelf):
    jobs = Jobs(workers=1, wait_s=0, clock=clock)
    first, second = Task(), Task()
    jobs.begin("first", "a", shelf, first)
    jobs.begin("second", "b", shelf, second)
    clock.now += 6
    jobs.follow("first", "a", shelf)
    clock.now += 6
    first.go.set()
    assert finish(jobs, "first", "a", shelf) == "result"
    until(lambda: jobs._busy == 0)
    assert second.times == 0 and len(jobs) == 0
    jobs.close()


def test_errors_reach_each_waiter_and_a_retry_works(jobs, shelf):
    task = Task(PlaygroundError("error.inspect_memory", device="cpu"))
    jobs.begin("k", "a", shelf, task)
    jobs.begin("k", "b", shelf, task)
    task.go.set()
    for who in "ab":
        with pytest.raises(PlaygroundError, match="ran out of memory") as caught:
            finish(jobs, "k", who, shelf, task)
        # the frames of the work would hold its memory
        assert caught.value is not task.value and caught.value.__context__ is None
        frames = caught.traceback
        assert not any(frame.name == "__call__" for frame in frames)
    assert finish(jobs, "k", "a", shelf, lambda *_: "now") == "now"


def test_a_defect_is_logged_and_told_without_its_secrets(jobs, shelf, caplog):
    def broken(*_):
        raise RuntimeError("/etc/secret")

    with pytest.raises(PlaygroundError) as caught:
        finish(jobs, "k", "a", shelf, broken)
    assert "secret" not in str(caught.value) and "RuntimeError" in caplog.text
    assert finish(jobs, "k", "a", shelf, lambda *_: 1) == 1


def test_long_jobs_leave_a_worker_to_the_short_ones(jobs, shelf):
    long = [Task(k) for k in range(3)]
    for k, task in enumerate(long):
        jobs.begin(k, "w", shelf, task, long=True)
    assert finish(jobs, "short", "w", shelf, lambda *_: "quick") == "quick"
    assert [task.began.is_set() for task in long] == [True, False, False]
    for k, task in enumerate(long):
        task.go.set()
        assert finish(jobs, k, "w", shelf) == k
    assert jobs._long == 0


def test_closing_stops_what_runs_and_takes_no_more(jobs, shelf):
    task = Task()
    jobs.begin("k", "a", shelf, task)
    assert task.began.wait(5)
    jobs.close()
    assert task.stopped.wait(1)
    with pytest.raises(PlaygroundError):
        jobs.begin("k", "a", shelf, task)


def test_many_jobs_of_many_browsers_leave_nothing_behind(shelf):
    jobs = Jobs(wait_s=0.01)
    wrong, refs = [], []

    class Held:
        pass

    def session(n: int) -> None:
        for k in range(40):
            key, held = (n * k) % 25, Held()
            refs.append(weakref.ref(held))

            def work(progress, should_stop, held=held, key=key):
                progress("work", 0.5)
                time.sleep(0.001)
                if should_stop():
                    raise Stopped
                if key % 7 == 3:
                    raise PlaygroundError("error.inspect_no_steps")
                return key, held is not None

            while True:
                try:
                    told = jobs.begin(key, (n, k), shelf, work)
                except PlaygroundError as error:
                    if key % 7 != 3 and error.key != "error.jobs_full":
                        wrong.append(error)
                    break
                if isinstance(told, Done):
                    if told.value != (key, True):
                        wrong.append(told)
                    break
                if k % 5 == 1:
                    jobs.leave(lambda waiter, mine=(n, k): waiter == mine)
                    break

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(session, range(12)))
    until(lambda: len(jobs) == 0 and jobs._busy == 0)
    assert not wrong and not jobs._jobs and not jobs._outcomes and jobs._long == 0
    jobs.close()
    gc.collect()
    assert len(refs) == 480 and not any(ref() for ref in refs)


# ---- the shelf ----


def test_the_shelf_keeps_its_budget_and_its_time(clock):
    shelf = Shelf(5000, 60, clock)
    arrays = [np.zeros(150) + k for k in range(6)]  # 1,200 bytes and a little each
    for k, array in enumerate(arrays):
        assert shelf.put(k, array)
        shelf.get(0)
    assert shelf.size <= 5000
    assert [shelf.get(k) is not None for k in range(6)] == [True, False, False, False, True, True]
    assert not shelf.put(0, np.zeros(5000)) and shelf.get(0) is None
    assert shelf.put(4, arrays[1]) and shelf.get(4) is arrays[1] and shelf.size < 3000
    clock.now += 61
    assert shelf.get(4) is None and shelf.size == 0
