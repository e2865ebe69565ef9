"""Tasks that an agent started and did not wait for: found when its leg ends, and cancelled."""

from __future__ import annotations

import asyncio
from typing import ClassVar, Self


class Leftovers:
    """
    Notices tasks of code in *folder* that began inside it and are still running; client libraries keep tasks of their own.

    Only where no other trial was under way in the same loop meanwhile: a task does not say which trial began it.
    """

    _running: ClassVar[int] = 0
    _begun: ClassVar[int] = 0

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def __enter__(self) -> Self:
        Leftovers._running += 1
        Leftovers._begun += 1
        self._alone = Leftovers._running == 1
        self._number = Leftovers._begun
        self._before = asyncio.all_tasks()
        return self

    def __exit__(self, *_: object) -> None:
        Leftovers._running -= 1

    async def cancel(self) -> int:
        """Cancel what is left, let it end, and return how many tasks there were."""
        if not self._alone or Leftovers._begun != self._number:
            return 0
        left = [task for task in asyncio.all_tasks() - self._before if not task.done() and self._is_ours(task)]
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=1.0)
        return len(left)

    def _is_ours(self, task: asyncio.Task[object]) -> bool:
        code = getattr(task.get_coro(), "cr_code", None)
        return code is not None and code.co_filename.startswith(self._folder)
