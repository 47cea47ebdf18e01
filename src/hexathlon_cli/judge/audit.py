"""The command `judge audit`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hexathlon_cli.judge.options import (
    ApiKeyEnv,
    Cache,
    Concurrency,
    Images,
    MaxTokens,
    RequestRetries,
    Revision,
    Seed,
    Temperature,
    Timeout,
)
from hexathlon_cli.options import Prices

if TYPE_CHECKING:
    from hexathlon.baselines.judging.audit import AuditSettings
    from hexathlon.baselines.judging.client import JudgeClient
    from hexathlon.evaluators.judges.audit.labelled import LabelledReply
    from hexathlon.evaluators.judges.rubric import Rubric

__all__ = ["audit"]

_OF_THE_JUDGE = (
    "seed", "family", "concurrency", "temperature", "max_tokens", "revision", "images", "cache",
    "prices", "api_key_env", "timeout", "request_retries",
)  # fmt: skip
_OF_THE_AUDIT = (
    "seed", "repeat_items", "repeats", "pairs", "padded", "groups", "attacked", "level",
)  # fmt: skip


def audit(
    model: Annotated[
        str, typer.Option(help="Judge model: endpoint:URL#NAME or a checkpoint directory.")
    ],
    labels: Annotated[
        str, typer.Option(help="Labelled replies: a file, or generated:SEED.")
    ] = "generated:0",
    rubric: Annotated[str, typer.Option(help="Rubric of the labels: file or name.")] = "shopkeeper",
    out: Annotated[Path, typer.Option(help="Audit file.")] = Path("audit.json"),
    items: Annotated[int, typer.Option(min=1, help="Number of generated labels.")] = 2400,
    repeats: Annotated[int, typer.Option(min=0, help="Repeats per item, to measure flips.")] = 5,
    repeat_items: Annotated[
        int, typer.Option(min=0, help="Items to repeat, to measure flips.")
    ] = 100,
    pairs: Annotated[int, typer.Option(min=0, help="Pairs, each judged in both orders.")] = 200,
    padded: Annotated[int, typer.Option(min=0, help="Items repeated with a padded reply.")] = 200,
    groups: Annotated[int, typer.Option(min=0, help="Groups to rank.")] = 60,
    attacked: Annotated[int, typer.Option(min=0, help="Replies per attack.")] = 4,
    level: Annotated[
        float, typer.Option(min=-1, max=1, help="Minimum kappa of an established criterion.")
    ] = 0.6,
    own: Annotated[
        list[str] | None,
        typer.Option(help="Label author of the judge's own model family; repeatable."),
    ] = None,
    seed: Seed = 0,
    concurrency: Concurrency = 64,
    temperature: Temperature = 0.0,
    max_tokens: MaxTokens = 2048,
    family: Annotated[str, typer.Option(help="Model family. [default: from its name]")] = "",
    revision: Revision = "",
    images: Images = False,
    cache: Cache = None,
    prices: Prices = None,
    api_key_env: ApiKeyEnv = "OPENAI_API_KEY",
    timeout: Timeout = 300.0,
    request_retries: RequestRetries = 4,
) -> int:
    """Measure a judge's agreement, biases and resistance to attacks.

    The audit is stored with the identity of the judge and is valid only for this model, these
    sampling settings and these prompts; `judge run --audit` marks its scores as audited.
    """
    given = dict(locals())
    settings: dict[str, Any] = {name: given[name] for name in _OF_THE_JUDGE}
    amounts: dict[str, Any] = {name: given[name] for name in _OF_THE_AUDIT}
    from hexathlon.baselines import interrupts
    from hexathlon.baselines.engines.errors import EngineError
    from hexathlon.baselines.harness.errors import EnvironmentUnavailable, ExitCode, UsageError
    from hexathlon.baselines.judging.audit import AuditSettings
    from hexathlon.baselines.judging.opening import JudgeSettings, identify_judge, open_client
    from hexathlon.evaluators.judges.audit.document import write_audit
    from hexathlon.tasks.validation import reason
    from hexathlon_cli.judge.rubrics import load_rubric
    from hexathlon_cli.judge.tables import audit_tables
    from hexathlon_cli.output import note, print_table, print_text

    chosen = load_rubric(rubric)
    replies = _labels(labels, chosen, items)
    judge = JudgeSettings(model, **settings)
    client = open_client(judge, identify_judge(judge))
    plan = AuditSettings(**amounts, own=tuple(own or ()))
    try:
        result = interrupts.run(_audit(client, chosen, replies, plan, concurrency))
    except EngineError as error:
        raise EnvironmentUnavailable(f"{error.kind}: {error}") from None
    try:
        write_audit(out, result)
    except OSError as error:
        raise UsageError(f"cannot write {out}: {reason(error)}") from None
    for table in audit_tables(result):
        print_table(table)
    for line in result["shortcomings"]:
        note(f"shortcoming: {line}")
    print_text(f"Audit {result['hash'][:16]}: {out}")
    return ExitCode.FINE


async def _audit(
    client: "JudgeClient",
    rubric: "Rubric",
    replies: "Sequence[LabelledReply]",
    settings: "AuditSettings",
    concurrency: int,
) -> dict[str, Any]:
    from hexathlon.baselines.harness.progress import Progress
    from hexathlon.baselines.judging.audit import Auditor

    try:
        with Progress("auditing", None) as progress:
            auditor = Auditor(client, rubric, replies, settings, concurrency, progress.advance)
            return await auditor.run()
    finally:
        await client.close()


def _labels(name: str, rubric: "Rubric", items: int) -> "list[LabelledReply]":
    from hexathlon.baselines.harness.errors import UsageError
    from hexathlon.evaluators.judges.audit.labelled import (
        LabelError,
        generate_labels,
        read_labels_file,
    )

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
