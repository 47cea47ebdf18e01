"""The command `judge run`, or `judge RUN` for short."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hexathlon_cli.judge.options import (
    ApiKeyEnv,
    Cache,
    Concurrency,
    Families,
    Images,
    JudgeModels,
    MaxTokens,
    RequestRetries,
    Revision,
    RubricName,
    Seed,
    Temperature,
    Timeout,
)
from hexathlon_cli.options import ClusterAddress, Prices, SaltFile

if TYPE_CHECKING:
    from hexathlon.baselines.judging.client import JudgeClient
    from hexathlon.baselines.judging.run import CriterionJudge

__all__ = ["run"]

_MOST_SHOWN = 10
_OF_THE_JUDGE = (
    "seed", "concurrency", "temperature", "max_tokens", "revision", "images", "cache", "prices",
    "api_key_env", "timeout", "request_retries",
)  # fmt: skip


def run(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    rubric: RubricName = None,
    model: JudgeModels = None,
    kind: Annotated[
        str,
        typer.Option(
            help="Judging mode: pointwise; turns, which decides each criterion turn by turn; "
            "first_error, which looks for the first wrong turn; pairwise or groupwise."
        ),
    ] = "pointwise",
    permutations: Annotated[
        int, typer.Option(min=1, help="Orders per group, for groupwise judging.")
    ] = 2,
    audit: Annotated[
        list[Path] | None, typer.Option(help="Audit file of each model, from `judge audit`.")
    ] = None,
    max_unscored: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="Maximum share of undecided trials; above it, exit code 2."
        ),
    ] = 0.02,
    seed: Seed = 0,
    concurrency: Concurrency = 64,
    temperature: Temperature = 0.0,
    max_tokens: MaxTokens = 2048,
    family: Families = None,
    revision: Revision = "",
    images: Images = False,
    cache: Cache = None,
    prices: Prices = None,
    api_key_env: ApiKeyEnv = "OPENAI_API_KEY",
    timeout: Timeout = 300.0,
    request_retries: RequestRetries = 4,
    cluster: ClusterAddress = None,
    salt_file: SaltFile = None,
) -> int:
    """Judge the trials of a run; the records are not changed.

    Without --model, only the criteria that code decides are scored. With several models, each
    criterion is decided by their majority.
    """
    given = dict(locals())
    settings: dict[str, Any] = {name: given[name] for name in _OF_THE_JUDGE}
    from hexathlon.baselines.harness.errors import ExitCode, UsageError, near_miss
    from hexathlon.baselines.harness.plan import read_salt
    from hexathlon.baselines.judging.opening import JudgeSettings, identify_judge, open_client
    from hexathlon.baselines.judging.plan import KINDS, JudgingPlan
    from hexathlon.baselines.judging.run import judge_run
    from hexathlon.evaluators.judged.file import JUDGED_FOLDER
    from hexathlon_cli.cluster import judges_on
    from hexathlon_cli.judge.audits import audits_of
    from hexathlon_cli.judge.rubrics import load_rubric
    from hexathlon_cli.output import note, print_text

    if kind not in KINDS:
        raise UsageError(near_miss("kind of judge", kind, KINDS))
    chosen = None if rubric is None else load_rubric(rubric)
    models = list(model or ())
    if len(models) > 1 and kind != "pointwise":
        raise UsageError(f"a panel judges pointwise, not {kind}")
    if kind in ("turns", "first_error") and not models:
        raise UsageError(f"{kind} judging needs a model: --model")
    if kind == "first_error":
        if rubric not in (None, "first_error"):
            raise UsageError(f"first_error judging has a rubric of its own, got --rubric {rubric}")
        chosen = load_rubric("first_error")
    if cache is None:
        settings["cache"] = run / JUDGED_FOLDER / "verdicts.cache"
    families = [*(family or ()), *[""] * len(models)]
    members = [
        JudgeSettings(name, family=kin, **settings)
        for name, kin in zip(models, families, strict=False)
    ]
    identities = [identify_judge(member) for member in members]
    audits = audits_of(audit or (), identities)
    plan = JudgingPlan(
        run,
        chosen,
        kind,
        [one.as_json() for one in identities],
        tuple(sorted({name for one in identities for name in one.families})),
        audits,
        permutations,
        read_salt(salt_file),
    )
    with judges_on(cluster) as place:
        clients = [open_client(*both, place) for both in zip(members, identities, strict=True)]
        result = judge_run(plan, clients, _judge(clients, kind), concurrency)
    for missed in result.missed[:_MOST_SHOWN]:
        note(f"wrong verdict on a planted control: {missed}")
    print_text(f"{result.scored:,} of {result.trials:,} trials have a judged score: {result.path}")
    if not any(plan.audits) and models:
        note("the judge is not audited, and its scores are marked so; see `hexathlon judge audit`")
    if result.missed:
        return ExitCode.NOT_VERIFIED
    unscored = 1.0 - result.scored / result.trials if result.trials else 0.0
    return ExitCode.UNSCORED if unscored > max_unscored else ExitCode.FINE


def _judge(clients: "Sequence[JudgeClient]", kind: str) -> "CriterionJudge":
    from hexathlon.baselines.judging.code import CodeJudge
    from hexathlon.baselines.judging.panel import PanelJudge
    from hexathlon.baselines.judging.pointwise import PointwiseJudge
    from hexathlon.baselines.judging.process import ByFirstError, ByTurns

    if not clients:
        return CodeJudge()
    if kind == "first_error":
        return ByFirstError(clients[0])
    members = [PointwiseJudge(client) for client in clients]
    if kind == "turns":
        return ByTurns(members[0])
    return members[0] if len(members) == 1 else PanelJudge(members)
