"""WebArena-Verified: a typed answer and network events of the stored trace.

The published rules without their loopholes: an answer is never a pattern and never a list of
alternatives, and every value of a repeated query parameter counts.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.evaluators.verdict import Verdict
from hexathlon.evaluators.verifier import Messages
from hexathlon.evaluators.web.events import Event, EventUrl, event_of
from hexathlon.evaluators.web.jsonpath import find, is_path
from hexathlon.evaluators.web.kinds import is_pattern
from hexathlon.evaluators.web.typed import matches, same_items
from hexathlon.tasks.task import Task
from hexathlon.tasks.web.loaders.sites import resolved

__all__ = ["webarena_verified"]

Rule = Mapping[str, Any]


def webarena_verified(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: Messages
) -> Verdict:
    """Score an episode: the answer and every network check have to hold.

    Args:
        task: Not used.
        params: `response` and `events`, the published rules by kind.
        final_state: `answer` (`task_type`, `status`, `retrieved_data`), `network` (HAR entries)
            and `sites` (URLs by site).
        transcript: Not used.
    """
    urls = final_state.get("sites", {})
    answer = final_state.get("answer") or {}
    events = [event_of(entry) for entry in final_state.get("network", ())]
    terms: dict[str, float] = {}
    for rule in params["response"]:
        terms |= _answer_terms(_rendered(rule, urls), answer)
    kind = params["response"][0]["expected"]["task_type"]
    for place, rule in enumerate(params["events"]):
        met = _holds(_rendered(rule, urls), events, kind)
        terms[f"event {place}"] = float(met)
    return Verdict(
        score=float(all(terms.values())), partial=sum(terms.values()) / len(terms), terms=terms
    )


def _rendered(rule: Any, urls: Mapping[str, str]) -> Any:
    """Put URLs in place of placeholders; inside a pattern they are escaped."""
    if isinstance(rule, str):
        escaped = {name: re.escape(url) for name, url in urls.items()}
        return resolved(rule, escaped if is_pattern(rule) else urls)
    if isinstance(rule, Mapping):
        return {key: _rendered(value, urls) for key, value in rule.items()}
    if isinstance(rule, list | tuple):
        return [_rendered(value, urls) for value in rule]
    return rule


# The answer --------------------------------------------------------------------------------------


def _answer_terms(rule: Rule, answer: Mapping[str, Any]) -> dict[str, float]:
    expected = rule["expected"]
    terms = {
        name: float(matches(expected[name], answer.get(name), {}))
        for name in ("task_type", "status")
    }
    if expected["task_type"].lower() == "retrieve":
        wanted = _filled(expected.get("retrieved_data"))
        given = _filled(answer.get("retrieved_data"))
        items = rule.get("results_schema", {}).get("items", {})
        if wanted is None or given is None:
            met = wanted is given
        else:
            listed = wanted if isinstance(wanted, list | tuple) else [wanted]
            met = same_items(listed, given, items, ordered=bool(rule.get("ordered")))
        terms["retrieved_data"] = float(met)
    return terms


def _filled(data: Any) -> Any:
    """Return data, or None if it is empty; 0 and false are data."""
    return data if data or isinstance(data, int | float) else None


# Events ------------------------------------------------------------------------------------------


def _holds(rule: Rule, events: Sequence[Event], task_type: str) -> bool:
    """Whether the trace has the event that a rule requires, or lacks a forbidden one."""
    expected = rule["expected"]
    method = str(expected.get("http_method", "GET")).upper()
    relevant = [event for event in events if not event.is_asset]
    if task_type.lower() == "navigate" and method == "GET":
        candidates = [event for event in relevant if event.is_navigation][-1:]
    else:
        candidates = [
            event for event in relevant if event.method == method and _is_place(rule, event)
        ]
    if rule.get("should_not_exist"):
        return not candidates
    if rule.get("last_event_only", True):
        candidates = candidates[-1:]
    return any(event.method == method and _fits(rule, event) for event in candidates)


def _is_place(rule: Rule, event: Event) -> bool:
    """Whether an event went to the required path, from the required page if one is named."""
    given = _address(event.url, rule)
    if not any(wanted.same_path(given) for wanted in _wanted(rule, rule["expected"]["url"])):
        return False
    origin = rule["expected"].get("headers", {}).get("referer")
    if origin is None or "referer" not in event.headers:
        return True
    came = _address(event.headers["referer"], rule)
    return any(wanted.same_path(came) for wanted in _wanted(rule, origin))


def _fits(rule: Rule, event: Event) -> bool:
    expected = rule["expected"]
    query = expected.get("query_params")
    given = _address(event.url, rule)
    wanted = _wanted(rule, expected["url"])
    if query is not None:
        wanted = [address.with_query(query) for address in wanted]
    return (
        any(address.same_path(given) and _same_query(rule, address, given) for address in wanted)
        and int(expected.get("response_status", 200)) == event.status
        and _same_headers(rule, event)
        and _same_body(rule, expected.get("post_data"), event.sent)
        and _same_fields(expected.get("response_content"), event.content, {})
        and _same_fields(expected.get("response_cookies"), event.cookies, {})
    )


def _wanted(rule: Rule, urls: Any) -> list[EventUrl]:
    return [_address(url, rule) for url in (urls if isinstance(urls, list) else [urls])]


def _address(url: str, rule: Rule) -> EventUrl:
    return EventUrl.parse(url, decode_base64=bool(rule.get("decode_base64_query")))


def _same_query(rule: Rule, wanted: EventUrl, given: EventUrl) -> bool:
    names = {*wanted.query, *given.query} - set(rule.get("ignored_query_params") or ())
    patterns = rule.get("ignored_query_params_patterns") or ()
    schema = (rule.get("query_params_schema") or {}).get("properties", {})
    for name in names:
        if any(re.search(pattern, name, re.IGNORECASE) for pattern in patterns):
            continue
        left, right = (address.query.get(name) or ("",) for address in (wanted, given))
        if len(left) != len(right):
            return False
        kind = schema.get(name, {}).get("items", {})
        if not all(_same_parameter(a, b, kind) for a, b in zip(left, right, strict=True)):
            return False
    return True


def _same_parameter(wanted: str, given: str, kind: Rule) -> bool:
    if kind.get("format"):
        return matches(wanted, given, kind)
    if is_pattern(wanted):
        return re.match(wanted, given) is not None
    return wanted == given


def _same_headers(rule: Rule, event: Event) -> bool:
    for name, wanted in (rule["expected"].get("headers") or {}).items():
        given = event.headers.get(name.lower())
        if given is None:
            return False
        if name.lower() == "referer":
            came = _address(given, rule)
            if not any(
                address.same_path(came) and _same_query(rule, address, came)
                for address in _wanted(rule, wanted)
            ):
                return False
        elif not matches(wanted, given, {"type": "string"}):
            return False
    return True


def _same_body(rule: Rule, wanted: Any, given: Mapping[str, Any] | None) -> bool:
    if not wanted:
        return True
    ignored = rule.get("ignored_post_data_params_patterns") or ()
    kept = {
        name: value
        for name, value in (given or {}).items()
        if not any(re.search(pattern, name) for pattern in ignored)
    }
    named = {
        name: value
        for name, value in wanted.items()
        if not any(re.search(pattern, name) for pattern in ignored)
    }
    return given is not None and _same_fields(named, kept, rule.get("post_data_schema") or {})


def _same_fields(wanted: Any, given: Mapping[str, Any] | None, schema: Rule) -> bool:
    """Whether a body has the required fields; others are ignored."""
    if not wanted:
        return True
    if given is None:
        return False
    kinds = schema.get("properties", {})
    return all(
        _same_field(
            value, find(given, name) if is_path(name) else given.get(name), kinds.get(name, {})
        )
        for name, value in wanted.items()
    )


def _same_field(wanted: Any, given: Any, kind: Rule) -> bool:
    if isinstance(wanted, Mapping) and isinstance(given, Mapping):
        return _same_fields(wanted, given, kind)
    return matches(wanted, given, kind)
