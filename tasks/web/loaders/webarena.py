"""WebArena and VisualWebArena: tasks with answers as text, URLs and page contents.

`HEXATHLON_DATA/webarena/test.raw.json` has WebArena's 812 tasks; `HEXATHLON_DATA/visualwebarena`
has VisualWebArena's three files. WebArena grades no difficulty, so its tasks are all `medium`;
VisualWebArena's own `overall_difficulty` becomes the level.
"""

from collections.abc import Mapping
from typing import Any

from hexathlon.tasks.task import LEVELS, Check, Level
from hexathlon.tasks.web.loaders.loaded import LoadedTask, LoadedWebTasks, start_urls_of
from hexathlon.tasks.web.loaders.probes import probe_of
from hexathlon.tasks.web.loaders.tools import TEXT_ANSWER_TOOLS

__all__ = ["VisualWebArenaSource", "WebArenaSource", "visual_source", "webarena_source"]


class WebArenaSource(LoadedWebTasks):
    """WebArena's 812 tasks, with its own score and, beside it, a stricter one."""

    name = "webarena"
    folder = "webarena"
    files = ("test.raw.json",)

    def parse(self, entry: Mapping[str, Any], index: int) -> LoadedTask:
        """Read one task."""
        params = _params(entry)
        checks = (
            Check(name="webarena", params=params),
            Check(name="webarena_strict", params=params, headline=False),
        )
        template = f"t{entry['intent_template_id']}"
        return _task(entry, index, template, "medium", checks)


class VisualWebArenaSource(LoadedWebTasks):
    """VisualWebArena's 910 tasks; parts that need vision are left unscored and named."""

    name = "visualwebarena"
    folder = "visualwebarena"
    files = ("test_classifieds.raw.json", "test_reddit.raw.json", "test_shopping.raw.json")

    def parse(self, entry: Mapping[str, Any], index: int) -> LoadedTask:
        """Read one task."""
        params = {**_params(entry), "images": list(entry["eval"].get("page_image_query") or ())}
        level = entry["overall_difficulty"]
        template = f"{entry['sites'][0]}-{entry['intent_template_id']}"
        checks = (Check(name="visualwebarena", params=params),)
        return _task(entry, index, template, level if level in LEVELS else "medium", checks)


def _params(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the checks: the published `eval` without unused parts."""
    rules = entry["eval"]
    return {
        "types": list(rules["eval_types"]),
        "intent": entry["intent"],
        "answers": rules.get("reference_answers") or {},
        "note": rules.get("string_note") or "",
        "url": rules.get("reference_url") or "",
        "url_rule": rules.get("url_note") or "",
        "contents": [target["required_contents"] for target in rules.get("program_html") or ()],
    }


def _task(
    entry: Mapping[str, Any], index: int, template: str, level: Level, checks: tuple[Check, ...]
) -> LoadedTask:
    images = entry.get("image") or ()
    shown = [images] if isinstance(images, str) else list(images)
    about = "".join(f"\nImage {place}: {url}" for place, url in enumerate(shown, 1))
    extra = {
        "storage_state": entry.get("storage_state") or "",
        "geolocation": entry.get("geolocation"),
        "viewport": entry.get("viewport_size"),
        "images": shown,
    }
    probes = [probe_of(target) for target in entry["eval"].get("program_html") or ()]
    return LoadedTask(
        template=template, level=level, index=index, instruction=entry["intent"] + about,
        start_urls=start_urls_of(entry["start_url"]), sites=tuple(entry["sites"]),
        tools=TEXT_ANSWER_TOOLS, checks=checks, answer={"answer": _answer(entry)},
        probes=tuple(probes), extra=extra,
    )  # fmt: skip


def _answer(entry: Mapping[str, Any]) -> str:
    """Return the published answer as text; empty if none is asked for."""
    answers = entry["eval"].get("reference_answers") or {}
    parts = []
    for value in answers.values():
        given = [value] if isinstance(value, str) else list(value)
        parts += [str(one).partition(" |OR| ")[0] for one in given]
    return ", ".join(dict.fromkeys(parts))


def webarena_source() -> WebArenaSource:
    """Create WebArena's source; the file is read when a task is requested."""
    return WebArenaSource()


def visual_source() -> VisualWebArenaSource:
    """Create VisualWebArena's source; the files are read when a task is requested."""
    return VisualWebArenaSource()
