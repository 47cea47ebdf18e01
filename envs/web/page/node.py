"""Nodes of a page. They are never changed in place, so that forks can share them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["PageNode", "Path", "at", "find", "iterate", "replaced", "text_of"]

_SILENT = ("script", "style", "template")

Path = tuple[int, ...]
"""Positions of children on the way from the root to a node."""


class PageNode:
    """An element.

    Attributes:
        tag: Tag name in lower case.
        attrs: Attributes, including the live state: `value`, `checked`, `selected`, `open`,
            `hidden`, `disabled`.
        children: Elements and texts, in order; those of a shadow root come first.
        key: Identity of the element in the browser, or a number that the twin gave it; it stays
            with the element when its attributes change.
    """

    __slots__ = ("attrs", "children", "key", "tag")

    def __init__(
        self, tag: str, attrs: Mapping[str, str], children: "Sequence[PageNode | str]", key: int
    ) -> None:
        self.tag = tag
        self.attrs = attrs
        self.children = children
        self.key = key

    def __repr__(self) -> str:
        return f"<{self.tag} {dict(self.attrs)} #{self.key}>"

    def get(self, name: str, default: str = "") -> str:
        """Return an attribute."""
        return self.attrs.get(name, default)

    def has(self, name: str) -> bool:
        """Return whether the attribute is there, whatever its value."""
        return name in self.attrs

    def with_attrs(self, **changes: str | None) -> "PageNode":
        """Return a copy with other attributes; None removes one."""
        attrs: dict[str, Any] = {**self.attrs, **{k.rstrip("_"): v for k, v in changes.items()}}
        kept = {name: value for name, value in attrs.items() if value is not None}
        return PageNode(self.tag, kept, self.children, self.key)

    def with_children(self, children: "Sequence[PageNode | str]") -> "PageNode":
        """Return a copy with other children."""
        return PageNode(self.tag, self.attrs, tuple(children), self.key)


def iterate(node: PageNode, path: Path = ()) -> Iterator[tuple[Path, PageNode]]:
    """Yield every element with its path, in document order."""
    yield path, node
    for position, child in enumerate(node.children):
        if isinstance(child, PageNode):
            yield from iterate(child, (*path, position))


def at(root: PageNode, path: Path) -> PageNode:
    """Return the element at a path."""
    node = root
    for position in path:
        child = node.children[position]
        if isinstance(child, str):
            raise LookupError(f"there is a text at {path}")
        node = child
    return node


def find(root: PageNode, name: str, value: str) -> Path | None:
    """Return the path of the first element whose attribute `name` is `value`."""
    return next((path for path, node in iterate(root) if node.attrs.get(name) == value), None)


def replaced(root: PageNode, path: Path, node: PageNode) -> PageNode:
    """Return the tree with another element at a path; the rest is shared."""
    if not path:
        return node
    position = path[0]
    child = root.children[position]
    if isinstance(child, str):
        raise LookupError(f"there is a text at {path}")
    children = list(root.children)
    children[position] = replaced(child, path[1:], node)
    return root.with_children(children)


def text_of(node: PageNode | str) -> str:
    """Return the text inside a node, with white space collapsed."""
    if not isinstance(node, str) and len(node.children) == 1:
        only = node.children[0]
        if isinstance(only, str) and node.tag not in _SILENT:
            return " ".join(only.split())
    texts: list[str] = []
    _collect(node, texts)
    return " ".join("".join(texts).split())


def _collect(node: PageNode | str, texts: list[str]) -> None:
    if isinstance(node, str):
        texts.append(node)
    elif node.tag not in _SILENT:
        for child in node.children:
            _collect(child, texts)
