"""Page writer: one template engine, configured so that no foreign text becomes markup.

Every text that a template prints passes through `hexathlon.leaderboard.text.shown` and is then
escaped; there is no filter that disables either.
"""

from __future__ import annotations

import gzip
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader

from hexathlon.evaluators.content import Image, described
from hexathlon.evaluators.records.canonical import canonical_bytes, canonical_json
from hexathlon.evaluators.records.media import MediaStore, media_parts
from hexathlon.evaluators.records.reader import records_file
from hexathlon.leaderboard.boards import Board, BoardRow, board_title, tasksets_of
from hexathlon.leaderboard.charts import heat_step, scatter
from hexathlon.leaderboard.command import eval_command
from hexathlon.leaderboard.overview import overview
from hexathlon.leaderboard.submission import OUTCOMES, Submission, TrialLine
from hexathlon.leaderboard.text import LONGEST, finalise, inline_json, pretty_json, shorten

_HERE = Path(__file__).parent
TRIALS_PER_PAGE = 200
STEPS_PER_PAGE = 40
CHARACTERS_PER_PAGE = 400_000


class PageWriter:
    """Writes the pages of a site below one directory."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._engine = Environment(
            loader=FileSystemLoader(_HERE / "templates", encoding="utf-8"),
            autoescape=True,
            finalize=finalise,
            trim_blocks=True,
            auto_reload=False,
        )
        self._engine.filters["tojson_text"] = canonical_json
        self._engine.globals.update(
            board_title=board_title,
            heat_step=heat_step,
            pretty_json=pretty_json,
            scatter=scatter,
            shorten=shorten,
            tasksets_of=tasksets_of,
            media_name=MediaStore.name,
        )

    def static(self) -> None:
        """Copy stylesheet, script and logo."""
        shutil.copytree(_HERE / "static", self._out / "static")

    def index(
        self,
        submissions: Sequence[Submission],
        boards: Sequence[Board],
        rejected: Sequence[tuple[str, str]],
    ) -> Path:
        """Write the first page, the guide and ``board.json``."""
        self._page("guide.html", "guide.html", 0)
        self._bytes("board.json", canonical_bytes(_board_json(boards, rejected)) + b"\n")
        return self._page(
            "index.html",
            "index.html",
            0,
            submissions=submissions,
            boards=boards,
            rejected=rejected,
            overview=overview(boards),
            trials=sum(submission.summary.records for submission in submissions),
            teams=_teams(submissions),
            references=sum(one.reference is not None for one in submissions),
        )

    def submission(self, run: Submission, *, data: bool) -> None:
        """Write a submission's page, its plan and, with ``data``, its records."""
        folder = f"runs/{run.slug}"
        known = ((title, _known(run.plan.get(name))) for name, title in _CARD.items())
        card = [(title, value) for title, value in known if value not in _NOTHING]
        self._page(
            "submission.html",
            f"{folder}/index.html",
            2,
            run=run,
            card=card,
            command=eval_command(run.plan),
            data=data,
        )
        shutil.copyfile(run.path / "plan.json", self._out / folder / "plan.json")
        if data:
            _compress(records_file(run.path), self._out / folder / "records.jsonl.gz")

    def trials(self, run: Submission) -> None:
        """Write the failures-first index; its first page carries the whole index for filtering."""
        lines = run.trials
        starts = range(0, len(lines), TRIALS_PER_PAGE)
        files = ["trials.html", *(f"trials-{n}.html" for n in range(2, len(starts) + 1))]
        pages = list(enumerate(files, start=1))
        outcomes = [line.outcome for line in lines]
        counts = [(name, outcomes.count(name)) for name in OUTCOMES if name in outcomes]
        for start, (number, file) in zip(starts, pages, strict=True):
            self._page(
                "trials.html",
                f"runs/{run.slug}/{file}",
                2,
                run=run,
                trials=lines[start : start + TRIALS_PER_PAGE],
                counts=counts,
                page=number,
                pages=pages if len(pages) > 1 else [],
                index=inline_json(_trial_index(lines)) if number == 1 else None,
            )

    def trajectories(self, run: Submission, tick: Callable[[], None]) -> None:
        """Write one page per trial (several for long ones), reading the records again."""
        order = {line.line: position for position, line in enumerate(run.trials)}
        store = MediaStore.beside(run.path)
        for number, record in run.records():
            self._media(store, record)
            position = order[number]
            self._trajectory(run, position, record)
            tick()

    def _media(self, store: MediaStore, record: dict[str, Any]) -> None:
        """Write the images and files referenced by a record; each is stored once per site.

        Images are re-encoded, so that nothing but their pixels gets into the site.
        """
        for _, part in media_parts(record):
            path = f"media/{store.name(part)}"
            if not (self._out / path).exists():
                data = store.read(part)
                is_image = part["type"] == "image"
                self._bytes(path, Image.from_bytes(data).png() if is_image else data)

    def _trajectory(self, run: Submission, position: int, record: dict[str, Any]) -> None:
        line = run.trials[position]
        parts = list(_parts(record["steps"]))
        names = [_part_name(line.page, number) for number in range(1, len(parts) + 1)]
        before = run.trials[position - 1].page if position else None
        after = run.trials[position + 1].page if position + 1 < len(run.trials) else None
        for number, (steps, name) in enumerate(zip(parts, names, strict=True), start=1):
            self._page(
                "trajectory.html",
                f"runs/{run.slug}/{name}",
                4,
                run=run,
                line=line,
                record=record,
                steps=[{**step, "calls": _calls(step["action"])} for step in steps],
                page=number,
                pages=len(parts),
                names=[each.rpartition("/")[2] for each in names],
                previous=before,
                following=after,
            )

    def _page(self, template: str, path: str, depth: int, **values: Any) -> Path:
        text = self._engine.get_template(template).render(root="../" * depth, **values)
        return self._bytes(path, text.encode("utf-8"))

    def _bytes(self, path: str, data: bytes) -> Path:
        target = self._out / path
        try:
            target.write_bytes(data)
        except FileNotFoundError:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        return target


_NOTHING: tuple[Any, ...] = (None, "", [], {})


def _known(value: Any) -> Any:
    """Drop empty values, and flatten nested objects into separate lines."""
    if not isinstance(value, dict):
        return value
    inner = {
        f"{name} {key}" if isinstance(part, dict) else name: item
        for name, part in value.items()
        for key, item in (part if isinstance(part, dict) else {name: part}).items()
    }
    return {name: item for name, item in inner.items() if item not in _NOTHING}


def _teams(submissions: Sequence[Submission]) -> dict[str, int]:
    """Return the number of submissions of each team, reference agents excluded."""
    return Counter(s.team for s in submissions if s.team and s.reference is None)


_CARD = {
    "model": "Model",
    "limits": "Limits",
    "config": "Configuration",
    "sandbox": "Sandbox",
    "price_table": "Price table",
    "suite_version": "Suite version",
    "code": "Code",
    "hardware": "Hardware",
    "run_id": "Run",
}


def _board_json(boards: Sequence[Board], rejected: Sequence[tuple[str, str]]) -> dict[str, Any]:
    return {
        "schema": "hexathlon.board/1",
        "boards": [
            {
                "env": board.env,
                "title": board.title,
                "version": board.version,
                "tasksets": list(board.tasksets),
                "floor": board.floor,
                "ceiling": board.ceiling,
                "plan": board.plan or None,
                "rows": [_row_json(row) for row in board.rows],
            }
            for board in boards
        ],
        "rejected": [{"run": name, "reason": reason} for name, reason in rejected],
    }


def _row_json(row: BoardRow) -> dict[str, Any]:
    score = row.score
    return {
        "submission": row.submission.slug,
        "name": row.submission.name,
        "plan_hash": row.submission.plan["plan_hash"],
        "head": row.submission.head,
        "team": row.submission.team,
        "verified": row.submission.verified,
        "obstacle": row.submission.obstacle or None,
        "rerun_by": list(row.submission.rerun_by),
        "best": row.best,
        "worst": row.worst,
        "unranked": row.unranked,
        "reference": row.submission.reference,
        "flags": list(row.flags),
        "score": score.mean,
        "low": score.interval.low if score.interval else None,
        "high": score.interval.high if score.interval else None,
        "normalised": row.normalised,
        "tasks": score.tasks,
        "trials": score.trials,
        "unscored": score.unscored,
        "infra": score.infra,
        "bounds": [score.bounds.low, score.bounds.high],
        "infra_as_failure": score.bounds.infra_as_failure,
        "tokens": row.tokens,
        "cost": row.cost,
        "latency": row.latency,
        "judged": [one.as_json() for one in row.submission.judged.of(row.result.env)],
    }


def _trial_index(lines: Sequence[TrialLine]) -> dict[str, Any]:
    """Return the index of all trials as columns of small numbers that refer to shared words."""
    words: dict[str, int] = {}

    def word(text: str) -> int:
        return words.setdefault(str(finalise(text)), len(words))

    rows = [
        [
            line.line,
            word(line.outcome),
            word(line.task),
            word(line.level),
            word(line.template),
            word(line.cause or line.stop),
            line.seed,
            line.trial,
            line.reward,
            line.turns,
            line.tokens,
            None if line.seconds is None else round(line.seconds, 3),
        ]
        for line in lines
    ]
    return {"words": list(words), "rows": rows, "size": TRIALS_PER_PAGE}


def _parts(steps: Sequence[dict[str, Any]]) -> Iterator[Sequence[dict[str, Any]]]:
    """Split a trajectory into pages by steps and by size; at least one page."""
    start = size = 0
    for index, step in enumerate(steps):
        observed = described(step["observation"])
        own = min(len(step["action"]), LONGEST) + min(len(observed), LONGEST)
        full = index - start >= STEPS_PER_PAGE or size + own > CHARACTERS_PER_PAGE
        if full and index > start:
            yield steps[start:index]
            start, size = index, 0
        size += own
    yield steps[start:]


def _part_name(page: str, number: int) -> str:
    return page if number == 1 else page.replace(".html", f"-{number}.html")


def _calls(action: str) -> list[dict[str, Any]]:
    """Return the tool calls of an action in its canonical form; empty for prose."""
    if not action.lstrip().startswith(("{", "[")):
        return []
    try:
        value = json.loads(action)
    except (ValueError, RecursionError):
        return []
    calls = value if isinstance(value, list) else [value]
    if not all(isinstance(call, dict) and isinstance(call.get("name"), str) for call in calls):
        return []
    return [{"name": call["name"], "arguments": _arguments(call)} for call in calls]


def _arguments(call: dict[str, Any]) -> list[tuple[str, str]]:
    arguments = call.get("arguments", {})
    if not isinstance(arguments, dict):
        arguments = {"arguments": arguments}
    return [
        (name, value if isinstance(value, str) else pretty_json(value))
        for name, value in arguments.items()
    ]


def _compress(source: Path, target: Path) -> None:
    """Write a gzip file whose bytes depend only on the content."""
    with (
        source.open("rb") as file,
        target.open("wb") as raw,
        gzip.GzipFile("", "wb", compresslevel=3, fileobj=raw, mtime=0) as packed,
    ):
        shutil.copyfileobj(file, packed, 1 << 20)
