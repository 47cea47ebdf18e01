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

from hexathlon.evaluators.judged.arena import ArenaDocument
from hexathlon.evaluators.records.canonical import canonical_bytes, canonical_json, sha256_hex
from hexathlon.evaluators.records.plan import PLAN_FILE
from hexathlon.leaderboard import figures
from hexathlon.leaderboard.arenas import arena_players, rating_chart
from hexathlon.leaderboard.boards import Board, board_anchor, board_title, tasksets_of
from hexathlon.leaderboard.cache import Packed, SiteCache, code_digest
from hexathlon.leaderboard.charts import curve, heat_step, learning_curve, scatter
from hexathlon.leaderboard.checklist import SuiteReport, assess
from hexathlon.leaderboard.command import eval_command
from hexathlon.leaderboard.entry import json_schema
from hexathlon.leaderboard.exports import board_json, csv_bytes, every_eval_ever, parquet_bytes
from hexathlon.leaderboard.ledger import LedgerLine, rounds
from hexathlon.leaderboard.methods import Method
from hexathlon.leaderboard.overview import overview, point_rows
from hexathlon.leaderboard.packing import packed_text
from hexathlon.leaderboard.repeating import stored_outcomes
from hexathlon.leaderboard.submission import Submission
from hexathlon.leaderboard.text import finalise, pretty_json, shown

_HERE = Path(__file__).parent
_FILES = {"submission": "index"}


class PageWriter:
    """Writes the pages of a site below one directory."""

    def __init__(self, out: Path, cache: SiteCache, *, arenas: bool = False) -> None:
        self._out = out
        self._cache = cache
        self._arenas = arenas
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
            {name: getattr(figures, name) for name in figures.__all__},
            arenas_shown=arenas,
            board_anchor=board_anchor,
            board_title=board_title,
            heat_step=heat_step,
            rating_chart=rating_chart,
            reruns=stored_outcomes,
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
        ledger: Sequence[LedgerLine] = (),
    ) -> Path:
        """Write the first page, the guide and the boards."""
        self._page("guide.html", "guide.html", 0)
        teams = _teams(submissions)
        for board in boards:
            values = {"board": board, "teams": teams, "rounds": rounds(ledger, board.commitments)}
            self._page("board.html", f"boards/{board.anchor}.html", 1, **values)
        whole = overview(boards)
        self._page("points.html", "points.html", 0, overview=whole, rows=point_rows(whole))
        self._compare(submissions)
        return self._page(
            "index.html",
            "index.html",
            0,
            submissions=submissions,
            boards=boards,
            rejected=rejected,
            overview=whole,
            trials=sum(submission.summary.records for submission in submissions),
            teams=teams,
            references=sum(one.reference is not None for one in submissions),
        )

    def _compare(self, submissions: Sequence[Submission]) -> None:
        ordered = sorted(submissions, key=lambda one: one.reference is not None)
        systems = [
            {
                "slug": one.slug,
                "name": shown(one.name),
                "team": shown(one.team),
                "envs": [f"{env.env} {env.version}" for env in one.summary.envs],
            }
            for one in ordered
        ]
        if systems:
            self._bytes("data/systems.js", packed_text("systems", canonical_bytes(systems)))
        self._page("compare.html", "compare.html", 0)

    def data(self, boards: Sequence[Board], rejected: Sequence[tuple[str, str]]) -> None:
        """Write the data files and their page."""
        schema = json.dumps(json_schema(), indent=1, sort_keys=True).encode() + b"\n"
        files = (
            ("board.json", "All boards and rows", _json_line(board_json(boards, rejected))),
            ("board.csv", "One line per row of every board", csv_bytes(boards)),
            ("board.parquet", "The same as Parquet", parquet_bytes(boards)),
            ("every-eval-ever.jsonl", "One line per system, for Every Eval Ever",
             every_eval_ever(boards)),
            ("submission.schema.json", "JSON schema of submissions", schema),
        )  # fmt: skip
        listed = []
        for name, contents, data in files:
            if data is not None:
                self._bytes(name, data)
                listed.append((name, contents, len(data)))
        self._page("data.html", "data.html", 0, files=listed)

    def checklist(self, report: SuiteReport | None) -> None:
        """Write the self-assessment."""
        points = assess(report)
        parts = list(dict.fromkeys(point.part for point, _, _ in points))
        values = {"points": points, "parts": parts, "tested": report is not None}
        self._page("checklist.html", "checklist.html", 0, **values)

    def methods(self, methods: Sequence[Method]) -> None:
        """Write the pages of training runs."""
        self._page("methods.html", "methods.html", 0, methods=methods)
        for method in methods:
            curves = [found for name in method.metrics if (found := curve(method, name))]
            self._page(
                "method.html",
                f"methods/{method.anchor}.html",
                1,
                method=method,
                curves=curves,
                recipe=pretty_json(method.recipe),
                total=sum(run.seconds for run in method.runs),
            )

    def arenas(self, arenas: Sequence[ArenaDocument], submissions: Sequence[Submission]) -> None:
        """Write the page of arenas, if there are any."""
        if arenas:
            pairs = [(arena, arena_players(arena, submissions)) for arena in arenas]
            self._page("arenas.html", "arenas.html", 0, arenas=pairs)

    def ledger(self, lines: Sequence[LedgerLine], submissions: Sequence[Submission]) -> None:
        """Write the ledger's page."""
        slugs = {one.entry.identifier: one.slug for one in submissions if one.entry is not None}
        head = lines[-1].hash if lines else ""
        self._page("ledger.html", "ledger.html", 0, lines=lines, slugs=slugs, head=head)

    def submission(self, packed: Packed, method: Method | None = None) -> None:
        """Write a submission's pages and place its packed files beside them.

        Args:
            packed: The submission.
            method: Of the training run beside it, for a learning curve on its page.
        """
        run = packed.submission
        folder = self._out / "runs" / run.slug
        (folder / "data").mkdir(parents=True)
        known = ((title, _known(run.plan.get(name))) for name, title in _CARD.items())
        card = [(title, value) for title, value in known if value not in _NOTHING]
        facts = [run.slug, run.verified, run.obstacle, run.rerun_by, packed.folder.name, run.entry]
        learning = None if method is None else learning_curve(method)
        for name in ("submission", "trials", "trial"):
            target = f"runs/{run.slug}/{_FILES.get(name, name)}.html"
            values = {"run": run, "card": card, "command": eval_command(run.plan)}
            values |= {"method": method, "learning": learning}
            facts_of_page = [*facts, run.judged, method and method.anchor, learning, self._arenas]
            self._cached(f"{name}.html", target, facts_of_page, **values)
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


def _json_line(value: Any) -> bytes:
    return canonical_bytes(value) + b"\n"


def _link(source: Path, target: Path) -> None:
    """Place a file of the cache in the site, without a second copy where links are possible."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
