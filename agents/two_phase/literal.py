"""
How the design's document extracts and executes tool calls, to the letter, for the profile `seed_literal`.

Of each block the first call alone is seen, on one line; an argument ends at the next quotation mark of either kind; and
a call with keyword arguments returns None, without anything being run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .tool_code import Asked

_BLOCKS = re.compile(r"```tool_code\s*\n(.*?)\n```", re.DOTALL)
_CALL = re.compile(r"(\w+)\(([^\n]*)\)")
_ARGUMENT = re.compile(r"""["']([^"']*)["']""")


def literal_calls_in(text: str, parameters: Mapping[str, Sequence[str]]) -> list[Asked]:
    """The calls that the document's code would run, with the arguments that it would run them with."""
    asked = []
    for number, block in enumerate(_BLOCKS.findall(text)):
        call = _CALL.match(block.strip())
        if call is None or "=" in call[2].partition('"')[0] or call[1] not in parameters:
            continue
        names = parameters[call[1]]
        args = dict(zip(names, _ARGUMENT.findall(call[2]), strict=False))
        asked.append(Asked(name=call[1], source=block.strip(), block=number, args=args))
    return asked
