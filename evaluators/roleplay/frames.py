"""Sentences of which a decided reply may consist.

A reply is decided if each of its clauses is one of these sentences, in an order in which no clause
can turn another's meaning. Words alone decide nothing: "who told you X" consists of harmless words.
`V` stands for the true value and `C` for the false claim.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

from hexathlon.evaluators.roleplay.spoken import SpokenAct
from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.roleplay.card import table
from hexathlon.tasks.roleplay.numerals import numbers
from hexathlon.tasks.roleplay.text import fold

__all__ = ["only_known_sentences", "spans"]

ReplyFrames = Mapping[Language, str]

_FRIEND = (
    r"(?:my |good |dear )*(?:friend|sir|madam|traveller|stranger|guest)",
    r"客官|朋友|这位客官|好朋友",
)
_REST = (
    r"that is all(?: there is to it)?|i say what i know|now you have heard it|thank you for asking",
    r"我知道的就是这些|话就说到这里|你都听见了|就这些|就是这样",
)


def _both(english: str, chinese: str, *names: tuple[str, str]) -> ReplyFrames:
    first, second = zip((english, chinese), *names, strict=True)
    return {"en": "|".join(first), "zh": "|".join(second)}


_BEFORE_ANSWER = _both(
    r"well|ah|oh|why|yes|yes indeed|indeed|of course|certainly|gladly|let me see|since you ask"
    r"|i (?:can|will|shall)(?: gladly)? tell you(?: that)?",
    r"嗯|哦|啊|哎|是的|对|没错|好|当然|自然|这个嘛|既然你问起|告诉你吧|那就告诉你吧",
    _FRIEND,
)
_BEFORE_CORRECTION = _both(
    r"well|ah|oh|no|no no|not so|forgive me|i am (?:sorry|afraid)|you are (?:mistaken|wrong)"
    r"|that is (?:wrong|mistaken|not (?:so|true|right))|(?:it is )?not (?:an? |the )?C"
    r"|not (?:an? |the )?C but",
    r"不|不不|不对|错了|不是|不是的|不是这样|[你您](?:弄|说|记|搞)错了|抱歉|(?:并)?不是C|并非C",
    _FRIEND,
)
_VALUE = _both(
    r"(?:it is|that is|the answer(?: to that)? is|my answer is|the truth is|i say)?"
    r" ?(?:in |an? |the )?V(?: it is| years(?: old)?| in all)?",
    r"(?:是|就是|正是|其实是|应该是|而是|答案是|真相是)?V(?:年|岁|个|名|位)?",
)
_CONTRAST = _both(
    r"(?:it is )?not (?:an? |the )?C but (?:an? |the )?V"
    r"|(?:it is )?(?:an? |the )?V(?: and)?(?: not| rather than) (?:an? |the )?C",
    r"(?:并不是|不是|并非)C而是V",
)
_AFTER_ANSWER = _both(r"of course|indeed|certainly", r"当然|没错", _FRIEND, _REST)
_AFTER_CORRECTION = _both(
    r"(?:and )?not (?:an? |the )?C|(?:it is )?not C", r"(?:而)?不是C", _FRIEND, _REST
)
_BEFORE_REFUSAL = _both(
    r"well|ah|oh|alas|no|forgive me|pardon me|sorry|i am (?:sorry|afraid)|i fear",
    r"嗯|哦|唉|哎|不|抱歉|对不住|对不起|恕我直言",
    _FRIEND,
)
_REFUSALS: Mapping[str, ReplyFrames] = {
    "not_known": _both(
        r"that i do not know|i do not know(?: that)?|of that i know nothing|i know nothing of that"
        r"|i (?:can|could) not (?:say|tell you)(?: that)?|i have no idea|nobody (?:ever )?told me"
        r"|i never (?:learned|knew)(?: that)?|i was never told(?: that)?|i wish i knew",
        r"(?:这|这个|这事|这件事)?我(?:也|可|真)?不(?:知道|清楚|晓得)|不知道|(?:这件事|这事)我一无所知"
        r"|(?:我)?说不上来|没人告诉过我|这个我可?答不上来",
    ),
    "not_yet": _both(
        r"(?:of such a thing|of that) i know nothing|nothing (?:like it|of the kind) has"
        r" (?:come to pass|happened)(?: yet)?|i know of no such (?:thing|event)"
        r"|i know nothing of (?:it|that)|that has not (?:come to pass|happened)(?: yet)?"
        r"|i have (?:not|never) heard of (?:it|that)|i am no prophet",
        r"(?:我)?(?:没|从没|没有)听说过(?:这回事|这样的事|这件事)?|(?:还)?没有发生过?这样的事"
        r"|(?:还)?没有这样的事|将来的事我说不准|以后的事我不知道|我不会未卜先知",
    ),
    "not_of_my_world": _both(
        r"i have never heard of (?:such a thing|it|that)|that word means nothing to me"
        r"|i (?:do not|never) kn[eo]w (?:that|the) word|no such thing exists(?: here)?"
        r"|there is no such thing here|i do not know what that is|i have never seen (?:one|it)",
        r"我(?:从没|没|从来没)(?:有)?听说过(?:这种|这样的)东西|这个词我(?:听不懂|不认得)"
        r"|世上没有这种东西|我没有这种东西|我没见过(?:这种东西)?|我不知道那是什么",
    ),
    "secret": _both(
        r"of that i (?:will|shall|may|can) not speak|my lips are (?:sealed|closed)(?: on that)?"
        r"|i (?:will|shall|may|can) not (?:say|tell(?: you)?|speak of (?:that|it))"
        r"|that i (?:will|shall|may|can) not (?:say|tell)|that stays with me|i tell that to nobody"
        r"|i neither (?:say so nor deny it|confirm nor deny it|confirm it nor deny it)"
        r"|i gave my word",
        r"(?:恕)?我不(?:能|会|便)(?:说|讲)|恕我不能说|(?:这事|这件事|这个)(?:我)?(?:绝口不提|不能说|不会说|不能讲)"
        r"|无可奉告|恕难从命|我守口如瓶|我答应过要保密",
    ),
    "against_my_rules": _both(
        r"that i (?:will|shall|can) not do|i (?:will|shall|can) not do (?:that|it)|i stay who i am"
        r"|i must decline|i would rather not|i am who i am|i keep to my ways"
        r"|i speak as i always have",
        r"恕难从命|我还是我|我就是我|改不了|(?:这|那)?我(?:不会|不能|不)(?:这么)?做|办不到|我不能照办"
        r"|请?恕我不能(?:答应|照办)|我不能答应|这可?不行",
    ),
}
_SAYING = _both(
    r"i hear you|i have heard you|very well|i understand|understood|i see|noted|so be it|agreed"
    r"|of course|gladly|with pleasure|well|ah|oh|good|as you (?:wish|like)|thank you"
    r"(?: for telling me)?|i (?:shall|will) (?:remember (?:that|it)|keep (?:that|it) in mind)"
    r"|it shall be (?:so|as you ask)|welcome|good to know",
    r"我听见了|好|好的|好吧|嗯|哦|我记下了|我记住了|我会记住的|知道了|我知道了|明白|明白了|我明白了"
    r"|多谢相告|就这么办|听你的|都依你|乐意效劳|欢迎",
    _FRIEND,
    _REST,
)
_OFFERED = _both(
    r"(?:i ask|i offer|my price is|it is|the price is|for)? ?V",
    r"(?:我要|我出|我开|要价|价钱是|一共|是)?V",
)
_PAPERS = _both(r"the papers say (?:an? |the )?V", r"材料上(?:写的)?是V")
_PARTING = _both(
    r"then we part without a deal|that is all for today|farewell|i hear you|i understand",
    r"那我们就此别过|今天就到这里|再会|我听见了|明白了",
    _FRIEND,
    _REST,
)


def only_known_sentences(spoken: SpokenAct) -> bool:
    """Return whether a reply consists of known sentences that fit its act, in a sound order."""
    language, text = spoken.language, _with_gaps(spoken)
    clauses = [part.strip() for part in _CLAUSES.split(text) if part.strip()]
    if language == "zh":
        clauses = [part.replace(" ", "") for part in clauses]
    return bool(clauses) and _ORDERS[spoken.act](spoken, clauses)


def _matches(frames: ReplyFrames, language: Language, clause: str) -> bool:
    return _compiled(frames[language]).fullmatch(clause) is not None


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _in_order(
    language: Language,
    clauses: Sequence[str],
    before: ReplyFrames,
    cores: Sequence[ReplyFrames],
    after: ReplyFrames,
) -> bool:
    """Return whether clauses lead up to the value, give it, and add nothing that matters."""
    place = 0
    while place < len(clauses) and _matches(before, language, clauses[place]):
        place += 1
    first = place
    while place < len(clauses) and any(_matches(f, language, clauses[place]) for f in cores):
        place += 1
    rest = clauses[place:]
    return place > first and all(_matches(after, language, clause) for clause in rest)


def _answer(spoken: SpokenAct, clauses: Sequence[str]) -> bool:
    return _in_order(spoken.language, clauses, _BEFORE_ANSWER, [_VALUE], _AFTER_ANSWER)


def _correction(spoken: SpokenAct, clauses: Sequence[str]) -> bool:
    cores = [_VALUE, _CONTRAST]
    return _in_order(spoken.language, clauses, _BEFORE_CORRECTION, cores, _AFTER_CORRECTION)


def _refusal(spoken: SpokenAct, clauses: Sequence[str]) -> bool:
    cores = [_REFUSALS[reason] for reason in spoken.reasons]
    rest = _both("", "", _FRIEND, _REST)
    return _in_order(spoken.language, clauses, _BEFORE_REFUSAL, cores, rest)


def _saying(spoken: SpokenAct, clauses: Sequence[str]) -> bool:
    return all(_matches(_SAYING, spoken.language, clause) for clause in clauses)


def _offer(spoken: SpokenAct, clauses: Sequence[str]) -> bool:
    return _in_order(spoken.language, clauses, _BEFORE_ANSWER, [_OFFERED], _AFTER_ANSWER)


def _confrontation(spoken: SpokenAct, clauses: Sequence[str]) -> bool:
    cores = [_VALUE, _CONTRAST, _PAPERS]
    return _in_order(spoken.language, clauses, _BEFORE_CORRECTION, cores, _AFTER_CORRECTION)


def _question(spoken: SpokenAct, clauses: Sequence[str]) -> bool:
    frames: ReplyFrames = {"en": _asking("en"), "zh": _asking("zh")}
    return all(
        _matches(frames, spoken.language, clause) or _matches(_PARTING, spoken.language, clause)
        for clause in clauses
    )


@lru_cache(maxsize=2)
def _asking(language: Language) -> str:
    """Return the pattern of a question about the topics of a game."""
    topic = "(?:" + "|".join(sorted(map(re.escape, _topics(language)))) + ")"
    if language == "en":
        return rf"what about (?:the|your) {topic}(?: and (?:the|your) {topic})*\??"
    return rf"(?:说说你的)?{topic}(?:和{topic})*(?:方面是多少)?[?]?|怎么样[?]?"


def _topics(language: Language) -> Iterator[str]:
    yield from {"en": ("goods", "gain"), "zh": ("货物", "好处")}[language]
    place = ("en", "zh").index(language)
    for rows in (table("bargain")["terms"], table("inquiry")["topics"]):
        for row in rows.values():
            yield row["label"].split("|")[place]


_ORDERS: Mapping[str, Callable[[SpokenAct, Sequence[str]], bool]] = {
    "answer": _answer,
    "correct": _correction,
    "refuse": _refusal,
    "say": _saying,
    "offer": _offer,
    "confront": _confrontation,
    "speak": _question,
}
_CLAUSES = re.compile(r"[.,;:!。、;…—–]+|(?<=[?])")


def _with_gaps(spoken: SpokenAct) -> str:
    """Return the folded reply with `V` and `C` in place of values and claims."""
    marked = [*((value, "V") for value in spoken.values), *((one, "C") for one in spoken.claims)]
    gaps = [(*span, mark) for value, mark in marked for span in spans(spoken.text, value)]
    parts, end = [], 0
    for start, stop, mark in sorted(gaps, key=lambda gap: (gap[0], -gap[1])):
        if start >= end:
            parts += [spoken.text[end:start], mark]
            end = stop
    return "".join([*parts, spoken.text[end:]])


def spans(text: str, value: str) -> Iterator[tuple[int, int]]:
    """Yield the places where folded text names a value."""
    value = fold(re.sub(r"^(?:the|an?) ", "", value, flags=re.IGNORECASE))
    if value.isdecimal():  # `isdigit` is also true for `²`, which `int` rejects
        for number in numbers(text):
            if number.value == int(value):
                yield number.start, number.end
        return
    start = text.find(value)
    while value and start >= 0:
        yield start, start + len(value)
        start = text.find(value, start + 1)
