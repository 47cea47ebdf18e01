"""Requests and responses between a browser and a site, as plain values."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlencode, urljoin, urlsplit

__all__ = [
    "Download",
    "TraceEvent",
    "Upload",
    "WebRequest",
    "WebResponse",
    "decoded_path",
    "readable",
    "url_of",
]

_PATH_SAFE = "/:@!$&'()*+,;=~"
_UNREADABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that no page can contain."""


class Upload(NamedTuple):
    """A file sent with a form."""

    filename: str
    content: bytes


class Download(NamedTuple):
    """A file that a response offers to save."""

    filename: str
    content: bytes


@dataclass(frozen=True, slots=True)
class WebRequest:
    """One HTTP request, decoded."""

    method: str
    host: str
    path: str
    """Without percent encoding and dot segments."""

    query: tuple[tuple[str, str], ...] = ()
    form: tuple[tuple[str, str], ...] = ()
    files: Mapping[str, Upload] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Arbitrary input of an agent, which sites store and show on pages.
        if _UNREADABLE.search(self.path):
            object.__setattr__(self, "path", readable(self.path))
        for name in ("query", "form"):
            fields = getattr(self, name)
            if fields and any(map(_UNREADABLE.search, chain.from_iterable(fields))):
                clean = tuple((readable(key), readable(value)) for key, value in fields)
                object.__setattr__(self, name, clean)

    @classmethod
    def get(cls, url: str, cookies: Mapping[str, str] | None = None) -> "WebRequest":
        """Make a GET request for an absolute URL."""
        parts = urlsplit(url)
        query = tuple(parse_qsl(parts.query, keep_blank_values=True))
        return cls("GET", parts.netloc, decoded_path(parts.path), query, cookies=cookies or {})

    @property
    def url(self) -> str:
        """The absolute URL, without a fragment."""
        return url_of(self.host, self.path, self.query)


@dataclass(frozen=True, slots=True)
class WebResponse:
    """One HTTP response."""

    status: int = 200
    body: str = ""
    location: str = ""
    """Target of a redirect: a path of the same host or an absolute URL."""

    cookies: Mapping[str, str] = field(default_factory=dict)
    """Cookies to set; an empty value deletes one."""

    download: Download | None = None
    media_type: str = "text/html"


class TraceEvent(NamedTuple):
    """One request of the episode, as stored for the verifier."""

    method: str
    host: str
    path: str
    query: tuple[tuple[str, str], ...]
    form: tuple[tuple[str, str], ...]
    status: int

    def to_json(self) -> list[Any]:
        """Return the event as JSON: method, URL, form fields, status."""
        url = url_of(self.host, self.path, self.query)
        return [self.method, url, [list(item) for item in self.form], self.status]


def readable(text: str) -> str:
    """Replace control characters and lone surrogates, which no page can contain, with U+FFFD."""
    return _UNREADABLE.sub("\ufffd", text)


def url_of(host: str, path: str, query: Sequence[tuple[str, str]] = ()) -> str:
    """Assemble an absolute URL."""
    return f"http://{host}{_quoted(path)}" + (f"?{urlencode(query)}" if query else "")


@lru_cache(maxsize=4096)
def _quoted(path: str) -> str:
    return quote(path, safe=_PATH_SAFE)


def decoded_path(path: str) -> str:
    """Return the path of a URL without percent encoding and dot segments."""
    if "%" in path or "." in path:
        path = unquote(urljoin("/", path))
    return path if path.startswith("/") else f"/{path}"
