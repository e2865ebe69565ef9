"""Runs in threads of their own: what comes of them, in the server's loop."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable

import pytest

from harness.agents.trace_writer import Listener
from harness.errors import CouldNotCheckError, HarnessError
from harness.records.run import Cell, Trial
from harness.records.trace import Event, FinalAnswer, Progress
from harness.serve.workers import Run, Workers

TRIAL = Trial(cell=Cell("a", "m", "s", "c"), traces=())


def event(number: int, text: str = "") -> Event:
    """An event of a run."""
    data = FinalAnswer(text=text) if text else Progress(stage="s", value=0.5)
    return Event("t", number, 0, data.type, data)


async def speaking(tell: Listener) -> Trial:
    """Three events, the last one the answer."""
    for number in range(2):
        tell(event(number))
        await asyncio.sleep(0)
    tell(event(2, "Eight."))
    return TRIAL


async def waiting(tell: Listener) -> Trial:
    """Nothing, for ever."""
    tell(event(0))
    await asyncio.sleep(600)
    return TRIAL


def with_workers(work: Callable[[Workers], Awaitable[object]], most: int = 2) -> object:
    """Do *work* with workers that are closed afterwards."""

    async def doing() -> object:
        workers = Workers(most)
        try:
            return await work(workers)
        finally:
            await workers.close()

    return asyncio.run(doing())


def test_events_come_in_order_and_then_the_trial():
    """The run knows its answer, and that nothing failed."""

    async def work(workers: Workers) -> tuple[list[int], Run]:
        run = workers.start(speaking)
        return [each.seq async for each in run], run

    seen, run = with_workers(work)

    assert ([0, 1, 2], TRIAL, None, "Eight.") == (seen, run.trial, run.failure, run.answer)


def test_a_run_that_was_read_can_be_read_again_without_waiting():
    """It has no more events."""

    async def work(workers: Workers) -> list[Event]:
        run = workers.start(speaking)
        await run.ended()
        first = [each async for each in run]
        return [*first[3:], *[each async for each in run]]

    assert [] == with_workers(work)


def test_work_runs_outside_the_server_s_thread():
    """A thread is kept for the next run; at once, each has its own."""
    names: list[str] = []

    async def named(tell: Listener) -> Trial:
        await asyncio.sleep(0.05)
        names.append(threading.current_thread().name)
        return TRIAL

    async def work(workers: Workers) -> None:
        await workers.start(named).ended()
        both = [workers.start(named), workers.start(named)]
        for run in both:
            await run.ended()

    with_workers(work)

    assert (["agents-1"], {"agents-1", "agents-2"}) == (names[:1], set(names[1:]))


def test_there_are_no_more_runs_than_allowed():
    """The one too many is refused; when another has ended, it is taken."""

    async def work(workers: Workers) -> None:
        run = workers.start(waiting)
        with pytest.raises(HarnessError, match="1 runs are under way") as refused:
            workers.start(speaking)
        assert "too-many-runs" == refused.value.code
        await run.close()
        await workers.start(speaking).ended()

    with_workers(work, most=1)


def test_a_run_that_is_closed_is_cancelled():
    """Its failure says so, and there is no trial."""

    async def work(workers: Workers) -> Run:
        run = workers.start(waiting)
        async for _ in run:
            break
        await run.close()
        return run

    run = with_workers(work)

    assert (None, "run-cancelled") == (run.trial, run.failure.code)


@pytest.mark.parametrize("error", [ValueError("secret text"), SystemExit(3)])
def test_a_crash_is_logged_and_not_told(error, caplog):
    """Whoever asked learns the kind of error; the log has the rest."""

    async def crashing(tell: Listener) -> Trial:
        raise error

    async def work(workers: Workers) -> Run:
        run = workers.start(crashing)
        await run.ended()
        return run

    with caplog.at_level(logging.ERROR):
        run = with_workers(work)

    assert ("internal", f"the run failed: {type(error).__name__}") == (run.failure.code, run.failure.message)
    assert "crashing" in caplog.text


def test_what_could_not_be_checked_is_a_failure():
    """The trial is there all the same."""
    missed = Trial(cell=TRIAL.cell, traces=(), code="cassette-miss", could_not_check="not recorded")

    async def work(workers: Workers) -> Run:
        async def missing(tell: Listener) -> Trial:
            return missed

        run = workers.start(missing)
        await run.ended()
        return run

    run = with_workers(work)

    assert (missed, "cassette-miss", "not recorded") == (run.trial, run.failure.code, run.failure.message)


def test_an_error_for_people_is_passed_on():
    """As it was raised."""
    error = CouldNotCheckError("bad-world", "no such table")

    async def refusing(tell: Listener) -> Trial:
        raise error

    async def work(workers: Workers) -> Run:
        run = workers.start(refusing)
        await run.ended()
        return run

    assert error is with_workers(work).failure


def test_closing_ends_what_is_under_way():
    """Every run is cancelled, and no thread is left."""
    order: list[str] = []

    async def holding(tell: Listener) -> Trial:
        try:
            await asyncio.sleep(600)
        finally:
            order.append("cancelled")
        return TRIAL

    async def doing() -> None:
        workers = Workers(2)
        workers.start(holding)
        workers.start(holding)
        await asyncio.sleep(0.05)
        await workers.close()

    asyncio.run(doing())

    assert ["cancelled", "cancelled"] == order
    assert not [each for each in threading.enumerate() if each.name.startswith("agents-")]


def test_a_run_that_outlives_its_server_is_no_crash():
    """The loop that it would tell is closed: nobody is told, and nothing is raised."""
    go = threading.Event()
    done = threading.Event()

    async def blocking(tell: Listener) -> Trial:
        go.wait(10)
        tell(event(0))
        done.set()
        return TRIAL

    workers = Workers(1)

    async def doing() -> None:
        workers.start(blocking)

    asyncio.run(doing())
    go.set()

    assert done.wait(10)
    workers._threads[0].stop()
