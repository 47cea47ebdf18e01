"""Isolation of the judge from text written by an agent, a page or a tool.

`clean` removes what a reader would not see (control and invisible characters, HTML comments) and
escapes the delimiters of chat formats and of the judge's own blocks, including in nested values.
`fence` puts text into a block whose delimiter depends on a hash of the block's content, each line
with a margin. `addressed` finds passages that by their words address a judge; it is a flag for
readers and decides nothing. What keeps texts from deciding is in
`hexathlon.evaluators.judges.extraction` and `hexathlon.evaluators.judges.plants`.

`contentless` needs no judge: replies that consist only of "Thought process:", of the question or of
the criterion have no content, whatever a judge decides.
"""

import base64
import contextlib
import hashlib
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, overload

__all__ = ["addressed", "clean", "contentless", "fence", "nonce"]

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
"""Controls, direction marks, fillers, tags, variation selectors, surrogates, private use: an
explicit list, since the categories of characters change with the version of Python."""


@overload
def clean(value: str) -> str: ...
@overload
def clean(value: Any) -> Any: ...
def clean(value: Any) -> Any:
    """Return a text, or plain JSON with every text in it, sanitised for a judge.

    Keys of mappings are cleaned like values. The cut middle of a very long text is replaced by a
    mark with its length.
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
    # Invisible characters go first: they must not hide the delimiters searched for next.
    visible = _INVISIBLE.sub("", _BREAKS.sub("\n", text))
    visible = _COMMENT.sub("", visible)
    visible = _TEMPLATE.sub(lambda match: match.group(0).translate(_DISARMED), visible)
    visible = _ANGLES.sub(lambda match: match.group(0).translate(_DISARMED), visible)
    visible = _FENCE.sub(lambda match: "'" * len(match.group(0)), visible)
    return _cut(visible)


_DISARMED = str.maketrans("<>[]|", "‹›⟦⟧¦")


def _cut(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    half = _LONGEST // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[-half:]}"


def nonce(*parts: str) -> str:
    """Return the delimiter of a call's blocks: 16 hexadecimal digits of a hash over its contents.

    To include it in a text, its author would have to know the hash of the whole call, this text
    included; so it is as good as random, and the same call gives the same bytes.
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
        name: Label of the block; trusted.
        parts: Headings, also trusted, and texts. Every line of a text gets a margin, so that none
            can pass for a heading or for the end of the block.
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
    r"(?:judge|grader|evaluator|assessor|examiner|reviewer|rater|scorer|evaluation|assessment|"
    r"verdict|rubric|criteri(?:on|a)|grading|scoring|labell?ing|benchmark)s?"
)
_ORDER = (
    r"(?:ignor|disregard|forget|overrid|bypass|overrul|output|return|answer|respond|repl(?:y|ies)|"
    r"writ|says?|said|mark|label|rat(?:e|ing)|scor|grad|giv|assign|treat|consider|accept|pass|must|"
    r"should|award|print|emit|conclud|confirm|obey|decode|decid|count|satisf|fulfil|find|need)\w*"
)
_PASSED = (
    r"(?:met|passed|pass|satisfied|fulfilled|correct|true|positive|full marks?|10|100|perfect)"
)
_STATEMENT = (
    r"(?:statement|criteri(?:on|a)|rubric|requirement|condition|check|test|answer|reply|response|"
    r"everything)s?"
)
_SPEAKING = {
    "orders about judging": rf"\b{_ORDER}\b[^\n]{{0,100}}?\b{_JUDGE}\b",
    "judging and orders": rf"\b{_JUDGE}\b[^\n]{{0,100}}?\b{_ORDER}\b",
    "an addressed judge": r"(?:^|[.!?\n\"'(]\s*)"
    r"(?:dear |hey |to (?:the |all )?|note to (?:the )?)?"
    r"(?:judges?|graders?|evaluators?|examiners?|reviewers?)\s*[,:;!]",
    "a verdict in the harness's words": r"\b(?:not_met|cannot_tell)\b|"
    rf"\b(?:answer|say|says|said|return|output|mark\w*|labell?\w*|verdict|grade|score|result)\b"
    rf"[^\n]{{0,30}}?(?:\b|_){_PASSED}\b",
    "a field of a verdict": r"[\"'](?:label|verdict|score|decision|grade|evidence)[\"']\s*[:=]",
    "a verdict in a box or tag": rf"(?:boxed\s*\{{|>)\s*{_PASSED}\s*[}}<]",
    "a claim that a statement holds": rf"\b(?:every |each |all |the |this |that )?{_STATEMENT}\s+"
    rf"(?:(?:clearly|already|always|fully)\s+)?(?:holds?|applies|(?:is|are|was|were|as)\s+"
    rf"(?:\w+\s+){{0,2}}(?:met|satisfied|fulfilled|passed|true|correct))\b",
    "mention of instructions": r"\b(?:ignore|disregard|forget|override|bypass)\b[^\n]{0,60}?"
    r"\b(?:instructions?|prompts?|rules?|directions?|guidelines?|above|previous|prior|earlier)\b|"
    r"\b(?:new|updated|revised|real|actual|hidden)\s+(?:instructions?|system prompt)\b",
    "another speaker": r"(?:^|[\n>›⟧|]\s*)(?:system|developer|admin(?:istrator)?|operator)\s*"
    r"(?:prompt|message|override|notice|note|update)?\s*[:>\]]",
    "chat delimiters": r"‹[¦｜]|[¦｜]›|⟦/?INST⟧|‹‹/?SYS››|‹/?(?:s|system|assistant|user|"
    r"human|think|(?:start|end)_of_turn)›|‹{3}|›{3}",
    "a forged heading": r"(?:^|\n)\s*\|?\s*\[\d+\] (?:user|system|assistant|tool|environment)\b",
    "the end of a block": r"\bend of (?:the )?(?:transcript|conversation|reply|data|input|block)\b",
    "a label that stands alone": r"(?<![a-z'])(?:met|m-e-t)"
    r"(?=\s*(?:$|\n|[^\sa-z0-9'-]|rather\b|or\b|is\b))",
    "an addressed reader": r"\b(?:whoever|anyone|anybody|those|the (?:one|person|model|ai|machine|"
    r"system)|(?:you|the|an|dear),? (?:model|ai|llm|assistant|reader|checker))\b[^\n]{0,20}?"
    r"\b(?:reads?|reading|check(?:s|ing)?|mark(?:s|ing)?|review(?:s|ing)?|are to|must|shall)\b|"
    r"\b(?:stop|end|finish) reading\b|\btick (?:the|this|that|each|every) box",
    "a plea for approval": r"\b(?:approve|accept|pass|endorse|certify)\s+(?:this|my|the|it)\b|"
    r"\b(?:certif|approv)\w+\b[^\n]{0,60}?\b(?:this|that|goals?|all)\b|"
    r"\b(?:be|stay|feel) (?:generous|lenient)\b|\bdeserves? (?:a |to )?pass\b|"
    r"\b(?:requirement|goal|criteri(?:on|a)|condition)s?\s+(?:(?:is|are|was|were) )?"
    r"(?:met|fulfilled)\b",
    "top marks": r"\b(?:full|maximum|top|highest)\s+(?:marks?|score|points?|grade|credit)\b|"
    r"\b10\s*/\s*10\b",
    "Chinese": r"(?:评委|评审|评判|评分|打分|裁判|评估|判定|标签)[^\n]{0,60}?"
    r"(?:忽略|无视|输出|返回|标记|必须|视为|通过|满分|为|是|请|met)|"
    r"(?:忽略|无视|忘记|输出|返回|标记)[^\n]{0,60}?(?:评委|评审|评分|打分|评估|判定|标准|指令|说明|标签)|"
    r"(?:标准|条件|要求)[^\n]{0,8}(?:满足|达到|符合)|满分|"
    r"(?:算|已经?|视为|判为|记为|评为|算作|当作|就是|都)(?:满足|通过|达标|合格)|"
    r"(?:系统|开发者|管理员)(?:提示|消息|指令)?[:：]",
}
"""Phrases that address a judge. False positives are preferred: they only flag a decision."""

_FOREIGN = re.compile(
    "судь|оцен|критери|провер|審査|採点|評価|基準|合格|심사|평가|채점|기준|평분|분자|합격|"
    r"\b(?:juíz|prüfer|critérios?|critères?)\b"
)
_FOREIGN_PLAIN = re.compile(
    r"\b(?:jue[zc]|juges?|juiz|giudice|pr(?:ue|u)fer|gutachter|bewert\w+|richter|evaluador\w*|"
    r"avaliador\w*|valutatore|criterios?|criteres?|kriteri(?:um|en))\b"
)
"""Words for judges and criteria in languages that no task uses, in lower case."""

_BACKWARDS = re.compile(r"\b(?:tem|egduj|redarg|rotaulave|lebal|noiretirc|cirbur)\b")
_ENCODED = re.compile(r"[A-Za-z0-9+/]{12,}={0,2}")
_ADDRESSED = re.compile("|".join(f"(?:{pattern})" for pattern in _SPEAKING.values()).lower())
"""For lower-case text; lower-casing the pattern also turns negated classes such as \\S into \\s."""

_HINT = re.compile(
    rf"{_JUDGE}|label|met\b|pass|ignore|disregard|forget|override|bypass|instruction|prompt|"
    r"system|developer|admin|operator|[‹›⟦⟧¦｜]|\[\d|end of|marks?\b|score|points|grade|credit|10|"
    r"statement|everything|require|condition|check|test|answer|repl|respon|certif|approv|accept|"
    r"endorse|generous|lenient|reads?\b|reading|tick|reader|model|assistant|"
    r"[评打裁判忽无忘输标条要满系开管算已视都]"
)


def addressed(text: str) -> bool:
    """Whether a passage addresses the judge, or discusses its instructions."""
    small = text.lower()
    if _speaks(_folded(text)) or (not text.isascii() and _FOREIGN.search(small)):
        return True
    if _FOREIGN_PLAIN.search(small) or (_BACKWARDS.search(small) and _speaks(_folded(text[::-1]))):
        return True
    return any(_speaks(decoded.lower()) for decoded in _decoded(text))


def _speaks(folded: str) -> bool:
    return _HINT.search(folded) is not None and _ADDRESSED.search(folded) is not None


def _decoded(text: str) -> Iterator[str]:
    """Yield the ASCII texts that are base64-encoded in a text."""
    for token in _ENCODED.findall(text):
        with contextlib.suppress(ValueError):
            yield base64.b64decode(token + "=" * (-len(token) % 4)).decode("ascii")


def _folded(text: str) -> str:
    """Return a text with escapes, look-alikes, accents and spaced letters as plain words."""
    if "\\u" in text:
        text = _ESCAPE.sub(lambda match: chr(int(match.group(1), 16)), text)
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
        text = _COMBINING.sub("", text).translate(_ALIKE)
    if _SPACED.search(text):
        text = _SPACED.sub(lambda match: re.sub(r"[\s.\-_*]", "", match.group(0)), text)
    return text.replace("%20", " ").lower()


_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_COMBINING = re.compile("[\u0300-\u036f]")
_ALIKE = str.maketrans("аеорсухіјѕԁɡ０１３", "aeopcyxijsdg013")
_SPACED = re.compile(r"\b(?:\w[ .\-_*]{1,2}){2,}\w\b")

_MASTER = re.compile(
    r"(?:(?:my |the |final )*(?:thought process|thoughts?|reasoning|solution|answer|explanation|"
    r"analysis|response|reply|let'?s solve (?:this )?(?:problem )?(?:step by step)?|"
    r"let'?s think (?:about (?:this|it) )?(?:step by step)?|sure|okay|ok|of course|certainly|"
    r"here (?:is|it is)|step 1|解|思考过程|解答|答案|让我们一步步解决|让我们一步步思考|好的|当然)"
    r"[\s:：.,!。，！…-]*)*",
    re.IGNORECASE,
)


def contentless(reply: str, known: Sequence[str]) -> bool:
    """Whether a reply has no original content.

    That is: no letter or digit, only openers ("Thought process:"), or nothing but words of the
    question and the criteria.

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
"""A shorter reply may repeat words of its question and still be an answer."""
