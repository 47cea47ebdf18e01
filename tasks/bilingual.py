"""Texts in English and in Chinese, the two languages of generated worlds."""

from dataclasses import dataclass
from typing import Literal, Self, get_args

__all__ = ["LANGUAGES", "BilingualText", "Language"]

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = get_args(Language)


@dataclass(frozen=True, slots=True)
class BilingualText:
    """The same text in English and in Chinese; `text["zh"]` selects one."""

    en: str
    zh: str

    def __getitem__(self, language: Language) -> str:
        return self.zh if language == "zh" else self.en

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse `English|Chinese`."""
        english, _, chinese = text.partition("|")
        return cls(english, chinese)
