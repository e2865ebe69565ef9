"""Signing in: a cookie for the token, good for a while."""

from __future__ import annotations

import pytest

from harness.errors import UsageError
from harness.serve.sign_in import LIFETIME_SECONDS, MOST_SIGN_INS, SignIns, same

TOKEN = "0123456789abcdef"


class Clock:
    """Seconds that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_token_gets_a_name_of_its_own():
    """Each sign-in another one, none of them the token."""
    sign_ins = SignIns(TOKEN)
    names = {sign_ins.begin(TOKEN) for _ in range(3)}

    assert 3 == len(names)
    assert all(sign_ins.knows(name) for name in names)
    assert not any(TOKEN in name for name in names)


@pytest.mark.parametrize("token", ["", "0123456789abcdeF", "0123456789abcde", "é", "\ud800"])
def test_anything_else_gets_nothing(token):
    """Nothing, nearly the token, or no text at all."""
    with pytest.raises(UsageError, match="the token is wrong") as refused:
        SignIns(TOKEN).begin(token)

    assert "wrong-token" == refused.value.code


@pytest.mark.parametrize("name", ["", TOKEN, "guessed", "\ud800"])
def test_a_name_that_was_not_given_out_is_not_known(name):
    """The token itself is no cookie either."""
    sign_ins = SignIns(TOKEN)
    sign_ins.begin(TOKEN)

    assert not sign_ins.knows(name)


def test_a_sign_in_ends_by_itself():
    """After its lifetime, to the second."""
    clock = Clock()
    sign_ins = SignIns(TOKEN, clock)
    name = sign_ins.begin(TOKEN)
    clock.now = LIFETIME_SECONDS - 1

    assert sign_ins.knows(name)
    clock.now = LIFETIME_SECONDS
    assert not sign_ins.knows(name)


def test_signing_out_ends_one():
    """And no other; once more does nothing."""
    sign_ins = SignIns(TOKEN)
    one, other = sign_ins.begin(TOKEN), sign_ins.begin(TOKEN)
    sign_ins.end(one)
    sign_ins.end(one)

    assert (False, True) == (sign_ins.knows(one), sign_ins.knows(other))


def test_the_first_ones_are_forgotten_where_there_are_too_many():
    """Memory is bounded, whoever has the token."""
    sign_ins = SignIns(TOKEN)
    names = [sign_ins.begin(TOKEN) for _ in range(MOST_SIGN_INS + 2)]

    assert [False, False, *[True] * MOST_SIGN_INS] == [sign_ins.knows(name) for name in names]


def test_without_a_token_nobody_signs_in():
    """An empty token is nobody's, and is not needed."""
    assert not SignIns("").needed
    assert not same("", "")
    with pytest.raises(UsageError):
        SignIns("").begin("")
