"""Exact rational arithmetic over text that a model wrote: parsed as data, never run."""

from __future__ import annotations

import ast
import re
from fractions import Fraction

MAX_CHARS = 200
MAX_DIGITS = 100
MAX_EXPONENT = 64

_SPELLINGS = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "\N{NO-BREAK SPACE}": " ", "\u202f": " "})
_THOUSANDS = re.compile(r"(?<=\d)[ _](?=\d{3}(?!\d))")
_ALLOWED = re.compile(r"[0-9+\-*/%(). ]+")


class ArithmeticProblem(ValueError):  # noqa: N818 -- it is told to a model, and is no error of ours
    """The text is no arithmetic, or too large."""


def evaluate(expression: str) -> Fraction:
    """
    Compute *expression*: `+ - * / // % **`, brackets, decimals, blanks between thousands.

    Raises:
        ArithmeticProblem: It is no arithmetic, divides by zero, or is larger than 200 characters or 100 digits.
    """
    if len(expression) > MAX_CHARS:
        raise ArithmeticProblem(f"the expression is longer than {MAX_CHARS} characters")
    text = _THOUSANDS.sub("", expression.translate(_SPELLINGS)).strip()
    if not _ALLOWED.fullmatch(text):
        raise ArithmeticProblem("not an arithmetic expression: only numbers, + - * / ** % and brackets are read")
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, RecursionError, MemoryError):
        raise ArithmeticProblem("not an arithmetic expression") from None
    try:
        return _value(tree.body, text)
    except ZeroDivisionError:
        raise ArithmeticProblem("division by zero") from None


def _value(node: ast.expr, text: str) -> Fraction:
    match node:
        case ast.Constant():
            value = Fraction(ast.get_source_segment(text, node) or "")
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value = -_value(operand, text)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            value = _value(operand, text)
        case ast.BinOp(left=left, op=operator, right=right):
            value = _combined(operator, _value(left, text), _value(right, text))
        case _:
            raise ArithmeticProblem("not an arithmetic expression")
    if max(abs(value.numerator), value.denominator) >= 10**MAX_DIGITS:
        raise ArithmeticProblem(f"the result has more than {MAX_DIGITS} digits")
    return value


def _combined(operator: ast.operator, left: Fraction, right: Fraction) -> Fraction:
    match operator:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div():
            return left / right
        case ast.FloorDiv():
            return Fraction(left // right)
        case ast.Mod():
            return left % right
        case ast.Pow():
            if right.denominator != 1 or abs(right) > MAX_EXPONENT:
                raise ArithmeticProblem(f"an exponent must be a whole number up to {MAX_EXPONENT}")
            return Fraction(left ** int(right))
        case _:
            raise ArithmeticProblem("not an arithmetic expression")
