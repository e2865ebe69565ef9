"""Exact arithmetic over text that a model wrote."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.worlds.arithmetic import ArithmeticProblem, evaluate

numbers = st.integers(0, 999).map(str) | st.decimals(0, 99, places=2).map(str)
expressions = st.recursive(
    numbers,
    lambda inner: (
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "//", "%"]), inner).map(" ".join)
        | inner.map("({})".format)
        | inner.map("-{}".format)
    ),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("17 × 23", Fraction(391)),
        ("120 000 + 95 000 + 48 000", Fraction(263000)),
        ("120\u00a0000 − 95\u202f000", Fraction(25000)),
        ("0.1 + 0.2", Fraction(3, 10)),
        ("7/3", Fraction(7, 3)),
        ("2 ** 10", Fraction(1024)),
        ("2 ** -2", Fraction(1, 4)),
        ("-2 ** 2", Fraction(-4)),
        ("(1 + 2) * 3 // 2", Fraction(4)),
        ("100 ÷ 8", Fraction(25, 2)),
        ("10 % 4", Fraction(2)),
        ("+5", Fraction(5)),
    ],
)
def test_values_are_exact(expression, value):
    """No rounding, whatever the spelling of signs and thousands."""
    assert value == evaluate(expression)


@given(expressions)
def test_agrees_with_python_on_fractions(expression):
    """The law: the same tree over `Fraction` numbers gives the same value, or divides by zero in both."""
    exact = re.sub(r"\d+(\.\d+)?", lambda number: f"Fraction('{number[0]}')", expression)
    try:
        expected = Fraction(eval(exact, {"Fraction": Fraction}))
    except ZeroDivisionError:
        with pytest.raises(ArithmeticProblem, match=r"^division by zero$"):
            evaluate(expression)
        return

    if len(expression) <= 200:
        assert expected == evaluate(expression)


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("1/0", "division by zero"),
        ("0 ** -1", "division by zero"),
        ("", "not an arithmetic expression: only numbers, + - * / ** % and brackets are read"),
        ("__import__('os')", "not an arithmetic expression: only numbers, + - * / ** % and brackets are read"),
        ("1 if 2 else 3", "not an arithmetic expression: only numbers, + - * / ** % and brackets are read"),
        ("1e9", "not an arithmetic expression: only numbers, + - * / ** % and brackets are read"),
        ("(1", "not an arithmetic expression"),
        ("1 2", "not an arithmetic expression"),
        ("()", "not an arithmetic expression"),
        ("1(2)", "not an arithmetic expression"),
        ("(" * 120 + "1" + ")" * 79, "not an arithmetic expression"),
        ("9 ** 9 ** 9", "an exponent must be a whole number up to 64"),
        ("2 ** 0.5", "an exponent must be a whole number up to 64"),
        ("1 ** 65", "an exponent must be a whole number up to 64"),
        ("9999999999 ** 64", "the result has more than 100 digits"),
        ("1" * 201, "the expression is longer than 200 characters"),
    ],
)
def test_what_is_no_arithmetic_is_told(expression, said):
    """Each refusal is a text that a model can act on; nothing is ever run."""
    with pytest.raises(ArithmeticProblem) as caught:
        evaluate(expression)

    assert said == str(caught.value)


@given(st.text("0123456789+-*/%(). ", max_size=40))
def test_any_text_gives_a_value_or_a_reason(expression):
    """No input escapes with another error, or takes long."""
    try:
        evaluate(expression)
    except ArithmeticProblem as problem:
        said = str(problem)
    else:
        said = "a value"

    assert said
