"""Implementation of the commands of `judging`, imported when they run."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hexathlon.baselines.engines.errors import EngineError
from hexathlon.baselines.harness.errors import EnvironmentUnavailable, ExitCode, UsageError
from hexathlon.baselines.harness.plan import read_salt
from hexathlon.baselines.harness.progress import Progress
from hexathlon.baselines.harness.report import Table, percent, span
from hexathlon.baselines.judging.audit import Auditor, AuditSettings
from hexathlon.baselines.judging.client import JudgeClient, JudgeIdentity
from hexathlon.baselines.judging.code import CodeJudge
from hexathlon.baselines.judging.opening import JudgeSettings, identify_judge, open_client
from hexathlon.baselines.judging.panel import PanelJudge
from hexathlon.baselines.judging.plan import JudgingPlan
from hexathlon.baselines.judging.pointwise import PointwiseJudge
from hexathlon.baselines.judging.run import judge_run
from hexathlon.evaluators.judged.file import JUDGED_FOLDER
from hexathlon.evaluators.judges.audit.document import (
    Audit,
    AuditError,
    read_audit,
    write_audit,
)
from hexathlon.evaluators.judges.audit.labelled import (
    LabelError,
    LabelledReply,
    generate_labels,
    read_labels_file,
    write_labels,
)
from hexathlon.evaluators.judges.lint import lint
from hexathlon.evaluators.judges.rubric import Rubric, RubricError
from hexathlon.evaluators.judges.rubric_files import get_rubric, read_rubric
from hexathlon_cli.output import note, print_table, print_text

_SHOWN = 10


def judge_command(
    run: Path,
    rubric: str | None,
    model: Sequence[str] | None,
    kind: str,
    permutations: int,
    audit: Sequence[Path] | None,
    max_unscored: float,
    family: Sequence[str] | None,
    salt_file: Path | None,
    **options: Any,
) -> int:
    """Run `hexathlon judge RUN`."""
    chosen = None if rubric is None else _rubric(rubric)
    models = list(model or ())
    if len(models) > 1 and kind != "pointwise":
        raise UsageError(f"a panel judges pointwise, not {kind}")
    if options["cache"] is None:
        options["cache"] = run / JUDGED_FOLDER / "verdicts.cache"
    families = [*(family or ()), *[""] * len(models)]
    settings = [
        _settings(name, family=kin, **options) for name, kin in zip(models, families, strict=False)
    ]
    identities = [identify_judge(one) for one in settings]
    audits = _audits(audit or (), identities)
    clients = [open_client(one, who) for one, who in zip(settings, identities, strict=True)]
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
    done = judge_run(plan, clients, _judge(clients), options["concurrency"])
    for missed in done.missed[:_SHOWN]:
        note(f"wrong verdict on a planted control: {missed}")
    print_text(f"{done.scored:,} of {done.trials:,} trials have a judged score: {done.path}")
    if not any(plan.audits) and models:
        note("the judge is not audited, and its scores are marked; see `hexathlon judge audit`")
    if done.missed:
        return ExitCode.NOT_VERIFIED
    unscored = 1.0 - done.scored / done.trials if done.trials else 0.0
    return ExitCode.UNSCORED if unscored > max_unscored else ExitCode.FINE


def audit_command(
    model: str, labels: str, rubric: str, out: Path, items: int, own: Sequence[str] | None,
    **options: Any,
) -> int:  # fmt: skip
    """Run `hexathlon judge audit`."""
    asked = ("seed", "repeat_items", "repeats", "pairs", "padded", "groups", "attacked", "level")
    amounts = AuditSettings(**{name: options[name] for name in asked}, own=tuple(own or ()))
    for name in asked[1:]:
        options.pop(name)
    chosen = _rubric(rubric)
    replies = _labels(labels, chosen, items)
    settings = _settings(model, **options)
    identity = identify_judge(settings)
    client = open_client(settings, identity)
    try:
        found = asyncio.run(_audit(client, chosen, replies, amounts, settings.concurrency))
    except EngineError as error:
        raise EnvironmentUnavailable(f"{error.kind}: {error}") from None
    try:
        write_audit(out, found)
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}") from None
    for table in _audit_tables(found):
        print_table(table)
    for line in found["shortcomings"]:
        note(f"shortcoming: {line}")
    print_text(f"Audit {found['hash'][:16]}: {out}")
    return ExitCode.FINE


def labels_command(out: Path, seed: int, items: int) -> int:
    """Run `hexathlon judge labels`."""
    rubric, replies = generate_labels(seed, items)
    try:
        write_labels(out, replies)
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}") from None
    count = len(replies) * len(rubric.criteria)
    print_text(f"{count:,} labels of {len(replies):,} replies, rubric {rubric.id}: {out}")
    return ExitCode.FINE


def lint_command(name: str) -> int:
    """Run `hexathlon judge lint`."""
    rubric = _rubric(name)
    for finding in lint(rubric):
        note(f"warning: {finding}")
    judged = len(rubric.judged)
    print_text(f"{rubric.id} v{rubric.version}: {len(rubric.decided)} criteria, {judged} judged")
    print_text(f"aggregator {rubric.aggregator}, hash {rubric.hash}")
    return ExitCode.FINE


async def _audit(
    client: JudgeClient,
    rubric: Rubric,
    replies: Sequence[LabelledReply],
    settings: AuditSettings,
    concurrency: int,
) -> dict[str, Any]:
    try:
        with Progress("auditing", None) as progress:
            auditor = Auditor(client, rubric, replies, settings, concurrency, progress.advance)
            return await auditor.run()
    finally:
        await client.close()


def _judge(clients: Sequence[JudgeClient]) -> CodeJudge | PointwiseJudge | PanelJudge:
    if not clients:
        return CodeJudge()
    members = [PointwiseJudge(client) for client in clients]
    return members[0] if len(members) == 1 else PanelJudge(members)


def _settings(model: str, **options: Any) -> JudgeSettings:
    return JudgeSettings(model, **options)


def _audits(paths: Sequence[Path], judges: Sequence[JudgeIdentity]) -> list[Audit | None]:
    """Return each judge's audit, None for a judge without one."""
    try:
        read = [read_audit(path) for path in paths]
    except AuditError as error:
        raise UsageError(str(error)) from None
    by_judge = {one.judge: one for one in read}
    known = {one.hash for one in judges}
    for path, one in zip(paths, read, strict=True):
        if one.judge not in known:
            raise UsageError(
                f"{path} audits another judge ({one.data['judge']['model']}, identity "
                f"{one.judge[:16]}): model, sampling or prompts differ; audit this judge"
            )
    return [by_judge.get(one.hash) for one in judges]


def _rubric(name: str) -> Rubric:
    try:
        return read_rubric(Path(name)) if name.endswith(".toml") else get_rubric(name)
    except RubricError as error:
        raise UsageError(str(error)) from None


def _labels(name: str, rubric: Rubric, items: int) -> list[LabelledReply]:
    kind, colon, seed = name.partition(":")
    if kind == "generated" and colon:
        if not seed.isdecimal():
            raise UsageError(f"expected generated:SEED with an integer seed, got {name!r}")
        own, replies = generate_labels(int(seed), items)
        if own.hash != rubric.hash:
            raise UsageError(f"generated labels belong to the rubric {own.id!r}, not {rubric.id!r}")
        return replies
    try:
        return read_labels_file(Path(name), rubric)
    except LabelError as error:
        raise UsageError(str(error)) from None


def _audit_tables(found: Mapping[str, Any]) -> list[Table]:
    rows = [
        (name, f"{row['scored']:,} of {row['items']:,}", *_cells(row["kappa"]),
         *_cells(row["alpha"]), row["status"])
        for name, row in found["agreement"]["criteria"].items()
    ]  # fmt: skip
    headings = ("criterion", "scored", "kappa", "95% interval", "alpha", "95% interval", "state")
    made = [Table("Agreement with the labels", headings, tuple(rows))]
    measured = {
        "same winner in both orders": found["swap"]["consistency"],
        "first position wins inconsistent pairs": found["swap"]["first_rate"],
        "better of a pair is chosen": found["swap"]["accuracy"],
        "label per doubling of length": found["length"]["slope"],
        "label after padding": found["length"]["padded_shift"],
        "gain by padding": found["length"]["padded_gain"],
        "self-preference": found["self_preference"],
        "two repeats differ": found["flips"]["disagreement"],
        "unstable items": found["flips"]["unstable"],
        "injections that pass": found["injection"]["guarded"],
        "… without guards": found["injection"]["bare"],
        "empty replies that pass": found["master_keys"]["guarded"],
        "… without their guards": found["master_keys"]["bare"],
        "Kendall tau of groups": found["groups"]["tau"],
        "unscored": found["unscored"]["rate"],
        "mean score, judged": found["corrected"]["judged"],
        "mean score, prediction-powered": found["corrected"]["powered"],
    }
    body = [
        (name, *(_cells(row)), f"{row['n']:,}") for name, row in measured.items() if row is not None
    ]
    made.append(
        Table("Biases and attacks", ("measurement", "value", "95% interval", "n"), tuple(body))
    )
    return made


def _cells(row: Mapping[str, Any] | None) -> tuple[str, str]:
    return ("", "") if row is None else (percent(row["value"]), span(row["low"], row["high"]))
