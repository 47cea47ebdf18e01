"""URLs of the user's own copies of a benchmark's sites.

Tasks keep the placeholders of the published files (`__SHOPPING__`), so that their hashes are the
same everywhere; the environment replaces them when an episode begins, verifiers when they grade.
"""

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from hexathlon.tasks.errors import TaskError

__all__ = ["SITES", "SiteUrlMissing", "placeholders_in", "resolved", "site_urls"]

SITES = (
    "shopping", "shopping_admin", "reddit", "gitlab", "map", "wikipedia", "classifieds", "homepage",
    "ssh_host",
)  # fmt: skip
"""Names of sites in WebArena, WebArena-Verified and VisualWebArena."""

_VARIABLE = "HEXATHLON_SITE_"
_PLACEHOLDER = re.compile(r"__(" + "|".join(sorted(map(str.upper, SITES), key=len)[::-1]) + r")__")


class SiteUrlMissing(TaskError):
    """A task needs a site whose URL is not known."""


def site_urls(given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the URL of every known site, without a trailing slash.

    Args:
        given: URLs by site, which take precedence over the environment variables
            `HEXATHLON_SITE_SHOPPING`, `HEXATHLON_SITE_GITLAB` and so on.

    Raises:
        SiteUrlMissing: If a name is not a site's, or a URL is not one.
    """
    urls = {
        name: os.environ[_VARIABLE + name.upper()]
        for name in SITES
        if os.environ.get(_VARIABLE + name.upper())
    }
    urls |= dict(given or {})
    for name, url in urls.items():
        if name not in SITES:
            raise SiteUrlMissing(f"there is no site {name!r}; the sites are {', '.join(SITES)}")
        if name != "ssh_host" and not re.match(r"https?://[^/]", url):
            raise SiteUrlMissing(f"the URL of {name} must begin with http:// or https://: {url!r}")
    return {name: url.rstrip("/") for name, url in urls.items()}


def placeholders_in(value: Any) -> list[str]:
    """Return the names of the sites that a JSON value refers to, in order of appearance."""
    if isinstance(value, str):
        return [name.lower() for name in dict.fromkeys(_PLACEHOLDER.findall(value))]
    items: Iterable[Any] = ()
    if isinstance(value, Mapping):
        items = (*value.keys(), *value.values())
    elif isinstance(value, list | tuple):
        items = value
    return list(dict.fromkeys(name for item in items for name in placeholders_in(item)))


def resolved(value: Any, urls: Mapping[str, str]) -> Any:
    """Return a JSON value with every placeholder replaced.

    Raises:
        SiteUrlMissing: If the URL of a site is not known.
    """
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda found: _url(found[1].lower(), urls), value)
    if isinstance(value, Mapping):
        return {resolved(key, urls): resolved(item, urls) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [resolved(item, urls) for item in value]
    return value


def _url(name: str, urls: Mapping[str, str]) -> str:
    if name not in urls:
        known = ", ".join(sorted(urls)) or "none"
        raise SiteUrlMissing(
            f"the task needs the site {name!r}, whose URL is not known: set {_VARIABLE}"
            f"{name.upper()} or pass sites={{{name!r}: 'http://…'}}; known are: {known}"
        )
    return urls[name]
