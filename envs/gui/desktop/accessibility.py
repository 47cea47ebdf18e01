"""The accessibility tree (AT-SPI 2): what each program reports about its windows.

Only visible objects are read: the children of a hidden menu are never requested. Interfaces and the
numbers of roles and states are those of AT-SPI over D-Bus. Presenting the elements is left to
others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from hexathlon.envs.gui.desktop.bus import Bus, BusCall, Reference

__all__ = ["AccessibleNode", "AccessibilityTree"]

_ACCESSIBLE = "org.a11y.atspi.Accessible"
_COMPONENT = "org.a11y.atspi.Component"
_TEXT = "org.a11y.atspi.Text"
_VALUE = "org.a11y.atspi.Value"
_PROPERTIES = "org.freedesktop.DBus.Properties"
_REGISTRY: Reference = ("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")

_STATES = {
    "active": 1, "checked": 4, "editable": 7, "enabled": 8, "expanded": 10, "focusable": 11,
    "focused": 12, "modal": 16, "selectable": 22, "selected": 23, "sensitive": 24, "showing": 25,
    "visible": 30, "checkable": 41, "has popup": 42,
}  # fmt: skip
_MOST_NODES = 4_000
_MOST_KINDS = 20_000
_MOST_CHARACTERS = 2_000
_TEXT_ROLES = {"text", "entry", "password text", "terminal", "paragraph", "document text",
               "editbar", "spin button"}  # fmt: skip
_SINGLE = {
    "check box", "check menu item", "entry", "icon", "image", "label", "menu item",
    "password text", "progress bar", "push button", "radio button", "radio menu item",
    "scroll bar", "separator", "slider", "spin button", "table column header", "tear off menu item",
    "text", "toggle button",
}  # fmt: skip
"""Roles whose children carry no information."""

_OPEN_MENU = {"selected", "focused"}
"""An open menu has at least one of these states."""

_VALUE_ROLES = {"slider", "spin button", "progress bar", "scroll bar"}


@dataclass
class AccessibleNode:
    """A visible accessible object."""

    reference: Reference
    role: str
    name: str
    states: frozenset[str]
    bounds: tuple[int, int, int, int]
    """Left, top, right, bottom in pixels."""

    place: tuple[int, int]
    """Left and top of the whole object; `bounds` may be cut to its visible part."""

    description: str = ""
    text: str = ""
    """Content of a text field, or of a slider or spin button as a number."""

    menu: Reference | None = None
    """The open menu of an entry that does not itself report being visible."""

    children: list["AccessibleNode"] = field(default_factory=list)

    def walk(self) -> Iterator["AccessibleNode"]:
        """Yield the node and everything below it, in order."""
        yield self
        for child in self.children:
            yield from child.walk()


class AccessibilityTree:
    """Reads trees over the accessibility bus.

    Args:
        bus: A connection to that bus.
    """

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._kinds: dict[Reference, tuple[str, str]] = {}

    def registered(self) -> bool:
        """Whether the registry of programs answers."""
        return self._bus.call([_states_of(_REGISTRY)])[0] is not None

    def programs(self) -> list[Reference]:
        """Return the roots of all programs with windows."""
        return _references(self._bus.call([(_REGISTRY, _ACCESSIBLE, "GetChildren", "", ())])[0])

    def windows(self) -> list[list[AccessibleNode]]:
        """Return the top-level windows of each program, without their content."""
        roots = self.programs()
        asked = self._bus.call([(root, _ACCESSIBLE, "GetChildren", "", ()) for root in roots])
        tops = [_references(answer) for answer in asked]
        flat = [one for group in tops for one in group]
        nodes = iter(self._read(flat, [None] * len(flat)))
        return [[node for node in (next(nodes) for _ in group) if node] for group in tops]

    def in_front(self) -> list[AccessibleNode]:
        """Return the visible windows of the foreground program, the active one first.

        Windows that the active one covers or, being modal, blocks are left out.
        """
        programs = self.windows()
        group = next((tops for tops in programs if any("active" in top.states for top in tops)),
                     [top for tops in programs for top in tops])  # fmt: skip
        active = next((top for top in group if "active" in top.states), None)
        if active is not None:
            group = [active, *(top for top in group if top is not active
                               and _shows_beside(top, active))]  # fmt: skip
        self.fill(group)
        return group

    def fill(self, tops: Sequence[AccessibleNode]) -> None:
        """Read all visible descendants of some nodes."""
        level = list(tops)
        count = 0
        while level and count < _MOST_NODES:
            parents = [node for node in level if _has_content(node)]
            asked = self._bus.call(
                [(node.reference, _ACCESSIBLE, "GetChildren", "", ()) for node in parents]
            )
            wanted = [(node, child) for node, answer in zip(parents, asked, strict=True)
                      for child in _references(answer)][: _MOST_NODES - count]  # fmt: skip
            found = self._read([child for _, child in wanted],
                               [node.reference if node.role == "menu" else None
                                for node, _ in wanted])  # fmt: skip
            level = []
            for (parent, _), node in zip(wanted, found, strict=True):
                if node is not None:
                    parent.children.append(node)
                    level.append(node)
            count += len(level)
        self._read_contents([node for top in tops for node in top.walk()])

    def moved(self, node: AccessibleNode) -> tuple[int, int] | None:
        """Return how far an object has moved since it was read, in pixels.

        None if it is gone or hidden, or if its reference now has another name: programs reuse the
        references of list entries when a list is loaded or sorted again.
        """
        states, menu, name, extents = self._bus.call([
            _states_of(node.reference), _states_of(node.menu or node.reference),
            _name_of(node.reference), _extents_of(node.reference),
        ])  # fmt: skip
        if states is None or menu is None or extents is None or _value(name) != node.name:
            return None
        shown = _OPEN_MENU if node.menu is not None else {"showing"}
        if not _decoded(menu if node.menu is not None else states) & shown:
            return None
        left, top, _, _ = _rectangle(extents)
        return left - node.place[0], top - node.place[1]

    def _read(
        self, references: Sequence[Reference], menus: Sequence[Reference | None]
    ) -> list[AccessibleNode | None]:
        """Return the visible nodes; None for the others.

        Args:
            references: The objects.
            menus: The open menu that each is in; some programs do not report entries as visible.
        """
        states = self._bus.call([_states_of(one) for one in references])
        decoded = [
            None if answer is None else _shown_in(_decoded(answer), menu)
            for answer, menu in zip(states, menus, strict=True)
        ]
        showing = [one for one, flags in zip(references, decoded, strict=True)
                   if flags is not None and "showing" in flags]  # fmt: skip
        self._learn([one for one in showing if one not in self._kinds])
        calls: list[BusCall] = []
        for one in showing:
            calls.append(_name_of(one))
            calls.append(_extents_of(one))
        answers = iter(self._bus.call(calls))
        nodes: list[AccessibleNode | None] = []
        for reference, answer, menu, flags in zip(references, states, menus, decoded, strict=True):
            if flags is None or "showing" not in flags:
                nodes.append(None)
                continue
            name, extents = next(answers), next(answers)
            role, description = self._kinds.get(reference, ("", ""))
            if not role:  # gone since its state was read
                nodes.append(None)
                continue
            place = _rectangle(extents) if extents is not None else (0, 0, 0, 0)
            said = "showing" in _decoded(answer)
            nodes.append(AccessibleNode(reference, role, _value(name), flags, place, place[:2],
                              description,
                              menu=None if said else menu))  # fmt: skip
        return nodes

    def _learn(self, references: Sequence[Reference]) -> None:
        """Read the properties that never change: role and description."""
        if len(self._kinds) > _MOST_KINDS:
            self._kinds.clear()
        calls: list[BusCall] = []
        for one in references:
            calls.append((one, _ACCESSIBLE, "GetRoleName", "", ()))
            calls.append((one, _PROPERTIES, "Get", "ss", (_ACCESSIBLE, "Description")))
        answers = iter(self._bus.call(calls))
        for one in references:
            role, description = next(answers), next(answers)
            if role is not None:
                self._kinds[one] = (str(role), _value(description))

    def _read_contents(self, nodes: Sequence[AccessibleNode]) -> None:
        calls: list[BusCall] = []
        asked: list[AccessibleNode] = []
        for node in nodes:
            if node.role in _TEXT_ROLES:
                calls.append((node.reference, _TEXT, "GetText", "ii", (0, _MOST_CHARACTERS)))
                asked.append(node)
            elif node.role in _VALUE_ROLES:
                where = (_VALUE, "CurrentValue")
                calls.append((node.reference, _PROPERTIES, "Get", "ss", where))
                asked.append(node)
        for node, answer in zip(asked, self._bus.call(calls), strict=True):
            if isinstance(answer, str):
                node.text = answer
            elif isinstance(answer, tuple):
                node.text = f"{answer[1]:.10g}"


def _shows_beside(top: AccessibleNode, active: AccessibleNode) -> bool:
    """Whether a window is visible and usable while another one is active."""
    if top.role == "window":  # a menu, a drop-down list or a tooltip
        return True
    left, top_edge, right, bottom = active.bounds
    covered = (left <= top.bounds[0] and top_edge <= top.bounds[1]
               and right >= top.bounds[2] and bottom >= top.bounds[3])  # fmt: skip
    return not covered and "modal" not in active.states


def _states_of(reference: Reference) -> BusCall:
    return (reference, _ACCESSIBLE, "GetState", "", ())


def _name_of(reference: Reference) -> BusCall:
    return (reference, _PROPERTIES, "Get", "ss", (_ACCESSIBLE, "Name"))


def _extents_of(reference: Reference) -> BusCall:
    return (reference, _COMPONENT, "GetExtents", "u", (0,))


def _references(answer: Any) -> list[Reference]:
    return [(str(name), str(path)) for name, path in answer or ()
            if path != "/org/a11y/atspi/null"]  # fmt: skip


def _shown_in(states: frozenset[str], menu: Reference | None) -> frozenset[str]:
    """Return the states of an object; visible entries of an open menu count as showing."""
    return states | {"showing"} if menu is not None and "visible" in states else states


def _decoded(words: Sequence[int]) -> frozenset[str]:
    bits = words[0] | (words[1] << 32 if len(words) > 1 else 0)
    return frozenset(name for name, bit in _STATES.items() if bits >> bit & 1)


def _has_content(node: AccessibleNode) -> bool:
    """Whether to descend into a node: not into closed menus, nor into simple controls."""
    if node.role == "menu":
        return bool(node.states & _OPEN_MENU)
    return node.role not in _SINGLE


def _rectangle(extents: Sequence[int]) -> tuple[int, int, int, int]:
    left, top, width, height = extents
    return left, top, left + width, top + height


def _value(variant: Any) -> str:
    return str(variant[1]) if isinstance(variant, tuple) else ""
