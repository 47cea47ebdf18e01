"""Labels of apps: each in English and Chinese, in several wordings that looks choose from."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

from hexathlon.tasks.bilingual import Language

__all__ = ["LabelMissing", "label", "labels_of", "wording_of", "wordings"]

_Table = Mapping[str, Mapping[str, tuple[str, ...]]]


class LabelMissing(Exception):
    """A label is missing or lacks a language."""


@cache
def wording_of(app: str, language: Language, wording: int) -> Mapping[str, str]:
    """Return all labels of an app in one wording."""
    return {
        key: entry[language][wording % len(entry[language])]
        for key, entry in labels_of(app).items()
    }


def label(app: str, key: str, language: Language, wording: int) -> str:
    """Return a label of an app in one wording.

    Raises:
        LabelMissing: If the app has no such label.
    """
    text = wording_of(app, language, wording).get(key)
    if text is None:
        raise LabelMissing(f"the app {app!r} has no label {key!r} in its words.toml")
    return text


def wordings(app: str, key: str, language: Language) -> tuple[str, ...]:
    """Return every wording of a label of an app."""
    entry = labels_of(app).get(key)
    if entry is None:
        raise LabelMissing(f"the app {app!r} has no label {key!r} in its words.toml")
    return entry[language]


@cache
def labels_of(app: str) -> _Table:
    """Read the labels of an app and those that all apps share.

    Raises:
        LabelMissing: If a label lacks one of the two languages.
    """
    folder = resources.files("hexathlon.tasks.gui.world")
    shared = _parse(folder.joinpath("kit", "words.toml").read_text("utf-8"))
    if app == "system":
        return shared
    return {**shared, **_parse(folder.joinpath("apps", app, "words.toml").read_text("utf-8"))}


def _parse(text: str) -> dict[str, dict[str, tuple[str, ...]]]:
    parsed: dict[str, dict[str, tuple[str, ...]]] = {}
    for key, entry in tomllib.loads(text).items():
        if set(entry) != {"en", "zh"}:
            raise LabelMissing(f"the label {key!r} needs 'en' and 'zh', got {sorted(entry)}")
        parsed[key] = {
            language: tuple([texts] if isinstance(texts, str) else texts)
            for language, texts in entry.items()
        }
    return parsed
