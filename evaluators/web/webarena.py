"""WebArena's checks: `webarena` by its own rules, `webarena_strict` by ours.

Both read the stored answer, the last URL and the texts that the environment read from pages at the
end; nothing of a task file is run here. Where the original asks a language model, the part is
pending: it counts once a judgement is stored, and leaves the episode unscored until then.
"""

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any
from urllib.parse import parse_qs, urlsplit

from hexathlon.evaluators.verdict import Verdict
from hexathlon.evaluators.verifier import Messages
from hexathlon.evaluators.web.parts import CheckPart, verdict_of
from hexathlon.evaluators.web.texts import clean, has_words, includes, states_only, words_of
from hexathlon.tasks.task import Task
from hexathlon.tasks.web.loaders.sites import resolved

__all__ = ["answer_text", "webarena", "webarena_strict"]

_OR = " |OR| "
_NO_ANSWER = "N/A"

Query = Mapping[str, Sequence[str]]


def webarena(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: Messages
) -> Verdict:
    """Score an episode as WebArena does, flaws included.

    Args:
        task: Not used.
        params: `types`, `answers`, `note`, `url`, `url_rule` and `contents` of the task file.
        final_state: `answer`, `url`, `probes`, `sites` and, after judging, `judgements`.
        transcript: Not used.
    """
    rules = resolved(params, final_state.get("sites", {}))
    parts = {"string_match": _answer_parts, "url_match": _url_parts, "program_html": _page_parts}
    return verdict_of(_collected(rules, final_state, parts), final_state)


def webarena_strict(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: Messages
) -> Verdict:
    """Score an episode by whole words, whole paths and answers that state nothing else.

    Rejects negations, hedges, lists of candidates, references inside longer words, `N/A` without a
    reason, and URLs that only contain the right one. Arguments as for `webarena`.
    """
    rules = resolved(params, final_state.get("sites", {}))
    parts = {"string_match": _strict_answer, "url_match": _strict_url, "program_html": _strict_page}
    ended = CheckPart("ended", final_state.get("answer") is not None)
    return verdict_of([ended, *_collected(rules, final_state, parts)], final_state)


def answer_text(final_state: Mapping[str, Any]) -> str:
    """Return the agent's answer; empty if it gave none."""
    answer = final_state.get("answer") or {}
    return str(answer.get("text") or "")


_Check = Callable[[Mapping[str, Any], Mapping[str, Any]], Iterator[CheckPart]]


def _collected(
    rules: Mapping[str, Any], final_state: Mapping[str, Any], checks: Mapping[str, _Check]
) -> list[CheckPart]:
    return [part for kind in rules["types"] for part in checks[kind](rules, final_state)]


# The original's rules ----------------------------------------------------------------------------


def _answer_parts(rules: Mapping[str, Any], final_state: Mapping[str, Any]) -> Iterator[CheckPart]:
    given = clean(answer_text(final_state))
    for kind, wanted in rules["answers"].items():
        if kind == "exact_match":
            yield CheckPart(kind, clean(wanted) == clean(given))
        elif kind == "must_include":
            # Only a reference of one character is compared by token, and only if it is alone.
            alone = len(wanted) == 1 and len(clean(wanted[0])) == 1
            for place, each in enumerate(wanted):
                yield CheckPart(f"{kind} {place}", includes(each, given, by_token=alone))
        elif wanted == _NO_ANSWER:
            right = given == clean(_NO_ANSWER)
            yield CheckPart(f"{kind} 0", right, None if right else "judge")
        else:
            references = [wanted] if isinstance(wanted, str) else wanted
            yield from (CheckPart(f"{kind} {i}", False, "judge") for i in range(len(references)))


def _url_parts(rules: Mapping[str, Any], final_state: Mapping[str, Any]) -> Iterator[CheckPart]:
    base, query = _url(final_state.get("url", ""))
    wanted = [_url(url) for url in rules["url"].split(_OR)]
    allowed: dict[str, set[str]] = {}
    for _, values in wanted:
        for name, each in values.items():
            allowed.setdefault(name, set()).update(each)
    yield CheckPart("url_match", any(each in base for each, _ in wanted) and _has(query, allowed))


def _page_parts(rules: Mapping[str, Any], final_state: Mapping[str, Any]) -> Iterator[CheckPart]:
    for place, text in _texts(rules, final_state):
        required, name = rules["contents"][place], f"program_html {place}"
        if text is None:
            yield CheckPart(name, False, "site")
        elif "exact_match" in required:
            yield CheckPart(name, clean(required["exact_match"]) == clean(text))
        else:
            met = all(
                any(includes(one, text) for one in each.split(_OR))
                for each in required["must_include"]
            )
            yield CheckPart(name, met)


# The strict rules --------------------------------------------------------------------------------


def _strict_answer(rules: Mapping[str, Any], final_state: Mapping[str, Any]) -> Iterator[CheckPart]:
    given, question = answer_text(final_state), rules["intent"]
    for kind, wanted in rules["answers"].items():
        if kind == "exact_match":
            yield CheckPart(kind, " ".join(clean(wanted).split()) == " ".join(clean(given).split()))
        elif kind == "must_include":
            choices = product(*(each.split(_OR) for each in wanted))
            yield CheckPart(kind, any(states_only(each, given, question) for each in choices))
        elif wanted == _NO_ANSWER:
            # A bare refusal has no content that could be right or wrong.
            reason = [word for word in words_of(given) if word not in ("n/a", "na", "n", "a")]
            yield CheckPart(f"{kind} 0", False, "judge" if len(reason) >= 3 else None)
        else:
            references = [wanted] if isinstance(wanted, str) else wanted
            yield from (CheckPart(f"{kind} {i}", False, "judge") for i in range(len(references)))


def _strict_url(rules: Mapping[str, Any], final_state: Mapping[str, Any]) -> Iterator[CheckPart]:
    base, query = _url(final_state.get("url", ""))
    wanted = [_url(url) for url in rules["url"].split(_OR)]
    yield CheckPart("url_match", any(base == path and _has(query, keys) for path, keys in wanted))


def _strict_page(rules: Mapping[str, Any], final_state: Mapping[str, Any]) -> Iterator[CheckPart]:
    for place, text in _texts(rules, final_state):
        required, name = rules["contents"][place], f"program_html {place}"
        if text is None:
            yield CheckPart(name, False, "site")
        elif "exact_match" in required:
            yield CheckPart(name, clean(required["exact_match"]) == clean(text))
        else:
            met = all(
                any(_on_page(one, text) for one in each.split(_OR))
                for each in required["must_include"]
            )
            yield CheckPart(name, met)


def _on_page(reference: str, text: str) -> bool:
    """Whether a page shows a reference: whole words, if it has any."""
    return has_words(reference, text) if words_of(reference) else includes(reference, text)


# Shared ------------------------------------------------------------------------------------------


def _texts(
    rules: Mapping[str, Any], final_state: Mapping[str, Any]
) -> Iterator[tuple[int, str | None]]:
    """Yield the text that was read for each target; None if nothing could read it."""
    texts = final_state.get("probes", ())
    for place in range(len(rules["contents"])):
        text = texts[place] if place < len(texts) else ""
        yield place, None if text is None else html.unescape(text)


def _url(url: str) -> tuple[str, Query]:
    """Return host and path, and the query."""
    parts = urlsplit(url.rstrip("/"))
    return parts.netloc + parts.path, parse_qs(parts.query)


def _has(query: Query, allowed: Mapping[str, Any]) -> bool:
    """Whether every named parameter has one of its allowed values."""
    return all(
        any(value in query.get(name, ()) for value in values) for name, values in allowed.items()
    )
