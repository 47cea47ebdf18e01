"""Page writer: one template engine, configured so that no foreign text becomes markup.

Every text that a template prints passes through `hexathlon.leaderboard.text.shown` and is then
escaped; there is no filter that disables either.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader

from hexathlon.evaluators.records.canonical import canonical_bytes, canonical_json, sha256_hex
from hexathlon.evaluators.records.plan import PLAN_FILE
from hexathlon.leaderboard.boards import Board, BoardRow, board_title, tasksets_of
from hexathlon.leaderboard.cache import Packed, SiteCache, code_digest
from hexathlon.leaderboard.charts import heat_step, scatter
from hexathlon.leaderboard.command import eval_command
from hexathlon.leaderboard.entry import json_schema
from hexathlon.leaderboard.ledger import LedgerLine
from hexathlon.leaderboard.overview import overview
from hexathlon.leaderboard.submission import Submission
from hexathlon.leaderboard.text import finalise

_HERE = Path(__file__).parent
_FILES = {"submission": "index"}


class PageWriter:
    """Writes the pages of a site below one directory."""

    def __init__(self, out: Path, cache: SiteCache) -> None:
        self._out = out
        self._cache = cache
        self.page_keys: set[str] = set()
        """Keys of the cached pages that the site uses."""
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
            scatter=scatter,
            tasksets_of=tasksets_of,
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
        for board in boards:
            page = f"boards/{board.anchor}.html"
            self._page("board.html", page, 1, board=board, teams=_teams(submissions))
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

    def ledger(self, lines: Sequence[LedgerLine], submissions: Sequence[Submission]) -> None:
        """Write the ledger's page and the schema of submissions."""
        slugs = {one.entry.identifier: one.slug for one in submissions if one.entry is not None}
        head = lines[-1].hash if lines else ""
        self._page("ledger.html", "ledger.html", 0, lines=lines, slugs=slugs, head=head)
        text = json.dumps(json_schema(), indent=1, sort_keys=True)
        self._bytes("submission.schema.json", text.encode() + b"\n")

    def submission(self, packed: Packed) -> None:
        """Write a submission's pages and place its packed files beside them."""
        run = packed.submission
        folder = self._out / "runs" / run.slug
        (folder / "data").mkdir(parents=True)
        known = ((title, _known(run.plan.get(name))) for name, title in _CARD.items())
        card = [(title, value) for title, value in known if value not in _NOTHING]
        shown = [run.slug, run.verified, run.obstacle, run.rerun_by, packed.folder.name, run.entry]
        for name in ("submission", "trials", "trial"):
            target = f"runs/{run.slug}/{_FILES.get(name, name)}.html"
            values = {"run": run, "card": card, "command": eval_command(run.plan)}
            self._cached(f"{name}.html", target, [*shown, run.judged], **values)
        _link(packed.folder / PLAN_FILE, folder / PLAN_FILE)
        for file in sorted((packed.folder / "data").iterdir()):
            _link(file, folder / "data" / file.name)
        self._media(packed.media)

    def _media(self, names: Sequence[str]) -> None:
        if names:
            (self._out / "media").mkdir(exist_ok=True)
        for name in names:
            if not (self._out / "media" / name).exists():
                _link(self._cache.media / name, self._out / "media" / name)

    def _cached(self, template: str, path: str, facts: Sequence[Any], **values: Any) -> None:
        """Write a page that depends only on these facts, the values and the code."""
        key = sha256_hex(repr([code_digest(), template, *facts]).encode())[:32]
        self.page_keys.add(key)
        place = self._cache.page(key)
        if not place.exists():
            text = self._engine.get_template(template).render(root="../../", **values)
            place.write_bytes(text.encode("utf-8"))
        _link(place, self._out / path)

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


def _link(source: Path, target: Path) -> None:
    """Place a file of the cache in the site, without a second copy where links are possible."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
