"""Recorded network events, in the form of a HAR file, and the URLs in them."""

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from hexathlon.evaluators.web.kinds import is_pattern

__all__ = ["EventUrl", "Event", "event_of", "har_entry"]

_ASSETS = (".css", ".js", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".woff", ".woff2", ".ttf",
           ".ico", ".webp")  # fmt: skip


class EventUrl(NamedTuple):
    """A parsed URL, or a pattern for URLs."""

    base: str
    """Scheme, host and path; with a pattern, the pattern."""

    query: Mapping[str, tuple[str, ...]]
    """Values by parameter, in lower case and sorted."""

    @classmethod
    def parse(cls, url: str, *, decode_base64: bool = False) -> "EventUrl":
        """Parse a URL; with `decode_base64`, queries hidden in its path are read, too."""
        if is_pattern(url):
            return cls(url, {})
        parts = urlsplit(url.strip())
        path, queries = parts.path, [parts.query]
        if decode_base64:
            path, hidden = _hidden_queries(path)
            queries = [*hidden, parts.query]
        host = re.sub(r"^(.*):(80|443)$", r"\1", parts.netloc.lower())
        fragment = f"#{parts.fragment}" if parts.fragment else ""
        query = parse_qs("&".join(filter(None, queries)), keep_blank_values=True)
        return cls(f"{parts.scheme.lower()}://{host}{path}{fragment}", _folded(query))

    def with_query(self, query: Mapping[str, Sequence[str]]) -> "EventUrl":
        """Return the URL with another query."""
        return EventUrl(self.base, _folded(query))

    def same_path(self, given: "EventUrl") -> bool:
        """Whether another URL has this host and path, or fits this pattern."""
        if is_pattern(self.base):
            texts = (given.base, unquote(given.base))
            return any(re.match(self.base, text) is not None for text in texts)
        return _plain(self.base) == _plain(given.base)


class Event:
    """One request with its response."""

    def __init__(self, entry: Mapping[str, Any]) -> None:
        self._request: Mapping[str, Any] = entry["request"]
        self._response: Mapping[str, Any] = entry["response"]
        self.url: str = self._request["url"]
        self.method: str = self._request["method"].upper()
        self.status: int = self._response["status"]

    @cached_property
    def headers(self) -> dict[str, str]:
        """Headers of the request, by name in lower case."""
        return {each["name"].lower(): each["value"] for each in self._request.get("headers", ())}

    @cached_property
    def sent(self) -> Mapping[str, Any] | None:
        """Fields of the request's body; None if it has no readable ones."""
        return _fields(self._request.get("postData"))

    @cached_property
    def content(self) -> Mapping[str, Any] | None:
        """Fields of the response's body; None if it is not an object."""
        return _fields(self._response.get("content"))

    @cached_property
    def cookies(self) -> dict[str, str]:
        """Cookies that the response sets."""
        return {
            each["name"]: unquote(each.get("value", ""))
            for each in self._response.get("cookies", ())
        }

    @property
    def is_asset(self) -> bool:
        """Whether a style sheet, script, image or font was loaded."""
        return urlsplit(self.url).path.endswith(_ASSETS)

    @property
    def is_navigation(self) -> bool:
        """Whether the user's action opened a page."""
        if self.method != "GET":
            return False
        headers = {name: value.lower() for name, value in self.headers.items()}
        if "sec-fetch-user" in headers:
            marks = [headers.get(f"sec-fetch-{name}") for name in ("dest", "mode", "user")]
            html = "text/html" in headers.get("accept", "")
            return marks == ["document", "navigate", "?1"] and html
        return headers.get("accept", "").startswith("text/html")


def event_of(entry: Mapping[str, Any]) -> Event:
    """Read an entry of a HAR file, or a snapshot of a Playwright trace."""
    return Event(entry.get("snapshot", entry))


def har_entry(
    method: str, url: str, form: Sequence[Sequence[str]] = (), status: int = 200
) -> dict[str, Any]:
    """Return a simulated site's request, as stored in its trace, as a HAR entry."""
    headers = [{"name": "accept", "value": "text/html"}]
    request: dict[str, Any] = {"method": method, "url": url, "headers": headers}
    if form:
        text = json.dumps({name: value for name, value in reversed(form)})
        request["postData"] = {"mimeType": "application/json", "text": text}
    return {"request": request, "response": {"status": status, "headers": []}}


def _fields(body: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Read a body by its media type: the first value of each form field, or a JSON object."""
    text = (body or {}).get("text") or ""
    media = str((body or {}).get("mimeType", ""))
    if not text:
        return None
    if "application/x-www-form-urlencoded" in media:
        return {name: values[0] for name, values in parse_qs(text, keep_blank_values=True).items()}
    if "application/json" in media:
        try:
            parsed = json.loads(text)
        except json.JSONDecodeError:
            return None
        return parsed if isinstance(parsed, Mapping) else None
    boundary = re.search(r"boundary=([^;\s]+)", media) if "multipart/form-data" in media else None
    return _multipart(text, boundary[1]) if boundary else None


def _multipart(text: str, boundary: str) -> dict[str, str]:
    fields = {}
    for part in text.split(f"--{boundary}"):
        head, blank, body = part.strip("\r\n").replace("\r\n", "\n").partition("\n\n")
        name = re.search(r'content-disposition:.*?name="([^"]+)"', head, re.IGNORECASE)
        if blank and name:
            fields[name[1]] = body.rstrip("\n")
    return fields


def _hidden_queries(path: str) -> tuple[str, list[str]]:
    """Return a path without its base64 segments that hold queries, and the queries."""
    kept, queries = [], []
    for segment in path.split("/"):
        query = _decoded(segment)
        if "=" in query:
            queries.append(unquote(query).strip().lstrip("?&"))
        else:
            kept.append(segment)
    return "/".join(kept), queries


def _decoded(segment: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]{4,}={0,2}", segment):
        return ""
    try:
        padded = segment.rstrip("=") + "=" * (-len(segment.rstrip("=")) % 4)
        return base64.urlsafe_b64decode(padded).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _folded(query: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    return {
        name: tuple(sorted(str(value).lower().strip() for value in values))
        for name, values in query.items()
    }


def _plain(url: str) -> str:
    return unquote(url).lower().rstrip("/")
