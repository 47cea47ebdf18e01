"""Arithmetic on text for the calculator tools: numbers, + - * /, signs and brackets.

A custom parser, because an agent's text is never passed to Python's evaluator.
"""

import re

__all__ = ["ArithmeticProblem", "calculate"]

_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d*)?|\.\d+)|([-+*/()]))")
_MAX_CHARS = 200


class ArithmeticProblem(ValueError):
    """The text is not a valid expression."""


def calculate(expression: str) -> float:
    """Evaluate an expression.

    >>> calculate("2 * (3 + 4) - 1")
    13.0

    Raises:
        ArithmeticProblem: If the expression is too long or malformed, or divides by zero.
    """
    if len(expression) > _MAX_CHARS:
        raise ArithmeticProblem(f"the expression is longer than {_MAX_CHARS} characters")
    tokens = _tokens(expression)
    value = _sum(tokens)
    if tokens:
        raise ArithmeticProblem(f"unexpected {tokens[-1]!r} in the expression")
    return value


def _tokens(expression: str) -> list[str]:
    """Return the tokens in reverse order, so that the next one is popped off the end."""
    tokens, position, text = [], 0, expression.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ArithmeticProblem("only numbers, + - * / and brackets are understood")
        tokens.append(match[1] or match[2])
        position = match.end()
    return tokens[::-1]


def _sum(tokens: list[str]) -> float:
    value = _product(tokens)
    while tokens and tokens[-1] in "+-":
        sign = tokens.pop()
        term = _product(tokens)
        value = value + term if sign == "+" else value - term
    return value


def _product(tokens: list[str]) -> float:
    value = _factor(tokens)
    while tokens and tokens[-1] in "*/":
        sign = tokens.pop()
        factor = _factor(tokens)
        if sign == "/" and factor == 0:
            raise ArithmeticProblem("division by nought")
        value = value * factor if sign == "*" else value / factor
    return value


def _factor(tokens: list[str]) -> float:
    if not tokens:
        raise ArithmeticProblem("the expression ends too early")
    token = tokens.pop()
    if token in "+-":
        value = _factor(tokens)
        return -value if token == "-" else value
    if token == "(":
        value = _sum(tokens)
        if not tokens or tokens.pop() != ")":
            raise ArithmeticProblem("a bracket is not closed")
        return value
    if token in ")*/":
        raise ArithmeticProblem(f"unexpected {token!r} in the expression")
    return float(token)
