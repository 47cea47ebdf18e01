"""Probes: texts of pages that are read from the browser when an episode has ended.

A published check names a URL and a JavaScript expression, or a helper function by its Python call.
Calls are parsed, never evaluated: known helpers become a URL or an expression, any other makes the
probe `unsupported`, and the check that needs it is left unscored.
"""

import ast
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

__all__ = ["ProbeCall", "parse_call", "post_url", "probe_of"]

_SCRIPT = re.compile(r"document\.|\[\.\.\.document\.")
_ROLE = """(() => {
  const names = [...document.querySelectorAll(
    "td[data-label='Account'] span.gl-avatar-labeled-sublabel")];
  const place = names.findIndex((each) => each.outerText === "@" + %s);
  return document.querySelectorAll("td.col-max-role span")[place].outerText;
})()"""
_QUERY_TEXT = '(document.querySelector(%s)?.textContent ?? "")'


class ProbeCall(NamedTuple):
    """A call of a helper function."""

    name: str
    arguments: tuple[str, ...]


def probe_of(target: Mapping[str, Any]) -> dict[str, Any]:
    """Return the probe of one published `program_html` target.

    Returns:
        `url` (a URL, `last`, or `post of last`), `kind` (`script`, `page` or `unsupported`),
        `expression` (JavaScript; the whole page's HTML is read if empty) and `prepare`
        (expressions that are run before).
    """
    url, kind = _url_of(target["url"])
    locator = target["locator"].strip()
    expression = ""
    if not locator:
        kind = kind or "page"
    elif _SCRIPT.match(locator):
        kind, expression = kind or "script", locator
    elif locator.startswith("lambda:"):
        kind, expression = kind or "script", locator.removeprefix("lambda:")
    else:
        expression = _expression_of(parse_call(locator))
        kind = kind or ("script" if expression else "unsupported")
    return {
        "url": url,
        "kind": kind,
        "expression": expression,
        "prepare": list(target.get("prep_actions", ())),
    }


def parse_call(text: str) -> ProbeCall | None:
    """Parse `func:name(arguments)`; None unless it is one call with constant arguments."""
    text = text.removeprefix("func:")
    try:
        call = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.keywords:
        return None
    arguments = []
    for argument in call.args:
        if isinstance(argument, ast.Name):
            arguments.append(argument.id)
        elif isinstance(argument, ast.Constant):
            arguments.append(str(argument.value))
        else:
            return None
    return ProbeCall(call.func.id, tuple(arguments))


def post_url(url: str) -> str:
    """Return the URL of the post that a page of the forum belongs to, else the URL itself."""
    parts = urlsplit(url)
    steps = parts.path.split("/")
    if len(steps) < 4 or steps[1] != "f":
        return url
    return f"{parts.scheme}://{parts.netloc}/f/{steps[2]}/{steps[3]}/"


def _url_of(text: str) -> tuple[str, str]:
    if not text.startswith("func"):
        return text, ""
    call = parse_call(text)
    if call == ProbeCall("reddit_get_post_url", ("__last_url__",)):
        return "post of last", ""
    return "last", "unsupported"


def _expression_of(call: ProbeCall | None) -> str:
    if call is None or len(call.arguments) != 2 or call.arguments[0] != "__page__":
        return ""
    if call.name == "gitlab_get_project_memeber_role":
        return _ROLE % json.dumps(call.arguments[1])
    if call.name == "get_query_text":
        return _QUERY_TEXT % json.dumps(call.arguments[1])
    return ""
