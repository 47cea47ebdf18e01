"""The command `arena`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hexathlon_cli.judge.options import (
    ApiKeyEnv,
    Cache,
    MaxTokens,
    RequestRetries,
    RubricName,
    Seed,
    Temperature,
    Timeout,
)
from hexathlon_cli.options import LevelName, SaltFile, TasksetName, Workers

if TYPE_CHECKING:
    from hexathlon.baselines.arena import ArenaResult

__all__ = ["arena"]

_OF_THE_JUDGE = (
    "seed", "temperature", "max_tokens", "cache", "api_key_env", "timeout", "request_retries"
)  # fmt: skip
_KINDS = ("rules", "groupwise", "pairwise")
ARENA_FILE = "arena.json"


def arena(
    players: Annotated[
        list[str],
        typer.Argument(
            help="Players: a run directory, or a MODEL as for `eval`, which plays the scenes "
            "first; NAME=PLAYER names one."
        ),
    ],
    out: Annotated[
        Path, typer.Option(help="Directory of the arena: the players' runs and arena.json.")
    ],
    envs: Annotated[str, typer.Option(help="Event of the scenes.")] = "RolePlay",
    taskset: TasksetName = None,
    split: Annotated[str, typer.Option(help="Split: train, dev, test or heldout.")] = "test",
    level: LevelName = None,
    scenes: Annotated[int, typer.Option(min=1, help="Number of scenes.")] = 40,
    task: Annotated[
        list[str] | None, typer.Option(help="Task id, to play only this scene; repeatable.")
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            help="Comparison: rules (the tasks' own scores), groupwise or pairwise. "
            "[default: groupwise with --judge, otherwise rules]"
        ),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(help="Judge model: endpoint:URL#NAME or a checkpoint directory."),
    ] = None,
    rubric: RubricName = None,
    permutations: Annotated[
        int, typer.Option(min=1, help="Orders per scene, for groupwise judging.")
    ] = 2,
    audit: Annotated[
        Path | None, typer.Option(help="Audit file of the judge, from `judge audit`.")
    ] = None,
    title: Annotated[str, typer.Option(help="Heading of the page.")] = "Arena",
    workers: Workers = None,
    seed: Seed = 0,
    temperature: Temperature = 0.0,
    max_tokens: MaxTokens = 2048,
    cache: Cache = None,
    api_key_env: ApiKeyEnv = "OPENAI_API_KEY",
    timeout: Timeout = 300.0,
    request_retries: RequestRetries = 4,
    salt_file: SaltFile = None,
) -> int:
    """Have players play the same scenes, and rate them by comparison.

    Every player's trials are an ordinary run in OUT/players, which `verify` and `leaderboard build`
    accept. The comparisons and ratings are written to OUT/arena.json; `leaderboard build --arena`
    makes a page of it. Ratings are on Elo's scale, with 95 % intervals.
    """
    given = dict(locals())
    from hexathlon.baselines.arena import (
        ArenaJudge,
        performances_of,
        run_arena,
        score_comparer,
    )
    from hexathlon.baselines.harness.errors import ExitCode, UsageError, near_miss
    from hexathlon.baselines.harness.plan import read_salt
    from hexathlon.baselines.harness.progress import Waiting
    from hexathlon.baselines.judging.opening import JudgeSettings
    from hexathlon.evaluators.judged.arena import write_arena
    from hexathlon.evaluators.judges.prompts import LETTERS
    from hexathlon.evaluators.records.plan import PLAN_FILE
    from hexathlon_cli.judge.audits import audits_of
    from hexathlon_cli.judge.rubrics import load_rubric
    from hexathlon_cli.output import note, print_text

    kind = kind or ("rules" if judge is None else "groupwise")
    if kind not in _KINDS:
        raise UsageError(near_miss("kind of comparison", kind, _KINDS))
    if (kind == "rules") != (judge is None):
        raise UsageError(
            f"--kind {kind} needs a judge: name it with --judge"
            if judge is None
            else "--kind rules uses no judge: leave out --judge, or choose groupwise or pairwise"
        )
    named = _named(players)
    if len(named) < 2:
        raise UsageError(f"expected at least two players, got {len(named)}")
    if kind == "groupwise" and len(named) > len(LETTERS):
        raise UsageError(
            f"a group has at most {len(LETTERS)} players, got {len(named)}: use --kind pairwise"
        )
    chosen = None if rubric is None else load_rubric(rubric)
    fields = {name: given[name] for name in ("taskset", "split", "level", "task", "workers")}
    fields |= {"envs": [envs], "tasks": scenes, "salt_file": salt_file}
    runs = {
        name: Path(player) if Path(player, PLAN_FILE).exists() else _played(
            player, out / "players" / name, fields
        )
        for name, player in named.items()
    }  # fmt: skip
    found, performances = performances_of(runs)
    out.mkdir(parents=True, exist_ok=True)
    about: dict[str, Any] = {}
    if judge is None:
        result = run_arena(performances, score_comparer)
    else:
        own = {name: given[name] for name in _OF_THE_JUDGE}
        own["cache"] = cache or out / "verdicts.cache"
        judged = ArenaJudge(
            JudgeSettings(judge, **own), pairwise=kind == "pairwise", permutations=permutations
        )
        (audited,) = audits_of([] if audit is None else [audit], [judged.identity])
        salt = read_salt(salt_file)
        with Waiting("judging"):
            result, about = judged.compare(
                found, performances, rubric=chosen, audit=audited, salt=salt
            )
    path = out / ARENA_FILE
    content = {"title": title, "kind": kind, "players": [player.as_json() for player in found]}
    write_arena(path, {**content, "judge": about, **result.as_json()})
    _print(result, about)
    if result.unplayed:
        note(f"{result.unplayed} performances ended in infrastructure failures: not compared")
    if result.abstained:
        note(f"{result.abstained} pairs were not decided: not in the ratings")
    print_text(f"Arena: {path}")
    return ExitCode.FINE if result.comparisons else ExitCode.UNSCORED


def _named(players: Sequence[str]) -> dict[str, str]:
    """Return the players by name: the given one, or one made from the run or the model."""
    from hexathlon.baselines.harness.errors import UsageError

    named: dict[str, str] = {}
    for player in players:
        before, sign, rest = player.partition("=")
        explicit = bool(sign) and before.replace("-", "").replace("_", "").isalnum()
        spec = rest if explicit else player
        name = before if explicit else _name_of(spec)
        if name in named:
            raise UsageError(f"two players are called {name!r}: name them, as in a={spec}")
        named[name] = spec
    return named


def _name_of(spec: str) -> str:
    """Return the model's name, the agent's, or that of the directory."""
    name = spec.rpartition("#")[2].removeprefix("agent:")
    return Path(name).name.replace(":", "-") or "player"


def _played(model: str, run: Path, fields: Mapping[str, Any]) -> Path:
    """Have a model play the scenes, or continue its run."""
    from hexathlon.baselines.harness.config import load_config
    from hexathlon.baselines.harness.run import evaluate
    from hexathlon_cli.cluster import remote_players
    from hexathlon_cli.output import note
    from hexathlon_cli.runs import describe

    flags = {**fields, "model": model, "task": fields["task"] or None}
    if flags["task"]:
        del flags["envs"], flags["tasks"]
    plan, execution = load_config(flags, None)
    note(f"player: {run.name} ({model})")
    with remote_players(execution) as open_players:
        describe(evaluate(plan, execution, run, open_players=open_players))
    return run


def _print(result: "ArenaResult", about: Mapping[str, Any]) -> None:
    from hexathlon.baselines.harness.report import percent
    from hexathlon.baselines.harness.tables import ReportTable
    from hexathlon_cli.output import note, print_table

    if about.get("rejected"):
        note(f"ratings withheld, the judge's audit rejects it: {'; '.join(about['rejected'])}")
        return
    headings = ("player", "rating", "95% interval", "comparisons", "won")
    for group in result.groups:
        rows = tuple(
            (
                one.player,
                f"{one.rating:+.0f}",
                f"{one.low:+.0f} to {one.high:+.0f}",
                f"{one.comparisons:,}",
                percent(one.score),
            )
            for one in group.ratings
        )
        print_table(ReportTable("Ratings on Elo's scale, mean 0", headings, rows))
    if about and not about["audited"]:
        note("the judge is not audited, and the ratings are marked so; see `hexathlon judge audit`")
