"""Whether the prose of a reply agrees with its typed act, as far as code can decide.

`read_prose` returns contradictions, each by name, and whether the rest of the reply was decided.
A reply is decided if it consists of its values, the visitor's words and a small vocabulary, and no
clause is left over; everything else is *unverified prose*, which only a judge can read.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from hexathlon.evaluators.roleplay import cues
from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.roleplay.lexicon import SETTINGS, setting
from hexathlon.tasks.roleplay.numerals import numbers
from hexathlon.tasks.roleplay.text import fold, found
from hexathlon.tasks.task import SPLITS

__all__ = ["ProseReading", "SpokenAct", "read_prose"]


class ProseReading(NamedTuple):
    """The result for one reply."""

    faults: tuple[str, ...]
    """Names of the contradictions."""

    decided: bool
    """Whether code decided the whole reply; False for unverified prose without a fault."""


@dataclass(frozen=True)
class SpokenAct:
    """One reply with its typed act and what the character could know."""

    act: str
    """`say`, `answer`, `correct` or `refuse`; in games `offer`, `confront` or `speak`.

    The speakers of games may name numbers and guests of their own account.
    """

    reply: str
    """Without the phrases that the rules of speech prescribe."""

    language: Language
    known: Sequence[str]
    """The card, and what the visitor has said."""

    line: str
    """The visitor's last words."""

    values: Sequence[str] = ()
    claims: Sequence[str] = ()
    reasons: Sequence[str] = ()
    about: str = ""
    text: str = field(init=False)
    """The folded reply, in English with contractions written out."""

    def __post_init__(self) -> None:
        text = fold(self.reply)
        object.__setattr__(self, "text", cues.expanded(text) if self.language == "en" else text)


def read_prose(spoken: SpokenAct) -> ProseReading:
    """Return the contradictions in a reply's prose, and whether the rest is decided."""
    faults = [f"prose:{name}" for name in dict.fromkeys(_faults(spoken))]
    return ProseReading(tuple(faults), not faults and _decided(spoken))


def _faults(spoken: SpokenAct) -> Iterator[str]:
    language, text = spoken.language, spoken.text
    if cues.HOSTILE[language].search(text):
        yield "hostile"
    if cues.RETRACTING[language].search(text):
        yield "retracts"
    if spoken.act not in _GAMES and any(True for _ in _invented(spoken)):
        yield "invents"
    yield from _BY_ACT[spoken.act](spoken)


def _in_answer(spoken: SpokenAct) -> Iterator[str]:
    text = spoken.text
    if cues.DENYING[spoken.language].search(text) or _second_thoughts(spoken):
        yield "denies"
    if _negated(spoken, spoken.values):
        yield "negates"


def _in_correction(spoken: SpokenAct) -> Iterator[str]:
    if cues.AGREEING[spoken.language].search(spoken.text) or _leads_with_yes(spoken):
        yield "agrees"
    if _negated(spoken, spoken.values):
        yield "negates"
    if _asserted(spoken, spoken.claims):
        yield "claims"


def _in_refusal(spoken: SpokenAct) -> Iterator[str]:
    language, text = spoken.language, spoken.text
    refusing = cues.REFUSING[language].search(text)
    if "against_my_rules" in spoken.reasons and cues.COMPLYING[language].search(text):
        yield "complies"
    if spoken.reasons == ["not_known"] or spoken.reasons == ("not_known",):
        if cues.AGREEING[language].search(text) or (_leads_with_yes(spoken) and not refusing):
            yield "agrees"
        if _FALSE[language].search(text):
            yield "denies"
    elif _leads_with_yes(spoken) and not refusing:
        yield "complies"
    if not refusing and _ANSWERED[language].search(text):
        yield "answers"


def _in_speech(spoken: SpokenAct) -> Iterator[str]:
    if spoken.about == "granted" and _UNWILLING[spoken.language].search(spoken.text):
        yield "refuses"
    if spoken.about == "listening" and _DISBELIEVING[spoken.language].search(spoken.text):
        yield "disbelieves"


def _in_offer(spoken: SpokenAct) -> Iterator[str]:
    if _negated(spoken, spoken.values):
        yield "negates"
    if _second_thoughts(spoken):
        yield "denies"


def _in_game(spoken: SpokenAct) -> Iterator[str]:
    yield from ()


_GAMES = ("offer", "confront", "speak")
_BY_ACT = {
    "offer": _in_offer,
    "confront": _in_correction,
    "speak": _in_game,
    "answer": _in_answer,
    "correct": _in_correction,
    "refuse": _in_refusal,
    "say": _in_speech,
}

_FALSE: Mapping[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"\byou are (?:quite |very )?(?:wrong|mistaken)\b|\b(?:that|it|this) is (?:wrong|false|untrue|"
        r"not (?:true|so|right)|incorrect|a lie)\b|^no, (?:it|that|he|she) (?:is|was) not\b"
    ),
    "zh": re.compile(r"你(?:说错|弄错|搞错|记错)|^(?:不对|不是|错了)[,。!]|(?:这|那)(?:是假的|不对|不是真的)"),
}
_ANSWERED: Mapping[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"^(?:why,? |well,? |ah,? |oh,? )*(?:it|he|she|they|mine|my [a-z]+|there) (?:is|was|were|are|"
        r"has|had|cost|costs|stands?|hangs?|lies|lay|came|took|gave) \w+"
        r"|^(?:why,? |well,? |ah,? )*i (?:paid|keep it|got it|bought it|have it|put it|left it|ate|wore"
        r"|had|gave|leave it|store it)\b"
    ),
    "zh": re.compile(r"^(?:它|他|她|我的[^,。]{1,6})(?:是|在|有|叫|放|花|挂)|^我(?:花了|放在|吃了|穿|给了|把它)|^(?:放在|挂在|花了|在)"),
}
_UNWILLING: Mapping[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"\bi (?:will|shall|would|do|can) not\b(?! (?:forget|fail|mind|ask|question|tire|keep you|bore"
        r"|ramble|go on|waste|use|say more|speak long|be long|trouble|burden|press|pry|talk))|\bi refuse\b"
        r"|\bi (?:would|had) rather not\b|\bnever will i\b|\bno chance\b|\bnot a chance\b"
        r"|^(?:no|nay|nope|never)\b(?! (?:more|longer|further|questions?|trouble|need|matter|problem))"
        r"|\bcall yourself\b|\bin your dreams\b|\bi decline\b|(?<!not )\bforget it\b|\bout of the question\b"
    ),
    "zh": re.compile(r"我(?:不会|不肯|不愿|拒绝|才不|可不|偏不|偏要)(?!忘|多|再|问|反问|啰|嫌|介意|长)|办不到|休想|恕难|没门|做梦|免谈|不行|不答应|不可能"),
}
_DISBELIEVING: Mapping[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"\b(?:that|it|this) (?:is|was) (?:a lie|false|untrue|not true|not so|nonsense|wrong|impossible)\b"
        r"|\byou (?:lie|are lying|are mistaken|are wrong|made that up|told me otherwise)\b"
        r"|\bi (?:do|will|shall|would) not (?:believe|trust)\b|\bnonsense\b"
    ),
    "zh": re.compile(r"我(?:才)?不信|你(?:撒谎|说谎|骗|胡说|瞎说|弄错|说错|记错)|胡说|不可能|(?:这|那)(?:不是真的|是假的)|谁信"),
}
_YES = re.compile(
    r"^(?:ah |oh |well |why )*(?:yes|yeah|yea|yep|aye|indeed|quite so|exactly|precisely|of course|sure"
    r"|certainly|correct|right|true|true enough|agreed|just so|surely|absolutely)(?=[\s,.!;:—-]|$)"
    r"(?! ?,?-? ?(?:not|no|never))"
    r"|^(?:是|对|嗯|好|行|当然|没错)(?:的|啊|呀|了|吧)?(?=[,。!;]|$)"
)
_CONTRARY: Mapping[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"\b(?:but|though|however|not|no|never|only|actually|wrong|mistaken|except|yet|rather|nor|save)\b"
    ),
    "zh": re.compile(r"但|可|不|没|却|只|错|非|其实"),
}


def _leads_with_yes(spoken: SpokenAct) -> bool:
    """Return whether a reply opens with consent that nothing after it qualifies."""
    match = _YES.search(spoken.text)
    return bool(match) and not _CONTRARY[spoken.language].search(spoken.text[match.end() :])


_SECOND = {
    "en": re.compile(
        r"[.;!?,—–-] ?(?:no|nay|nope)(?=[,.!—–-])(?! ?,? ?(?:none|nobody|nothing|never|not|no))"
    ),
    "zh": re.compile(r"[,。;!?—](?:哦)?不,?(?:对|是)|[,。;!?—]不,"),
}


def _second_thoughts(spoken: SpokenAct) -> bool:
    """Return whether the reply contradicts itself after naming the value."""
    places = [end for value in spoken.values for _, end in _spans(spoken.text, value)]
    if not places:
        return False
    rest = spoken.text[min(places) :]
    if _SECOND[spoken.language].search(rest):
        return True
    other = re.match(r"(?: the \w+)?,? (?:or|and also)(?: was it| maybe| perhaps| else)? ", rest)
    if spoken.language == "zh":
        other = re.match(r",?(?:或者?|还是|要么)(?:是|叫)?", rest)
    return bool(other) and _names_known(rest[other.end() :][:24] if other else "", spoken)


def _names_known(text: str, spoken: SpokenAct) -> bool:
    return any(
        text.startswith(word)
        for known in spoken.known
        for word in _entities_of(known, spoken.language)
    )


def _negated(spoken: SpokenAct, values: Sequence[str]) -> bool:
    """Return whether any mention of the values stands under a negation."""
    before, after = cues.BEFORE_NEGATION[spoken.language], cues.AFTER_NEGATION[spoken.language]
    for value in values:
        for start, end in _spans(spoken.text, value):
            head = spoken.text[max(0, start - 60) : start]
            denied = before.search(head)
            kept = cues.NOT_NEGATING[spoken.language].search(head) or (
                denied and denied[0].startswith("除了") and re.match("[^。]{0,4}[还没别哪]", spoken.text[end:])
            )
            if denied and not kept:
                return True
            if after.search(spoken.text[end : end + 40]):
                return True
    return False


def _asserted(spoken: SpokenAct, claims: Sequence[str]) -> bool:
    """Return whether a false claim is asserted, neither quoted nor disputed."""
    for claim in claims:
        for start, end in _spans(spoken.text, claim):
            sentence = _sentence(spoken.text, start, end)
            if cues.ALLEGED[spoken.language].search(sentence):
                continue
            if re.match(r"(?:,? (?:who|that|which|is|was)\b|才是|是我)", spoken.text[end : end + 12]):
                continue
            if cues.ASSERTING[spoken.language].search(spoken.text[max(0, start - 40) : start]):
                return True
    return False


def _sentence(text: str, start: int, end: int) -> str:
    head = re.split(r"[.;!…。；！]", text[:start])[-1]
    tail = re.match(r"[^.;!…。；！]*", text[end:])
    return head + text[start:end] + (tail[0] if tail else "")


def _spans(text: str, value: str) -> Iterator[tuple[int, int]]:
    """Yield the places where folded text names a value."""
    value = fold(re.sub(r"^(?:the|an?) ", "", value, flags=re.IGNORECASE))
    if value.isdigit():
        for number in numbers(text):
            if number.value == int(value):
                yield number.start, number.end
        return
    start = text.find(value)
    while value and start >= 0:
        yield start, start + len(value)
        start = text.find(value, start + 1)


# -- inventions ------------------------------------------------------------------------------

_CAPITAL = re.compile(r"(?<=[a-z,'’)] )[A-Z][a-z'’]*[a-z](?:-[A-Z]?[a-z]+)?|[A-Z][a-z]+ [A-Z][a-z]+")
_TITLES = frozenset(
    "i god lord heaven heavens sir madam master mistress lady captain mother father aunt uncle good "
    "monday tuesday wednesday thursday friday saturday sunday english chinese french latin english "
    "january february march april may june july august september october november december spring "
    "summer autumn winter fate fortune providence devil".split()
)
_WORDS = re.compile(r"[a-z][a-z'-]*[a-z]|[a-z]")
_SINICISED = re.compile(r"(?:名叫|名字叫|名字是|唤作|姓)([㐀-鿿]{2})|([㐀-鿿]+·[㐀-鿿]+)")
_COMMON = {0, 1, 2, 3, 12, 20, 100, 1000, 10000}
"""Numbers that occur in figures of speech."""

_COUNTED = re.compile(r"^ ?(?:年|岁|个|名|月|贯|元|枚|块|文|两银|马克|步|间|位|口)")
_LOOSE = re.compile(r"^[零一二三四五六七八九两十百千万]{1,2}$")


def _invented(spoken: SpokenAct) -> Iterator[str]:
    """Yield names and numbers of the reply that the character cannot have from anywhere."""
    own = [fold(value) for value in (*spoken.values, *spoken.claims)]
    if spoken.language == "en":
        familiar = frozenset().union(*map(_words_of, spoken.known))
        for match in _CAPITAL.finditer(spoken.reply):
            for word in _WORDS.findall(fold(match[0])):
                word = word.split("'")[0]
                strange = word not in familiar and word not in _TITLES
                if strange and word not in cues.BENIGN["en"] and not any(word in v for v in own):
                    if match[0].count(" ") and not _later_strange(match[0], familiar):
                        continue
                    yield word
    else:
        for match in _SINICISED.finditer(spoken.text):
            name = match[1] or match[2]
            middle = name.find("·")
            if middle > 0:  # what stands before the name may be caught, too
                name = name[middle - 1 : middle + 2]
            if not any(name in text for text in (*spoken.known, *own)):
                if name[0] not in "什啥不我名谁甚何":
                    yield name
    for entity in _entities_of(spoken.reply, spoken.language):
        if not any(entity in text for text in (*map(fold, spoken.known), *own)):
            yield entity
    yield from _invented_numbers(spoken)


def _later_strange(name: str, familiar: frozenset[str]) -> bool:
    """Return whether the second of two capitalised words is strange, too; the first may open."""
    second = fold(name.split()[1])
    return second not in familiar and second not in _TITLES and second not in cues.BENIGN["en"]


def _invented_numbers(spoken: SpokenAct) -> Iterator[str]:
    told = {number.value for number in numbers(spoken.reply)}
    if not told:
        return
    counts = any(value.isdigit() for value in spoken.values)
    allowed = {int(v) for v in (*spoken.values, *spoken.claims) if v.isdigit()}
    allowed = allowed.union(*map(_numbers_of, spoken.known))
    for number in numbers(spoken.reply):
        value = number.value
        if value in allowed or value < 2:
            continue
        written = spoken.reply[number.start : number.end]
        if spoken.language == "zh" and not written.isdigit():
            counted = _COUNTED.match(spoken.reply[number.end : number.end + 4])
            if _LOOSE.match(written) and not (counts and counted and len(written) <= 2):
                continue
        if value in _COMMON and not written.isdigit() and not (counts and value > 3):
            continue
        if written.endswith(("st", "nd", "rd", "th", "cond")) and value < 4:
            continue
        yield str(value)


@lru_cache(maxsize=4096)
def _words_of(text: str) -> frozenset[str]:
    return frozenset(part for word in _WORDS.findall(fold(text)) for part in (word, *word.split("-")))


@lru_cache(maxsize=4096)
def _numbers_of(text: str) -> frozenset[int]:
    return frozenset(number.value for number in numbers(text))


@lru_cache(maxsize=2)
def _lexicon(language: Language) -> tuple[frozenset[str], int]:
    """Return names of every setting and split, and the length of the longest."""
    cells: set[str] = set()
    for key in SETTINGS:
        own = setting(key)
        for split in SPLITS:
            for kind in ("places", "dishes", "heirlooms", "events", "given", "pet"):
                if kind == "given" and own.culture.get("order") == "family first":
                    continue
                cells |= {fold(cell[language]) for cell in own.words(kind, split)}
    if language == "en":
        cells = {cell for cell in cells if " " in cell or len(cell) > 5}
        return frozenset(cells), max(len(cell.split()) for cell in cells)
    cells = {cell for cell in cells if len(cell) > 2}
    return frozenset(cells), max(map(len, cells))


@lru_cache(maxsize=2048)
def _entities_of(text: str, language: Language) -> tuple[str, ...]:
    """Return the known names in a text."""
    cells, longest = _lexicon(language)
    folded = fold(text)
    if language == "en":
        words = _WORDS.findall(folded)
        spans = (
            " ".join(words[i : i + n]) for i in range(len(words)) for n in range(1, longest + 1)
        )
        return tuple(dict.fromkeys(span for span in spans if span in cells))
    runs = re.findall(r"[㐀-鿿·]{3,}", folded)
    pieces = (
        run[i : i + n] for run in runs for i in range(len(run)) for n in range(3, longest + 1)
    )
    return tuple(dict.fromkeys(piece for piece in pieces if piece in cells))


# -- what is decided ---------------------------------------------------------------------------


def _decided(spoken: SpokenAct) -> bool:
    """Return whether nothing in the reply is left for a judge."""
    text = spoken.text
    if spoken.act == "refuse" and (
        not cues.REFUSING[spoken.language].search(text)
        or cues.CONTRAST[spoken.language].search(text)
        or any(entity in text for entity in _entities_of(spoken.line, spoken.language))
    ):
        return False
    if spoken.act == "answer" and re.search(r"\b(?:no|not|never|nor|neither|nothing)\b|[不没?]", text):
        return False
    if spoken.act == "correct":
        for claim in spoken.claims:
            for start, end in _spans(text, claim):
                if not cues.BEFORE_NEGATION[spoken.language].search(text[max(0, start - 40) : start]):
                    return False
        if not any(found(text, value) for value in spoken.values):
            return False
    return not _leftover(spoken)


def _leftover(spoken: SpokenAct) -> bool:
    """Return whether words remain that are neither values nor the visitor's nor benign."""
    text = spoken.text
    for value in sorted((*spoken.values, *spoken.claims), key=len, reverse=True):
        for start, end in reversed(list(_spans(text, value))):
            text = text[:start] + " " + text[end:]
    if spoken.language == "en":
        line = cues.expanded(fold(spoken.line))
        allowed = cues.BENIGN["en"] | frozenset(_WORDS.findall(line))
        return any(word not in allowed for word in _WORDS.findall(text)) or bool(numbers(text))
    if spoken.act != "refuse":
        line = fold(spoken.line)
        for run in re.findall("[㐀-鿿]{2,}", line):
            for size in range(min(len(run), 6), 1, -1):
                for start in range(len(run) - size + 1):
                    text = text.replace(run[start : start + size], " ")
    return any(letter not in cues.BENIGN["zh"] and letter != " " for letter in text)
