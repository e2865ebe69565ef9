"""
Threads that run agents, each with an event loop of its own.

Tools are often plain functions. In the server's own loop such a tool would hold up every stream while it works, and the
line that announces it would arrive after its result; here it holds up its own run alone.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from harness.agents.trace_writer import Listener
from harness.errors import CouldNotCheckError, HarnessError
from harness.records.run import Trial
from harness.records.trace import Event

_log = logging.getLogger(__name__)
T = TypeVar("T")
Work = Callable[[Listener], Coroutine[Any, Any, Trial]]
"""Runs one trial in the loop of a worker, telling a listener of each event."""
GRACE_SECONDS = 5.0
"""Wall-clock time that a cancelled run gets to end; its worker is out of use until it does."""


class Run:
    """One run under way, as the server's loop sees it; `harness.agents.hosting.HostedRun`."""

    def __init__(self, on_end: Callable[[Run], None] | None = None) -> None:
        self.name = secrets.token_urlsafe(12)
        """Whoever knows it can have the run stopped."""
        self.trial: Trial | None = None
        self.failure: HarnessError | None = None
        self.answer = ""
        """What the user was told last, so far."""
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._ended = asyncio.Event()
        self._on_end = on_end
        self._work: Future[None] | None = None

    async def __aiter__(self) -> AsyncIterator[Event]:
        while (event := await self._events.get()) is not None:
            yield event
        self._events.put_nowait(None)  # whoever asks again is told the same

    async def ended(self) -> None:
        """Wait until nothing of the run is left."""
        await self._ended.wait()

    @property
    def is_over(self) -> bool:
        """Whether nothing of the run is left."""
        return self._ended.is_set()

    async def close(self) -> None:
        """Cancel what is still running, and give it a while to end."""
        if self._work is not None and not self._ended.is_set():
            self._work.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                await self._ended.wait()

    async def perform(self, work: Work) -> None:
        """Do *work*; runs in the loop of a worker."""
        trial: Trial | None = None
        failure: HarnessError | None = None
        try:
            trial = await work(lambda event: self._tell(self._came, event))
        except HarnessError as error:
            failure = error
        except asyncio.CancelledError:
            failure = CouldNotCheckError("run-cancelled", "the run was cancelled")
        except BaseException as error:  # noqa: BLE001 – the server outlives whatever an agent raises
            _log.exception("a run failed")
            failure = CouldNotCheckError("internal", f"the run failed: {type(error).__name__}")
        if trial is not None and trial.could_not_check:
            failure = CouldNotCheckError(trial.code or "ask-failed", trial.could_not_check)
        self._tell(self._over, trial, failure)

    def begin(self, work: Future[None]) -> None:
        """Remember what cancels the run."""
        self._work = work

    def _tell(self, function: Callable[..., None], *args: Any) -> None:
        with suppress(RuntimeError):  # the server's loop is closed: nobody is left to be told
            self._loop.call_soon_threadsafe(function, *args)

    def _came(self, event: Event) -> None:
        if event.type == "final_answer":
            self.answer = event.data.text
        self._events.put_nowait(event)

    def _over(self, trial: Trial | None, failure: HarnessError | None) -> None:
        self.trial, self.failure = trial, failure
        self._events.put_nowait(None)
        self._ended.set()
        if self._on_end is not None:
            self._on_end(self)


class Workers:
    """
    At most *most* runs at once (at least 1), each in a thread that stays for the next one; for one event loop, the
    server's.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._threads: list[LoopThread] = []
        self._idle: list[LoopThread] = []
        self._running: set[Run] = set()

    def start(self, work: Work, on_end: Callable[[Run], None] | None = None) -> Run:
        """
        Begin *work*; *on_end* is called in the server's loop when nothing of it is left.

        Raises:
            HarnessError: All workers are busy.
        """
        worker = self._free()

        def ended(run: Run) -> None:
            self._running.discard(run)
            self._idle.append(worker)
            if on_end is not None:
                on_end(run)

        run = Run(ended)
        self._running.add(run)
        run.begin(worker.submit(run.perform(work)))
        return run

    def find(self, name: str) -> Run | None:
        """The run of that name, if it is still under way."""
        return next((run for run in self._running if run.name == name), None)

    async def close(self) -> None:
        """Cancel every run and stop the threads; one that does not end in time is left behind, as a daemon."""
        await asyncio.gather(*(run.close() for run in self._running))
        for worker in self._idle:
            worker.stop()
        self._threads.clear()
        self._idle.clear()

    def _free(self) -> LoopThread:
        if self._idle:
            return self._idle.pop()
        if len(self._threads) >= self._most:
            raise CouldNotCheckError(
                "too-many-runs",
                f"{self._most} runs are under way, and the server takes no more at once",
                hint="ask again in a moment; `harness serve --runs N` allows more",
            )
        worker = LoopThread(f"agents-{len(self._threads) + 1}")
        self._threads.append(worker)
        return worker


class LoopThread:
    """A daemon thread whose event loop runs until it is stopped."""

    def __init__(self, name: str) -> None:
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)  # with a factory it leaves this thread alone
        self._loop = self._runner.get_loop()
        self._thread = threading.Thread(target=self._turn, name=name, daemon=True)
        self._thread.start()

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Begin *work* in the loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def stop(self) -> None:
        """End the thread; work that is still under way is cancelled."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(GRACE_SECONDS)

    def _turn(self) -> None:
        with self._runner:  # cancels what libraries left running in the loop
            self._loop.run_forever()
