"""The people of a house: roles, sizes, what they cannot tolerate, and what they may decide."""

import numpy as np

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.shopping.world.household.goods import CONTENTS
from hexathlon.tasks.shopping.world.wording import say

__all__ = ["HousePerson", "draw_people"]

_NAMES = {
    "en": (("Ana", "Clara", "Ines", "Maria"), ("Ben", "David", "Jonas", "Omar"),
           ("Mia", "Zoe", "Lena"), ("Leo", "Finn", "Sami"), ("Rosa", "Vera", "Edith")),
    "zh": (("林芳", "王静", "赵敏"), ("陈伟", "李强", "周涛"), ("小雨", "朵朵", "甜甜"),
           ("小乐", "豆豆", "阳阳"), ("张桂兰", "刘秀英", "何玉珍")),
}  # fmt: skip
_ROLES = (
    ("mother", "妈妈"), ("father", "爸爸"), ("daughter", "女儿"), ("son", "儿子"),
    ("grandmother", "外婆"),
)  # fmt: skip


class HousePerson:
    """A member of the house.

    Args:
        name: Name.
        role: Position in `_ROLES`.
    """

    def __init__(self, name: str, role: int) -> None:
        self.name = name
        self.role = role
        self.without: set[str] = set()
        """What the person cannot tolerate at present."""

        self.lures: set[str] = set()
        """What the person was once thought not to tolerate."""

        self.sizes: dict[str, str] = {}
        """Sizes that hold, by what they are sizes of: `height` or `shoe`."""

        self.old_sizes: dict[str, str] = {}
        self.facts: list[str] = []

    @property
    def child(self) -> bool:
        """Whether it is a child."""
        return self.role in (2, 3)


def draw_people(
    rng: np.random.Generator, language: Language, grows: int, *, aged: bool
) -> list[HousePerson]:
    """Draw the five people of a house.

    Args:
        rng: Random stream.
        language: Language of names and facts.
        grows: Age of a measurement, in days, after which the next size is taken.
        aged: Whether measurements can be that old.
    """
    people = []
    for role, names in enumerate(_NAMES[language]):
        people.append(HousePerson(names[int(rng.integers(len(names)))], role))
    for person in people:
        en, zh = _ROLES[person.role]
        person.facts.append(say(language, f"{person.name}, the {en}", f"{person.name}，家里的{zh}"))
    slugs = [str(slug) for slug in rng.permutation(sorted(CONTENTS))]
    for person, slug in zip([people[int(i)] for i in rng.permutation(5)[:3]], slugs, strict=False):
        person.without.add(slug)
        thing = CONTENTS[slug][language == "zh"]
        person.facts.append(
            say(language, f"allergic to {thing} (diagnosed last year)",
                f"对{thing}过敏（去年医生诊断）")
        )  # fmt: skip
    for person, slug in zip([people[int(i)] for i in rng.permutation(5)[:2]], slugs[3:],
                            strict=False):  # fmt: skip
        person.lures.add(slug)
        thing = CONTENTS[slug][language == "zh"]
        person.facts.append(
            say(language, f"once thought allergic to {thing}; this spring's test was negative",
                f"以前怀疑对{thing}过敏，今年春天复查为阴性")
        )  # fmt: skip
    for person in people:
        if person.child:
            _measure(rng, person, language, grows, aged)
    return people


def _measure(
    rng: np.random.Generator, person: HousePerson, language: Language, grows: int, aged: bool
) -> None:
    """Draw two measurements of a child; the later one holds, with a size more if it is old."""
    for what, scale, words in (
        ("height", (116, 122, 128, 134, 140), ("clothes", "衣服")),
        ("shoe", (30, 31, 32, 33, 34), ("shoes", "鞋子")),
    ):
        place = int(rng.integers(1, 4))
        old = aged and rng.random() < 0.5
        days = grows + int(rng.integers(1, 20)) if old else int(rng.integers(2, grows))
        person.sizes[what] = str(scale[place + 1 if old else place])
        person.old_sizes[what] = str(scale[place])
        former = days + int(rng.integers(60, 150))
        lines = [
            say(language, f"{words[0]}: size {scale[place - 1]}, measured {former} days before "
                "the month began", f"{words[1]}：{scale[place - 1]}码，月初前{former}天量的"),
            say(language, f"{words[0]}: size {scale[place]}, measured {days} days before the month "
                "began", f"{words[1]}：{scale[place]}码，月初前{days}天量的"),
        ]  # fmt: skip
        person.facts += [lines[int(i)] for i in rng.permutation(2)]
