"""Formulas over metrics, such as ``{perf/throughput} * n_gpus``, evaluated with their errors.

A formula holds keys in braces, names of derived quantities, numbers, ``+ - * / ( )``, ``abs``, ``sqrt`` and
``exp``. Every cell enters with an error bound (float rounding and
printed digits), which is carried through to first order, so that a comparison knows what difference means nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
KEY: Final = re.compile(r"\{([^{}]+)\}")
FUNCTIONS: Final = ("abs", "sqrt", "exp")


@dataclass(frozen=True, slots=True)
class Measured:
    """A value and how far from it the true one may lie; scalars or arrays of one shape."""

    value: Any
    error: Any = 0.0


@dataclass(frozen=True, slots=True)
class Formula:
    """A parsed formula.

    Attributes:
        text: as written.
        keys: metrics, each once, in order.
        names: derived quantities.
    """

    text: str
    keys: tuple[str, ...]
    names: tuple[str, ...]
    tree: ast.expr

    def evaluate(self, cells: Callable[[str], Measured], names: Mapping[str, float | Measured]) -> Measured:
        """The value; NaN where a cell is NaN or a divisor is zero."""
        with np.errstate(all="ignore"):
            return _walk(self.tree, self.keys, cells, names)


@lru_cache(maxsize=2048)
def parse(text: str) -> Formula:
    """Parses a formula.

    Raises:
        ValueError: it is not one; the message says why.
    """
    keys = tuple(dict.fromkeys(KEY.findall(text)))
    places = {key: f"_k{at}" for at, key in enumerate(keys)}
    plain = KEY.sub(lambda match: places[match[1]], text)
    try:
        tree = ast.parse(plain.strip(), mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"{text!r} is not a formula: {error.msg}") from None
    names: list[str] = []
    called = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node not in called and not node.id.startswith("_k"):
            names.append(node.id)
        elif isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS):
            raise ValueError(f"{text!r}: only {', '.join(FUNCTIONS)} can be called")
        elif not isinstance(node, _ALLOWED):
            raise ValueError(f"{text!r}: {type(node).__name__} does not belong in a formula")
    return Formula(text, keys, tuple(dict.fromkeys(names)), tree)


_ALLOWED: Final = (
    ast.BinOp, ast.UnaryOp, ast.Name, ast.Constant, ast.Call, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.USub, ast.Load,
)  # fmt: skip


def _walk(
    node: ast.expr, keys: tuple[str, ...], cells: Callable[[str], Measured], names: Mapping[str, float | Measured]
) -> Measured:
    match node:
        case ast.Constant(value=value):
            return Measured(float(value))  # type: ignore[arg-type]
        case ast.Name(id=name) if name.startswith("_k"):
            return cells(keys[int(name[2:])])
        case ast.Name(id=name):
            found = names[name]
            return found if isinstance(found, Measured) else Measured(found)
        case ast.UnaryOp(operand=operand):
            inner = _walk(operand, keys, cells, names)
            return Measured(-inner.value, inner.error)
        case ast.Call(func=ast.Name(id=name), args=[argument]):
            return _call(name, _walk(argument, keys, cells, names))
        case ast.BinOp(left=left, op=op, right=right):
            return _binary(op, _walk(left, keys, cells, names), _walk(right, keys, cells, names))
    raise ValueError(f"{ast.dump(node)} does not belong in a formula")


def _call(name: str, inner: Measured) -> Measured:
    if name == "abs":
        return Measured(np.abs(inner.value), inner.error)
    if name == "sqrt":
        root = np.sqrt(inner.value)
        return Measured(root, inner.error / np.maximum(2 * root, 1e-300))
    value = np.exp(inner.value)
    return Measured(value, value * inner.error)


def _binary(op: ast.operator, a: Measured, b: Measured) -> Measured:
    if isinstance(op, ast.Add):
        return Measured(a.value + b.value, a.error + b.error)
    if isinstance(op, ast.Sub):
        return Measured(a.value - b.value, a.error + b.error)
    if isinstance(op, ast.Mult):
        return Measured(a.value * b.value, np.abs(a.value) * b.error + np.abs(b.value) * a.error)
    divisor = np.where(np.asarray(b.value) == 0, np.nan, b.value)
    value = a.value / divisor
    return Measured(value, (a.error + np.abs(value) * b.error) / np.abs(divisor))
