"""The accessibility tree of a page as text, with a number for every element that can be acted on.

One line per block of text: headings, paragraphs, list items, table rows (cells separated by `|`),
form fields. An element that can be acted on appears as `[number] role "name"`, followed by its
state. Numbers are given in document order when an element is first shown and stay with it until
the page is left. Texts that look like such a number have a backslash before the bracket.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from hexathlon.envs.web.page.node import PageNode, Path, iterate, text_of

__all__ = ["PageText", "describe", "is_hidden", "role_of"]

_MAX_OPTIONS = 60
_MARK = "\x02"
"""Placeholder for the bracket before an element's number while a line is assembled."""

_NUMBER = re.compile(r"\[(?=\s*\d+\s*\])")
_BLOCKS = frozenset(
    "address article aside blockquote body center dd details dialog div dl dt fieldset figcaption "
    "figure footer form h1 h2 h3 h4 h5 h6 header hr legend li main menu nav ol p pre section "
    "table tbody td tfoot th thead tr ul".split()
)
_SILENT = frozenset("script style template head meta link noscript base title".split())
_CONTAINERS = {
    "nav": "navigation", "form": "form", "dialog": "dialog", "aside": "aside",
    "fieldset": "group", "section": "section", "main": "main", "header": "header",
    "footer": "footer", "table": "table", "article": "item",
}  # fmt: skip
_INPUTS = {
    "button": "button", "submit": "button", "reset": "button", "image": "button",
    "checkbox": "checkbox", "radio": "radio", "file": "file", "range": "slider",
    "number": "spinbutton", "search": "searchbox", "date": "date", "color": "color",
    "time": "time", "month": "month", "week": "week", "datetime-local": "datetime",
}  # fmt: skip
_ROLE_TAGS = frozenset("a input button select textarea summary".split())
_ROLE_ATTRS = frozenset("role contenteditable data-drag draggable data-drop data-clickable".split())
_STATE_ATTRS = frozenset("readonly disabled aria-current aria-selected data-focused".split())
_PERHAPS_HIDDEN = _SILENT | {"dialog", "input"}
_FRAME_TAGS = frozenset(("header", "footer", "nav"))
"""Parts that most pages of a site repeat; a brief view omits them."""

_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_FORM_FIELDS = frozenset(("input", "select", "textarea"))
_ACTIVE_ROLES = frozenset(
    "button link checkbox radio textbox combobox listbox option menuitem menuitemcheckbox tab "
    "switch slider spinbutton searchbox treeitem gridcell".split()
)


class PageText(NamedTuple):
    """A page as the agent reads it."""

    text: str
    ids: Mapping[int, int]
    """Numbers of all elements shown so far, by key."""

    elements: Mapping[int, Path]
    """Paths of all numbered elements that are currently shown."""

    content: tuple[str, ...]
    """Lines of the text outside headers, footers and navigation."""


def describe(body: PageNode, ids: Mapping[int, int]) -> PageText:
    """Write the accessibility tree.

    Args:
        body: The page.
        ids: Numbers given so far on this page, by element key.
    """
    index = _Index(body)
    writer = _Writer(body, ids, index)
    if index.dialog is None:
        writer.children(body, (), 0)
    else:
        path = next(path for path, node in iterate(body) if node is index.dialog)
        writer.lines.append("(an open dialog covers the page)")
        writer.block(index.dialog, path, 0, role_of(index.dialog))
    writer.flush(0)
    content = tuple(line for at, line in enumerate(writer.lines) if at not in writer.repeated)
    return PageText("\n".join(writer.lines), writer.ids, writer.elements, content)


def role_of(node: PageNode) -> str:
    """Return the role of an element that can be acted on; empty for others."""
    tag, attrs = node.tag, node.attrs
    if tag not in _ROLE_TAGS and (not attrs or _ROLE_ATTRS.isdisjoint(attrs)):
        return ""
    role = attrs.get("role", "")
    if role in _ACTIVE_ROLES:
        return role
    if tag == "a":
        return "link" if "href" in attrs else ""
    if tag == "input":
        kind = attrs.get("type", "text")
        return "" if kind == "hidden" else _INPUTS.get(kind, "textbox")
    if tag == "button":
        return "button"
    if tag == "select":
        return "listbox" if "multiple" in attrs else "combobox"
    if tag == "textarea" or attrs.get("contenteditable") in ("", "true"):
        return "textbox"
    if tag == "summary":
        return "disclosure"
    if "data-drag" in attrs or attrs.get("draggable") == "true":
        return "draggable"
    if "data-drop" in attrs:
        return "drop zone"
    return "clickable" if "data-clickable" in attrs else ""


def is_hidden(node: PageNode) -> bool:
    """Return whether an element itself is hidden, regardless of its ancestors."""
    attrs = node.attrs
    if "hidden" in attrs or node.tag in _SILENT:
        return True
    if node.tag == "dialog":
        return "open" not in attrs
    return node.tag == "input" and attrs.get("type") == "hidden"


class _Index:
    """Labels and overlays of a page's elements, found in one pass."""

    __slots__ = ("by_id", "dialog", "label_for")

    def __init__(self, body: PageNode) -> None:
        self.by_id: dict[str, PageNode] = {}
        self.label_for: dict[str, PageNode] = {}
        self.dialog: PageNode | None = None
        """The last open dialog."""

        stack = [body]
        while stack:
            node = stack.pop()
            attrs = node.attrs
            if "id" in attrs:
                self.by_id.setdefault(attrs["id"], node)
            if node.tag == "label":
                if "for" in attrs:
                    self.label_for.setdefault(attrs["for"], node)
            elif node.tag == "select":
                continue
            elif node.tag == "dialog" and "open" in attrs:
                self.dialog = node
            for child in reversed(node.children):
                if child.__class__ is PageNode:
                    stack.append(child)


class _Writer:
    """Writes lines while walking the page."""

    def __init__(self, body: PageNode, ids: Mapping[int, int], index: _Index) -> None:
        self.lines: list[str] = []
        self.ids: dict[int, int] = dict(ids)
        self.elements: dict[int, Path] = {}
        self.repeated: set[int] = set()
        """Numbers of the lines of headers, footers and navigation."""

        self._body = body
        self._line: list[str] = []
        self._by_id = index.by_id
        self._label_for = index.label_for

    def flush(self, depth: int, prefix: str = "") -> None:
        """End the current line."""
        line = self._line
        if line:
            whole = line[0] if len(line) == 1 else "".join(line)
            text = _marked(" ".join(whole.split()))
            line.clear()
            if text:
                self.lines.append(f"{'  ' * depth}{prefix}{text}")

    def children(self, node: PageNode, path: Path, depth: int) -> None:
        """Write the content of an element."""
        line, element = self._line, self.element
        for position, child in enumerate(node.children):
            if isinstance(child, str):
                line.append(child)
            else:
                element(child, (*path, position), depth)

    def element(self, node: PageNode, path: Path, depth: int) -> None:
        """Write an element."""
        tag = node.tag
        if "hidden" in node.attrs or (tag in _PERHAPS_HIDDEN and is_hidden(node)):
            return
        role = role_of(node)
        if role and role not in ("draggable", "drop zone"):
            self._active(node, path, role, depth)
        elif tag in _FRAME_TAGS:
            self.flush(depth)
            start = len(self.lines)
            self.block(node, path, depth, role)
            self.repeated.update(range(start, len(self.lines)))
        elif tag in _BLOCKS or role:
            self.block(node, path, depth, role)
        elif tag == "br":
            self.flush(depth)
        elif tag == "img":
            self._line.append(f' image "{node.get("alt")}" ' if node.get("alt") else "")
        elif tag == "iframe":
            self.flush(depth)
            self.lines.append(f'{"  " * depth}frame "{_unnumbered(node.get("title"))}":')
            self.children(node, path, depth + 1)
            self.flush(depth + 1)
        elif tag == "label" and self._labels_control(node):
            for position, child in enumerate(node.children):
                if isinstance(child, PageNode):
                    self.element(child, (*path, position), depth)
        else:
            self.children(node, path, depth)

    def block(self, node: PageNode, path: Path, depth: int, role: str) -> None:
        """Write an element that starts new lines."""
        tag = node.tag
        if tag == "td" or tag == "th":
            if self._line and "".join(self._line).strip():
                self._line.append(" | ")
            self._flat(node, path, depth)
            return
        if tag != "dd":  # it continues the line of its term
            self.flush(depth)
        label = _unnumbered(node.attrs.get("aria-label", ""))
        if role:
            head = f"[{self._number(node, path)}] {role}" + (f' "{label}"' if label else "")
            self.lines.append(f"{'  ' * depth}{head}:")
            self.children(node, path, depth + 1)
            self.flush(depth + 1)
        elif tag in _HEADINGS:
            self.children(node, path, depth)
            self.flush(depth, _HEADINGS[tag])
        elif tag == "li":
            start = len(self.lines)
            self.children(node, path, depth + 1)
            self.flush(depth + 1)
            if len(self.lines) > start:
                self.lines[start] = f"{'  ' * depth}- {self.lines[start].lstrip()}"
        elif tag == "tr":
            self.children(node, path, depth)
            self.flush(depth, "| ")
        elif tag == "dt":
            self.children(node, path, depth)
            self._line.append(": ")
            return
        elif tag == "dd":
            self.children(node, path, depth)
            self.flush(depth)
        elif tag == "details":
            self._details(node, path, depth)
        elif tag == "hr":
            return
        elif tag in _CONTAINERS and (label or tag in ("dialog", "form", "table")):
            name = f' "{label}"' if label else ""
            at = len(self.lines)
            self.lines.append(f"{'  ' * depth}{_CONTAINERS[tag]}{name}:")
            self.children(node, path, depth + 1)
            self.flush(depth + 1)
            if len(self.lines) == at + 1:
                self.lines.pop()
        else:
            self.children(node, path, depth)
            self.flush(depth)

    def _flat(self, node: PageNode, path: Path, depth: int) -> None:
        """Write the content of a table cell on the row's line."""
        for position, child in enumerate(node.children):
            if isinstance(child, str):
                self._line.append(child)
                continue
            below = (*path, position)
            if "hidden" in child.attrs or (child.tag in _PERHAPS_HIDDEN and is_hidden(child)):
                continue
            role = role_of(child)
            if role and role not in ("draggable", "drop zone"):
                self._active(child, below, role, depth)
            elif child.tag == "table":
                self.block(child, below, depth + 1, role)
            elif child.tag == "label" and self._labels_control(child):
                self._flat(_without_texts(child), below, depth)
            else:
                self._line.append(" ")
                self._flat(child, below, depth)
                self._line.append(" ")

    def _details(self, node: PageNode, path: Path, depth: int) -> None:
        is_open = "open" in node.attrs
        for position, child in enumerate(node.children):
            if isinstance(child, PageNode) and child.tag == "summary":
                number = self._number(child, (*path, position))
                state = "expanded" if is_open else "collapsed"
                self._line.append(f'{_MARK}{number}] disclosure "{text_of(child)}" {state}')
                self.flush(depth)
            elif is_open:
                if isinstance(child, str):
                    self._line.append(child)
                else:
                    self.element(child, (*path, position), depth + 1)
        self.flush(depth + 1)

    def _active(self, node: PageNode, path: Path, role: str, depth: int) -> None:
        number = self._number(node, path)
        name = self._name(node, role, path)
        state = _state(node, role)
        quoted = f" {_quoted(name)}" if name else ""
        if node.tag in _BLOCKS:
            self.flush(depth)
        self._line.append(f" {_MARK}{number}] {role}{quoted}{state} ")
        if node.tag in _BLOCKS:
            self.flush(depth)

    def _number(self, node: PageNode, path: Path) -> int:
        number = self.ids.get(node.key)
        if number is None:
            number = self.ids[node.key] = len(self.ids) + 1
        self.elements[number] = path
        return number

    def _name(self, node: PageNode, role: str, path: Path) -> str:
        attrs = node.attrs
        label = attrs.get("aria-label")
        if label:
            return label
        if "aria-labelledby" in attrs:
            names = (self._by_id.get(one) for one in attrs["aria-labelledby"].split())
            return " ".join(text_of(found) for found in names if found is not None)
        if node.tag in _FORM_FIELDS:
            if role == "button":
                return attrs.get("value") or attrs.get("alt") or attrs.get("title") or "Submit"
            return self._label_of(node, path) or attrs.get("placeholder") or attrs.get("title", "")
        name = text_of(node)
        if not name:
            name = _alt_of(node) or attrs.get("title", "")
        return name

    def _label_of(self, node: PageNode, path: Path) -> str:
        own = node.attrs.get("id")
        if own is not None:
            label = self._label_for.get(own)
            if label is not None:
                return _label_text(label)
        around = self._body
        found = ""
        for position in path[:-1]:
            child = around.children[position]
            assert isinstance(child, PageNode)
            around = child
            if around.tag == "label":
                found = _label_text(around)
        return found

    def _labels_control(self, label: PageNode) -> bool:
        """Whether a label's text is the name of a control, so that it is not written twice."""
        target = label.attrs.get("for")
        if target is not None:
            return target in self._by_id
        return any(
            isinstance(child, PageNode) and child.tag in _FORM_FIELDS for child in label.children
        )


def _marked(line: str) -> str:
    """Write element numbers, and escape page text that looks like one."""
    return _unnumbered(line).replace(_MARK, "[")


def _unnumbered(text: str) -> str:
    return _NUMBER.sub(r"\\[", text) if "[" in text else text


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _state(node: PageNode, role: str) -> str:
    attrs = node.attrs
    if node.tag not in _FORM_FIELDS and role != "switch" and _STATE_ATTRS.isdisjoint(attrs):
        return "" if role not in ("checkbox", "radio") else " " + _mark(attrs)
    parts = []
    if role in ("checkbox", "radio", "switch"):
        parts.append(_mark(attrs))
    elif role == "combobox" and node.tag == "select":
        labels, chosen = _options(node)
        shown = ", ".join(labels[:_MAX_OPTIONS])
        more = f" and {len(labels) - _MAX_OPTIONS} more" if len(labels) > _MAX_OPTIONS else ""
        parts.append(f"value {_quoted(chosen)} options: {shown}{more}")
    elif node.tag == "textarea":
        parts.append(f"value {_quoted(attrs.get('value', text_of(node)))}")
    elif node.tag == "input" and role != "button":
        value = attrs.get("value", "")
        if attrs.get("type") == "password":
            value = "•" * len(value)
        parts.append(f"value {_quoted(value)}")
    if "readonly" in attrs:
        parts.append("read-only")
    if "disabled" in attrs:
        parts.append("disabled")
    if attrs.get("aria-current") or attrs.get("aria-selected") == "true":
        parts.append("current")
    if "data-focused" in attrs:
        parts.append("focused")
    return (" " + " ".join(parts)) if parts else ""


def _mark(attrs: Mapping[str, str]) -> str:
    return "checked" if "checked" in attrs else "unchecked"


def _options(node: PageNode) -> tuple[list[str], str]:
    """Return the labels of a select's options, and the chosen one's."""
    labels: list[str] = []
    chosen = ""
    for option in _walk(node):
        if option.tag == "option":
            labels.append(text_of(option))
            if "selected" in option.attrs:
                chosen = labels[-1]
    return labels, chosen or (labels[0] if labels else "")


def _walk(node: PageNode) -> list[PageNode]:
    found = []
    for child in node.children:
        if isinstance(child, PageNode):
            found.append(child)
            found.extend(_walk(child))
    return found


def _label_text(label: PageNode) -> str:
    return " ".join(
        text_of(child)
        for child in label.children
        if isinstance(child, str) or child.tag not in ("input", "select", "textarea", "button")
    ).strip()


def _without_texts(node: PageNode) -> PageNode:
    # Paths stay valid: a text is replaced by an empty one.
    return node.with_children(["" if isinstance(each, str) else each for each in node.children])


def _alt_of(node: PageNode) -> str:
    return " ".join(
        each.get("alt") for each in _walk(node) if each.tag == "img" and each.get("alt")
    )
