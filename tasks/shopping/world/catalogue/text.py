"""A text in the two languages of the catalogue."""

from dataclasses import dataclass
from typing import Literal, get_args

__all__ = ["LANGUAGES", "Language", "Text"]

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = get_args(Language)


@dataclass(frozen=True, slots=True)
class Text:
    """The same text in English and in Chinese; `text["zh"]` selects one."""

    en: str
    zh: str

    def __getitem__(self, language: Language) -> str:
        return self.zh if language == "zh" else self.en
