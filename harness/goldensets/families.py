"""Cases that hang together: variants of one question say less than as many questions of their own."""

from __future__ import annotations

from harness.records.case import GoldenCase

TAG = "family:"


def family_of(case: GoldenCase) -> str:
    """
    The family of *case*: what a tag `family:NAME` says, else its id without the suffix of its own language, so that `S1-de`
    and `S1-en` are both of `S1`, and `wake-up`, whose language is no `up`, is of none but itself.
    """
    for tag in case.tags:
        if tag.startswith(TAG) and len(tag) > len(TAG):
            return tag.removeprefix(TAG)
    return case.id.removesuffix(f"-{case.lang}") or case.id
