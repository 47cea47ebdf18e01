"""VisualWebArena's checks, as far as code can decide them; images are left to a judge."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hexathlon.evaluators.verdict import Verdict
from hexathlon.evaluators.verifier import Messages
from hexathlon.evaluators.web.parts import CheckPart, verdict_of
from hexathlon.evaluators.web.texts import clean, includes
from hexathlon.evaluators.web.webarena import answer_text
from hexathlon.tasks.task import Task
from hexathlon.tasks.web.loaders.sites import resolved

__all__ = ["visualwebarena"]

_OR = " |OR| "
_TOLERANCE = 1e-8


def visualwebarena(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: Messages
) -> Verdict:
    """Score an episode as VisualWebArena does; checks of images are pending.

    Args:
        task: Not used.
        params: As for `webarena`, and `images`, the queries about images of pages.
        final_state: As for `webarena`.
        transcript: Not used.
    """
    rules = resolved(params, final_state.get("sites", {}))
    parts: list[CheckPart] = []
    for kind in rules["types"]:
        if kind == "string_match":
            parts += _contents("string_match", rules["answers"], answer_text(final_state))
        elif kind == "url_match":
            parts.append(_url(rules, final_state.get("url", "")))
        elif kind == "program_html":
            parts += _pages(rules, final_state.get("probes", ()))
        else:
            parts += [CheckPart(f"{kind} {i}", False, "image") for i in range(len(rules["images"]))]
    return verdict_of(parts, final_state)


def _pages(rules: Mapping[str, Any], texts: Sequence[str | None]) -> Iterator[CheckPart]:
    for place, required in enumerate(rules["contents"]):
        text = texts[place] if place < len(texts) else ""
        name = f"program_html {place}"
        if text is None:
            yield CheckPart(name, False, "site")
        else:
            yield from _contents(name, required, text)


def _contents(name: str, required: Mapping[str, Any], text: str) -> Iterator[CheckPart]:
    """Yield the conditions on a text; every kind named must hold."""
    given = clean(text, strip=False)
    for kind, wanted in required.items():
        if kind == "exact_match":
            yield CheckPart(f"{name} {kind}", clean(wanted, strip=False) == given)
        elif kind == "must_include":
            met = all(any(_has(one, given) for one in each.split(_OR)) for each in wanted)
            yield CheckPart(f"{name} {kind}", met)
        elif kind == "must_exclude":
            yield CheckPart(f"{name} {kind}", not any(_has(one, given) for one in wanted))
        elif kind == "one_of":
            met = any(clean(one, strip=False) in given for one in wanted)
            yield CheckPart(f"{name} {kind}", met)
        elif kind == "required_values":
            yield CheckPart(f"{name} {kind}", _values(wanted, text))
        elif wanted == "N/A":
            right = given == "n/a"
            yield CheckPart(f"{name} {kind}", right, None if right else "judge")
        else:
            yield CheckPart(f"{name} {kind}", False, "judge")


def _has(reference: str, text: str) -> bool:
    return includes(reference, text, strip=False, by_token=True)


def _values(wanted: Sequence[str], text: str) -> bool:
    """Whether a whole number fulfils inequalities such as `>= 300`."""
    number = text.strip().replace(",", "")
    if not re.fullmatch(r"[+-]?\d+", number):
        return False
    return all(any(_compares(int(number), one) for one in each.split(_OR)) for each in wanted)


def _compares(value: int, inequality: str) -> bool:
    found = re.fullmatch(r"\s*(<=|>=|==|<|>)\s*(-?[\d.]+)\s*", inequality)
    if found is None:
        raise ValueError(f"not an inequality: {inequality!r}")
    sign, limit = found[1], float(found[2])
    if sign in ("<=", "<"):
        return value <= limit + _TOLERANCE if sign == "<=" else value < limit + _TOLERANCE
    if sign in (">=", ">"):
        return value >= limit - _TOLERANCE if sign == ">=" else value > limit - _TOLERANCE
    return abs(value - limit) <= _TOLERANCE


def _url(rules: Mapping[str, Any], url: str) -> CheckPart:
    given = _cleaned(url)
    wanted = [_cleaned(each) for each in rules["url"].split(_OR)]
    if rules["url_rule"] == "GOLD in PRED":
        return CheckPart("url_match", any(each in given for each in wanted))
    return CheckPart("url_match", given in wanted)


def _cleaned(url: str) -> str:
    return url.replace("localhost", "127.0.0.1").removesuffix("/")
