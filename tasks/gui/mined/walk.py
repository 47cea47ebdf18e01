"""Exploration: random walks through an app until a row changes, and the steps that were needed."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hexathlon.tasks.gui.world.kit.events import PhoneEvent
from hexathlon.tasks.gui.world.kit.looks import LOOKS, Appearance
from hexathlon.tasks.gui.world.kit.scene import UINode
from hexathlon.tasks.gui.world.system.entry import PhoneRefusal
from hexathlon.tasks.gui.world.system.phone import Phone
from hexathlon.tasks.gui.world.system.plan import PhonePlan

__all__ = ["MinedWalk", "WalkStep", "mine"]

_LONGEST = 9
_MOST_SCROLLS = 12
_ROLES = frozenset({"button", "item", "switch", "checkbox", "radio", "chip", "tab", "menuitem"})
_REFUSED = frozenset({"back", "key", "start", "resume", "open"})
"""Kinds of events that leave the app or undo a step."""


class WalkStep(NamedTuple):
    """One tap, or one text typed into a field."""

    role: str
    on: PhoneEvent | None
    key: str
    """Key of the value that the element edits."""

    text: str
    """Text typed into it; empty for a tap."""

    names: tuple[str, ...] = ()
    """Its names over all looks."""


class MinedWalk(NamedTuple):
    """A walk that changes one row."""

    app: str
    steps: tuple[WalkStep, ...]
    table: str
    kind: str
    """`added`, `changed` or `removed`."""

    row: dict[str, Any]
    """The row afterwards; the former one if it was removed."""

    before: dict[str, Any]


def mine(
    plan: PhonePlan, app: str, texts: Sequence[str], rng: np.random.Generator
) -> MinedWalk | None:
    """Walk through an app at random; None if nothing of use came of it.

    Args:
        plan: The phone.
        app: The app.
        texts: Texts to type.
        rng: Source of the choices.
    """
    phone = Phone(plan, _appearance(0))
    phone.open_app(app)
    steps: list[WalkStep] = []
    for _ in range(_LONGEST):
        nodes = [node for node in phone.nodes() if _usable(node)]
        if not nodes:
            return None
        node = nodes[int(rng.integers(len(nodes)))]
        text = texts[int(rng.integers(len(texts)))] if node.kind == "text" else ""
        steps.append(WalkStep(node.role, node.on, node.key, text))
        if not _taken(phone, node, text) or phone.app_name != app:
            return None
        if phone.changes():
            return _finished(plan, app, steps, phone.changes())
    return None


def _appearance(number: int) -> Appearance:
    return Appearance(tuple(LOOKS.values())[number])


def _usable(node: UINode) -> bool:
    """Whether a step may use an element: one with a name, of a kind that scripts can find."""
    if not node.enabled or not (node.text or node.label):
        return False
    if node.kind == "text":
        return node.data.kind not in ("number", "phone", "search")
    if node.role not in _ROLES or node.kind not in ("", "flip"):
        return False
    return node.kind == "flip" or (node.on is not None and node.on.kind not in _REFUSED)


def _taken(phone: Phone, node: UINode, text: str) -> bool:
    """Use an element; return whether that was possible."""
    phone.begin_action()
    phone.tap(node)
    if text:
        try:
            phone.type_text(text, clear=True)
        except PhoneRefusal:
            return False
    phone.end_action()
    return True


def _finished(
    plan: PhonePlan, app: str, steps: Sequence[WalkStep], changes: dict[str, Any]
) -> MinedWalk | None:
    """Return the walk without needless steps, if its change is one that a request can describe."""
    if len(changes) != 1:
        return None
    ((table, kinds),) = changes.items()
    ((kind, rows), *others) = kinds.items()
    if others or len(rows) != 1 or not table.startswith(f"{app}."):
        return None
    kept = list(steps)
    for step in steps[:-1]:
        shorter = [each for each in kept if each is not step]
        if _replayed(plan, app, shorter, 0, None) == changes:
            kept = shorter
    names: list[set[str]] = [set() for _ in kept]
    for look in range(len(LOOKS)):
        if _replayed(plan, app, kept, look, names) != changes:
            return None
    before, row = rows[0] if kind == "changed" else (rows[0], rows[0])
    found = tuple(step._replace(names=tuple(sorted(each)))
                  for step, each in zip(kept, names, strict=True))  # fmt: skip
    return MinedWalk(app, found, table, kind, dict(row), dict(before))


def _replayed(
    plan: PhonePlan, app: str, steps: Sequence[WalkStep], look: int, names: list[set[str]] | None
) -> dict[str, Any] | None:
    """Repeat steps in a look; return the changes, or None if an element is missing or unnamed."""
    phone = Phone(plan, _appearance(look))
    phone.open_app(app)
    for place, step in enumerate(steps):
        node = _found(phone, step)
        if node is None:
            return None
        title = (node.text or node.label).partition(" | ")[0]
        alike = [each for each in phone.nodes() if each.role == node.role
                 and (each.text or each.label).partition(" | ")[0] == title]  # fmt: skip
        if not title or len(alike) > 1:
            return None
        if names is not None:
            names[place].add(title)
        if not _taken(phone, node, step.text):
            return None
    return phone.changes()


def _found(phone: Phone, step: WalkStep) -> UINode | None:
    """Return the element of a step, scrolling down to it."""
    for _ in range(_MOST_SCROLLS):
        for node in phone.nodes():
            if (node.role, node.on, node.key) == (step.role, step.on, step.key):
                return node
        if phone.scroll("down"):
            return None
    return None
