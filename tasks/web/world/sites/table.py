"""Registry of sites by name and by host; a site is imported on first use."""

import importlib
from functools import cache

from hexathlon.tasks.web.world.site import Site

__all__ = ["DOMAIN", "SITE_NAMES", "site_at", "site_named"]

SITE_NAMES = (
    "tracker", "mail", "calendar", "shop", "bank", "forum", "wiki", "cms", "maps", "sheets",
)  # fmt: skip
"""Names of all sites; the module of each is `sites/NAME/site.py`, its instance `SITE`."""

DOMAIN = "hexathlon.test"


@cache
def site_named(name: str) -> Site:
    """Return a site by name.

    Raises:
        KeyError: If there is no such site.
    """
    if name not in SITE_NAMES:
        raise KeyError(f"there is no site {name!r}; the sites are {', '.join(SITE_NAMES)}")
    module = importlib.import_module(f"hexathlon.tasks.web.world.sites.{name}.site")
    site: Site = module.SITE
    return site


@cache
def site_at(host: str) -> Site | None:
    """Return the site at a host, or None."""
    name, _, domain = host.partition(".")
    return site_named(name) if domain == DOMAIN and name in SITE_NAMES else None
