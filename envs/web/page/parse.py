"""Parsing of pages for the twin: HTML that is well-formed XML, as the sites write it."""

from collections.abc import Iterator
from xml.parsers import expat

from hexathlon.envs.web.page.node import PageNode

__all__ = ["PageSyntaxError", "parse_fragment", "parse_page"]

_SKIPPED = frozenset(("head", "script", "style", "link", "meta"))


class PageSyntaxError(ValueError):
    """A page is not well-formed."""


def parse_page(html: str, keys: Iterator[int]) -> tuple[str, PageNode]:
    """Parse a page.

    Args:
        html: The page.
        keys: Numbers for the elements, taken in document order.

    Returns:
        The title and the body.

    Raises:
        PageSyntaxError: If the page is not well-formed, or has no body.
    """
    title, body = _built(html, keys)
    if body is None:
        raise PageSyntaxError("the page has no body")
    return " ".join(title.split()), body


def parse_fragment(html: str, keys: Iterator[int]) -> tuple[PageNode | str, ...]:
    """Parse a part of a page; arguments and errors as for `parse_page`."""
    body = _built(f"<body>{html}</body>", keys)[1]
    assert body is not None
    return tuple(body.children)


def _built(html: str, keys: Iterator[int]) -> tuple[str, PageNode | None]:
    """Return the title and the body of a page, built from the events of an XML parser."""
    # Functions without a class: this is the twin's innermost loop.
    root = PageNode("", {}, [], 0)
    stack = [root]
    title: list[str] = []
    skipped = 0
    found: list[PageNode] = []

    def start(tag: str, attrs: dict[str, str]) -> None:
        nonlocal skipped
        if skipped or tag in _SKIPPED:
            skipped += 1
            if tag == "title":
                stack.append(_title_of(title))
            return
        node = PageNode(tag, attrs, [], next(keys))
        if tag == "body":
            found.append(node)
        elif tag != "template":
            stack[-1].children.append(node)  # type: ignore[attr-defined]
        stack.append(node)

    def end(tag: str) -> None:
        nonlocal skipped
        if skipped:
            skipped -= 1
            if tag == "title":
                stack.pop()
            return
        node = stack.pop()
        if tag == "template":
            # A declarative shadow root: its content is shown before the host's own.
            stack[-1].children[:0] = node.children  # type: ignore[index]

    def text(data: str) -> None:
        if not skipped or stack[-1].tag == "title":
            stack[-1].children.append(data)  # type: ignore[attr-defined]

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    try:
        parser.Parse(html, True)
    except expat.ExpatError as error:
        line = html.splitlines()[max(0, error.lineno - 1)] if html else ""
        raise PageSyntaxError(f"the page is not well-formed: {error}: {line[:200]}") from None
    return "".join(title), found[0] if found else None


def _title_of(texts: list[str]) -> PageNode:
    return PageNode("title", {}, texts, 0)
