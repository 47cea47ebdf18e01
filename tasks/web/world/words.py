"""Labels of sites: each in English and Chinese, in several wordings that looks choose from."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

from hexathlon.tasks.bilingual import Language

__all__ = ["WORDINGS", "WordError", "Words", "read_words", "wordings_of"]

WORDINGS = 4
"""Wordings of every label; a label that is given fewer times repeats them in turn."""

_Table = Mapping[str, Mapping[Language, tuple[str, ...]]]


class WordError(Exception):
    """A label is missing or lacks a language."""


class Words:
    """The labels of one site in one language and wording.

    Args:
        site: Name of the site.
        language: Language of the labels.
        wording: Which wording, from 0 to `WORDINGS` - 1.
    """

    def __init__(self, site: str, language: Language, wording: int) -> None:
        self._labels = _labels(site, language, wording % WORDINGS)
        self._site = site

    def __call__(self, key: str, **values: object) -> str:
        """Return a label, with `{name}` replaced by `values`.

        Raises:
            WordError: If the site has no such label.
        """
        label = self._labels.get(key)
        if label is None:
            raise WordError(f"the site {self._site!r} has no label {key!r} in its words.toml")
        return label.format(**values) if values else label


def wordings_of(site: str, key: str, language: Language) -> tuple[str, ...]:
    """Return every wording of a label."""
    table = read_words(site)
    if key not in table:
        raise WordError(f"the site {site!r} has no label {key!r} in its words.toml")
    return table[key][language]


@cache
def read_words(site: str) -> _Table:
    """Read the labels of a site and those that all sites share."""
    own = resources.files("hexathlon.tasks.web.world").joinpath("sites", site, "words.toml")
    shared = resources.files("hexathlon.tasks.web.world").joinpath("kit", "words.toml")
    table = {**_parse(shared.read_text("utf-8")), **_parse(own.read_text("utf-8"))}
    return table


@cache
def _labels(site: str, language: Language, wording: int) -> Mapping[str, str]:
    table = read_words(site)
    return {key: table[key][language][wording % len(table[key][language])] for key in table}


def _parse(text: str) -> dict[str, dict[Language, tuple[str, ...]]]:
    parsed: dict[str, dict[Language, tuple[str, ...]]] = {}
    for key, entry in tomllib.loads(text).items():
        if set(entry) != {"en", "zh"}:
            raise WordError(f"the label {key!r} needs 'en' and 'zh', got {sorted(entry)}")
        parsed[key] = {language: tuple(entry[language]) for language in ("en", "zh")}
    return parsed
