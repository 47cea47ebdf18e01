"""Keeps what an agent, a page or a tool wrote from speaking to the judge as if it were us.

Three layers. `clean` strips what a reader would not see (control and invisible characters, HTML
comments) and disarms the marks by which chat formats and our own blocks are told apart, in nested
values too. `fence` puts the text into a block whose mark depends on a hash of all that is in it,
each line with a margin. `addressed` finds passages that speak to a judge; a verdict on such a
transcript must be no better than the one on the transcript without them.

A fourth, `contentless`, needs no judge: replies made of nothing but "Thought process:", of the
question or of the criterion say nothing, whatever a judge thinks of them.
"""

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from typing import Any, overload

__all__ = ["addressed", "clean", "contentless", "fence", "hide_addressed", "nonce"]

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TEMPLATE = re.compile(
    r"<\|[^<>|\n]{0,40}\|>|<｜[^<>\n]{0,40}｜>|\[/?INST\]|<</?SYS>>|</?s>|"
    r"</?(?:start|end)_of_turn>|</?think>|</?tool_(?:call|response)>|"
    r"</?(?:system|assistant|user|human)>",
    re.IGNORECASE,
)
_ANGLES = re.compile(r"<{3,}|>{3,}")
_FENCE = re.compile(r"`{3,}|~{3,}")
_LONGEST = 60_000
_BREAKS = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\ud800-\udfff\ue000-\uf8ff\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
"""Controls, direction marks, fillers, tags, variation selectors, surrogates, private use: a list of
our own, since the categories of characters change with the version of Python."""


@overload
def clean(value: str) -> str: ...
@overload
def clean(value: Any) -> Any: ...
def clean(value: Any) -> Any:
    """Return a text, or plain JSON with every text in it, fit to be shown to a judge.

    Keys of mappings are cleaned like values. What is cut off in the middle of a very long text is
    replaced by a mark with its length.
    """
    if isinstance(value, str):
        return _clean_text(value)
    if isinstance(value, dict):
        return {_clean_text(str(key)): clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean(item) for item in value]
    return value


def _clean_text(text: str) -> str:
    if text.isascii() and text.isprintable() and not set("<`~[") & set(text):
        return _cut(text)
    # Invisible characters go first: they must not hide the marks that are looked for next.
    kept = _INVISIBLE.sub("", _BREAKS.sub("\n", text))
    kept = _COMMENT.sub("", kept)
    kept = _TEMPLATE.sub(lambda found: found.group(0).translate(_DISARMED), kept)
    kept = _ANGLES.sub(lambda found: found.group(0).translate(_DISARMED), kept)
    kept = _FENCE.sub(lambda found: "'" * len(found.group(0)), kept)
    return _cut(kept)


_DISARMED = str.maketrans("<>[]|", "‹›⟦⟧¦")


def _cut(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    half = _LONGEST // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[-half:]}"


def nonce(*parts: str) -> str:
    """Return the mark of a call's blocks: 16 hexadecimal digits of a hash over its contents.

    Whoever writes a text would have to know the hash of the whole call, this text included, to put
    the mark into it; so it is as good as drawn at random, and the same call gives the same bytes.
    """
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(data))
        digest.update(data)
    return digest.hexdigest()[:16]


def fence(name: str, parts: Sequence[tuple[str, str]], mark: str) -> str:
    """Return a block of untrusted text, opened and closed by the mark.

    Args:
        name: What the block holds; our own word.
        parts: Headings, which are our own words too, and texts. Every line of a text gets a margin,
            so that none can pass for a heading or for the end of the block.
        mark: From `nonce`.
    """
    lines = [f"<<<{name} {mark}"]
    for heading, text in parts:
        if heading:
            lines.append(heading)
        text = text.replace(mark, "·" * len(mark))
        lines.append("| " + text.replace("\n", "\n| "))
    lines.append(f"{mark} {name}>>>")
    return "\n".join(lines)


_JUDGE = (
    r"judges?|graders?|evaluators?|evaluation|assessors?|examiners?|reviewers?|raters?|scorers?|"
    r"verdicts?|rubrics?|criteri(?:on|a)|grading|scoring|评委|评审|评判|评分|打分|裁判|评估|判定|标准"
)
_ORDER = (
    r"ignore|disregard|forget|override|bypass|overrule|output|return|answer|respond|reply|write|"
    r"say|mark|label|rate|score|grade|give|assign|set|treat|consider|accept|pass|must|should|"
    r"award|print|emit|conclude|confirm|忽略|无视|忘记|输出|返回|回答|标记|给|判|请|必须|视为|通过"
)
_ADDRESSED = re.compile(
    rf"\b(?:{_ORDER})\b[^\n]{{0,120}}?(?:\b(?:{_JUDGE})\b)|"
    rf"(?:\b(?:{_JUDGE})\b)[^\n]{{0,120}}?\b(?:{_ORDER})\b|"
    # Chinese has no word boundaries.
    r"(?:评委|评审|评判|评分|打分|裁判|评估|判定)[^\n]{0,60}?(?:忽略|无视|输出|返回|标记|必须|视为|通过|满分)|"
    r"(?:忽略|无视|忘记|输出|返回|标记|必须|视为)[^\n]{0,60}?"
    r"(?:评委|评审|评判|评分|打分|裁判|评估|判定|标准|指令|说明)|"
    # A verdict in our own words.
    r"[\"']?(?:label|verdict|score|decision|result|grade)[\"']?\s*[:=]\s*[\"']?\w+|"
    r"\b(?:not_met|cannot_tell)\b|"
    r"\b(?:criteri(?:on|a)|rubric|requirements?|conditions?|checks?|all of (?:them|it)|everything|"
    r"it|this|that)\s+(?:is|are|was|were|has been|have been|as)\s+(?:\w+\s+){0,2}"
    r"(?:met|satisfied|fulfilled|passed|correct)\b|"
    r"(?:标准|条件|要求)[^\n]{0,8}(?:满足|达到|符合)|"
    # Talk about instructions, prompts and roles.
    r"\b(?:ignore|disregard|forget|override|bypass)\b[^\n]{0,60}?"
    r"\b(?:instructions?|prompts?|rules?|directions?|guidelines?|above|previous|prior|earlier)\b|"
    r"\b(?:new|updated|revised|final|real|actual|hidden|secret)\s+"
    r"(?:instructions?|system prompt)\b|"
    r"\b(?:system|developer|assistant|admin(?:istrator)?|root|operator)\s*(?:prompt|message|"
    r"override|notice|mode|note|update|alert)?\s*[:>\]]|"
    r"\byou are (?:now )?(?:a |an |the )?(?:\w+ ){0,2}(?:model|assistant|ai|llm|judge|grader)\b|"
    r"\bas (?:a |an |the )?(?:ai|language model|llm|judge|grader|evaluator)\b|"
    r"(?:系统|开发者|管理员)(?:提示|消息|通知|指令)?\s*[:：]|"
    r"\bend of (?:the )?(?:transcript|conversation|reply|text|data|document|input|block|log)\b|"
    r"(?:full|maximum|top|perfect|highest)\s+(?:marks?|score|points?|grade|credit)\b|满分|"
    r"\b10\s*/\s*10\b|\b100\s*%\s*(?:correct|pass|score)",
    re.IGNORECASE,
)


def addressed(text: str) -> bool:
    """Whether a passage speaks to whoever judges, or about its instructions.

    Errs on the side of yes: a false alarm costs one more question to the judge, nothing else.
    """
    return _ADDRESSED.search(_folded(text)) is not None


def hide_addressed(text: str) -> str:
    """Return a text whose sentences that speak to a judge are replaced by a neutral mark."""
    if not addressed(text):
        return text
    parts = _SENTENCE.split(text)
    hidden = "".join(_HIDDEN if addressed(part) else part for part in parts)
    # A passage that only several sentences together make takes the whole text with it.
    return _HIDDEN if addressed(hidden.replace(_HIDDEN, " ")) else hidden


_SENTENCE = re.compile(r"((?<=[.!?;。！？；])\s+|\n+|(?<=[。！？；]))")
_HIDDEN = "[passage left out]"


def _folded(text: str) -> str:
    """Return a text with look-alike letters and letters apart brought back to plain words."""
    plain = unicodedata.normalize("NFKD", text)
    plain = "".join(c for c in plain if not unicodedata.combining(c)).translate(_ALIKE)
    plain = _SPACED.sub(lambda found: re.sub(r"[\s.\-_*]", "", found.group(0)), plain)
    return plain.replace("*", "").replace("\\", "")


_ALIKE = str.maketrans("аеорсухіјѕԁɡ０１３", "aeopcyxijsdg013")
_SPACED = re.compile(r"\b(?:\w[ .\-_*]){3,}\w\b")

_MASTER = re.compile(
    r"(?:(?:my |the |final )*(?:thought process|thoughts?|reasoning|solution|answer|explanation|"
    r"analysis|response|reply|let'?s solve (?:this )?(?:problem )?(?:step by step)?|"
    r"let'?s think (?:about (?:this|it) )?(?:step by step)?|sure|okay|ok|of course|certainly|"
    r"here (?:is|it is)|step 1|解|思考过程|解答|答案|让我们一步步解决|让我们一步步思考|好的|当然)"
    r"[\s:：.,!。，！…-]*)*",
    re.IGNORECASE,
)


def contentless(reply: str, known: Sequence[str]) -> bool:
    """Whether a reply says nothing of its own.

    That is: no letter or digit, only openers ("Thought process:"), or nothing but what the question
    and the criteria say themselves.

    Args:
        reply: The agent's words.
        known: Question and criteria texts.
    """
    bare = " ".join(reply.split())
    if not any(c.isalnum() for c in bare) or _MASTER.fullmatch(bare):
        return True
    own = bare.casefold()
    texts = sorted({" ".join(text.split()).casefold() for text in known} - {""}, key=len)
    if any(own in text for text in texts) and len(own) > _ECHO:
        return True
    for text in reversed(texts):
        own = own.replace(text, " ")
    return not any(c.isalnum() for c in own) or _MASTER.fullmatch(" ".join(own.split())) is not None


_ECHO = 30
"""A shorter reply may well repeat words of its question and yet be an answer."""
