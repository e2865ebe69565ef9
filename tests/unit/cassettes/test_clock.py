"""Clocks: virtual time moves only when told."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from harness.cassettes.clock import VirtualClock, WallClock

START = "2026-03-10T09:00:00+01:00"


def test_a_virtual_clock_starts_at_the_worlds_date():
    """Agents are told the world's date, in its time zone, and nothing of today's."""
    clock = VirtualClock(START)

    assert (START, "2026-03-10", 0) == (clock.now(), clock.today(), clock.ms())


@given(st.lists(st.integers(0, 10**9)))
def test_time_never_runs_back(moments):
    """The clock stands at the latest moment that it was ever told of."""
    clock = VirtualClock(START)
    for moment in moments:
        clock.advance_to(moment)

    assert max(moments, default=0) == clock.ms()


def test_sleeping_moves_the_date():
    """Fifteen hours and a half of backoff pass at once, midnight included."""
    clock = VirtualClock(START)
    asyncio.run(clock.sleep(15.5 * 3600))

    assert ("2026-03-11T00:30:00+01:00", "2026-03-11") == (clock.now(), clock.today())


def test_parallel_sleeps_pass_side_by_side():
    """Three tasks that sleep at the same time take as long as the longest of them."""
    clock = VirtualClock(START)

    async def sleep_all() -> None:
        await asyncio.gather(clock.sleep(3), clock.sleep(5), clock.sleep(-1))

    asyncio.run(sleep_all())

    assert 5000 == clock.ms()


def test_a_wall_clock_starts_at_the_worlds_date_and_goes_on_by_itself():
    """While recording, time is real; telling it to move changes nothing."""
    clock = WallClock(START)
    clock.advance_to(10**9)
    before = clock.ms()
    asyncio.run(clock.sleep(0.02))

    assert before < 10_000
    assert clock.ms() - before >= 19
    assert "2026-03-10" == clock.today()
    assert clock.now().startswith("2026-03-10T09:00:0")
