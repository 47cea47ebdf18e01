"""Forms of a page: their fields, the values that are sent, and changes of fields."""

import re
from datetime import date
from typing import NamedTuple

from hexathlon.envs.web.errors import ActionError
from hexathlon.envs.web.page.node import PageNode, Path, at, iterate, replaced, text_of

__all__ = [
    "FormSubmission",
    "choose",
    "default_button",
    "fill",
    "form_around",
    "submission",
    "tick",
]

_TEXT_KINDS = ("text", "search", "email", "url", "tel", "password", "number", "date", "time",
               "month", "week", "datetime-local")  # fmt: skip


_TIME = r"(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?"
_FORMATS = {
    "number": (r"-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d{1,2})?", "a number"),
    "date": (r"\d{4}-\d\d-\d\d", "a date such as 2026-01-31"),
    "month": (r"\d{4}-(?:0[1-9]|1[0-2])", "a month such as 2026-01"),
    "week": (r"\d{4}-W(?:0[1-9]|[1-4]\d|5[0-2])", "a week such as 2026-W05"),
    "time": (_TIME, "a time such as 14:30"),
    "datetime-local": (rf"\d{{4}}-\d\d-\d\dT{_TIME}", "a time such as 2026-01-31T14:30"),
}
"""Pattern of valid values by type of field, and its description for the agent."""


class FormSubmission(NamedTuple):
    """The data that a form sends."""

    method: str
    action: str
    fields: tuple[tuple[str, str], ...]
    files: dict[str, str]
    """Names of chosen files, by field."""

    new_tab: bool = False


def form_around(body: PageNode, path: Path) -> Path | None:
    """Return the path of the form that an element belongs to."""
    own = at(body, path).get("form")
    if own:
        return next((where for where, node in iterate(body) if node.get("id") == own), None)
    for depth in range(len(path), -1, -1):
        if at(body, path[:depth]).tag == "form":
            return path[:depth]
    return None


def default_button(body: PageNode, form: Path) -> Path | None:
    """Return the first submit button of a form, which Enter in a field presses."""
    for where, node in iterate(at(body, form), form):
        kind = node.get("type", "submit" if node.tag == "button" else "text")
        if node.tag in ("button", "input") and kind in ("submit", "image"):
            return where
    return None


def submission(body: PageNode, form: Path, button: Path | None) -> FormSubmission:
    """Collect the data that a form sends when a button is pressed."""
    root = at(body, form)
    pressed = at(body, button) if button is not None else None
    action = root.get("action")
    method = root.get("method", "get")
    if pressed is not None and pressed.has("formaction"):
        action = pressed.get("formaction")
    if pressed is not None and pressed.has("formmethod"):
        method = pressed.get("formmethod")
    sends_files = method != "get" and root.get("enctype") == "multipart/form-data"
    fields: list[tuple[str, str]] = []
    files: dict[str, str] = {}
    for where, node in iterate(root, form):
        name = node.get("name")
        if not name or node.has("disabled"):
            continue
        kind = node.get("type", "text")
        if node.tag == "input" and kind in ("checkbox", "radio"):
            if node.has("checked"):
                fields.append((name, node.get("value", "on")))
        elif node.tag == "input" and kind == "file":
            if sends_files:
                files[name] = node.get("value")
            else:
                fields.append((name, node.get("value")))
        elif node.tag == "button" or (node.tag == "input" and kind in ("submit", "image")):
            if where == button:
                fields.append((name, node.get("value")))
        elif node.tag == "input" and kind not in ("button", "reset"):
            fields.append((name, node.get("value")))
        elif node.tag == "textarea":
            fields.append((name, _lines(node.attrs.get("value", _raw_text(node)))))
        elif node.tag == "select":
            fields.extend((name, value) for value in _chosen(node))
    return FormSubmission(
        method.upper(), action, tuple(fields), files, root.get("target") == "_blank"
    )


def fill(body: PageNode, path: Path, text: str) -> PageNode:
    """Return the page with a text in a field.

    Raises:
        ActionError: If the element takes no text, or not this text.
    """
    node = at(body, path)
    kind = node.get("type", "text")
    if node.tag not in ("input", "textarea") or (node.tag == "input" and kind not in _TEXT_KINDS):
        raise ActionError("this element takes no text")
    if node.has("readonly"):
        raise ActionError("this field is read-only")
    if node.tag == "input":
        text = " ".join(text.splitlines())
        check_format(kind, text)
    return replaced(body, path, node.with_attrs(value=text))


def check_format(kind: str, text: str) -> None:
    """Raise `ActionError` if a field of this kind cannot hold the text."""
    if not text:
        return
    pattern, about = _FORMATS.get(kind, ("", ""))
    if pattern and not re.fullmatch(pattern, text):
        raise ActionError(f"this field takes {about}")
    if kind in ("date", "datetime-local"):
        try:
            date.fromisoformat(text[:10])
        except ValueError:
            raise ActionError(f"this field takes {about}") from None


def choose(body: PageNode, path: Path, options: list[str]) -> PageNode:
    """Return the page with options of a select chosen, by label or value.

    Raises:
        ActionError: If the element is not a select, or has no such option.
    """
    node = at(body, path)
    if node.tag != "select":
        raise ActionError("this element has no options")
    if len(options) != 1 and not node.has("multiple"):
        raise ActionError("choose exactly one option here")
    all_options = [(where, each) for where, each in iterate(node, path) if each.tag == "option"]
    wanted: set[Path] = set()
    for option in options:
        found = [where for where, each in all_options if text_of(each) == " ".join(option.split())]
        found += [where for where, each in all_options if each.get("value") == option]
        if not found:
            labels = ", ".join(text_of(each) for _, each in all_options[:60])
            raise ActionError(f"there is no option {option[:80]!r}; the options are: {labels}")
        wanted.add(found[0])
    for where, each in all_options:
        if (where in wanted) != each.has("selected"):
            mark = "selected" if where in wanted else None
            body = replaced(body, where, each.with_attrs(selected=mark))
    return body


def tick(body: PageNode, path: Path) -> PageNode:
    """Return the page with a check box toggled, or a radio button chosen."""
    node = at(body, path)
    if node.get("type") == "checkbox":
        return replaced(body, path, node.with_attrs(checked=None if node.has("checked") else ""))
    form = form_around(body, path)
    for where, each in list(iterate(body)):
        same = each.tag == "input" and each.get("type") == "radio"
        if same and each.get("name") == node.get("name") and form_around(body, where) == form:
            checked = "" if where == path else None
            if each.has("checked") != (checked is not None):
                body = replaced(body, where, at(body, where).with_attrs(checked=checked))
    return body


def _chosen(select: PageNode) -> list[str]:
    options = [each for _, each in iterate(select) if each.tag == "option"]
    values = [each.attrs.get("value", text_of(each)) for each in options if each.has("selected")]
    if select.has("multiple"):
        return values
    if values:
        return values[-1:]
    return [each.attrs.get("value", text_of(each)) for each in options[:1]]


def _raw_text(node: PageNode) -> str:
    text = "".join(child for child in node.children if isinstance(child, str))
    return text.removeprefix("\n")


def _lines(text: str) -> str:
    """Normalise line ends, as sites receive them from either browser."""
    return text.replace("\r\n", "\n")
