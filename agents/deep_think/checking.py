"""A round of verification: one check, or several at once, and what becomes of those that the provider fails."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

from harness.agents.protocol import AgentContext
from harness.records.faults import ModelError
from harness.records.trace import FallbackUsed

from .asking import TRIES, Asker
from .composing import Place, verify_request
from .graph import Node
from .state import State
from .verdicts import SCHEMA, TIMED_OUT, Check, read_verdict


class Checker:
    """Asks verifiers: at most *at_once* at a time, each for at most *timeout_s* seconds."""

    def __init__(self, ctx: AgentContext, asker: Asker, *, at_once: int, timeout_s: float) -> None:
        self._ctx = ctx
        self._asker = asker
        self._at_once = at_once
        self._timeout_ms = round(timeout_s * 1000)

    async def round(self, state: State, node: Node, of: int, place: Place) -> list[Check]:
        """
        Ask for *of* checks of the current solution, several in waves.

        Checks that the provider failed are asked for again, one after the other, and so are all of later rounds.

        Raises:
            ModelError: The provider failed one that was asked for alone.
        """
        checks: dict[int, Check] = {}
        failures: list[str] = []
        waves = [range(first, min(of, first + self._at_once)) for first in range(0, of, self._at_once)]
        for wave in waves if of > 1 else ():
            found = await _together([self._check(state, node, index, place, tries=1) for index in wave])
            for index, check in zip(wave, found, strict=True):
                if isinstance(check, ModelError):
                    failures.append(str(check))
                else:
                    checks[index] = check
        if failures:
            self._ctx.emit(FallbackUsed(origin="parallel", to="serial", reason=failures[0]))
            state.enable_parallel_check = False
        for index in range(of):
            if index not in checks:
                checks[index] = await self._check(state, node, index, place)
        return [checks[index] for index in range(of)]

    async def _check(self, state: State, node: Node, index: int, place: Place, *, tries: int = TRIES) -> Check:
        """One verifier's check; one that is not there in time has failed."""
        number = state.current_iteration + 1
        try:
            reply = await self._asker.ask(
                node, verify_request(state, place), purpose="verify", slot=f"verify/{number}/{index}", tries=tries,
                round=number, json_schema=SCHEMA, timeout_ms=self._timeout_ms,
            )  # fmt: skip
        except ModelError as error:
            if error.kind != "timeout":
                raise
            return TIMED_OUT
        return read_verdict(reply.text)


async def _together(checks: Sequence[Coroutine[Any, Any, Check]]) -> list[Check | ModelError]:
    """Run *checks* at once; what the provider failed is handed back, anything else ends all of them."""
    tasks = [asyncio.create_task(_or_error(check)) for check in checks]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


async def _or_error(check: Coroutine[Any, Any, Check]) -> Check | ModelError:
    try:
        return await check
    except ModelError as error:
        return error
