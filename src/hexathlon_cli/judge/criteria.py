"""The command `judge criteria`."""

from pathlib import Path
from typing import Annotated

import typer

from hexathlon_cli.judge.options import (
    ApiKeyEnv,
    MaxTokens,
    RequestRetries,
    Seed,
    Temperature,
    Timeout,
)

__all__ = ["criteria"]


def criteria(
    model: Annotated[
        str, typer.Option(help="Judge model: endpoint:URL#NAME or a checkpoint directory.")
    ],
    out: Annotated[Path, typer.Option(help="Rubric file to write.")],
    question: Annotated[
        Path | None, typer.Option(help="Text file with the question that answers are judged by.")
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="Task id; its instruction is the question.")
    ] = None,
    least: Annotated[int, typer.Option(min=1, help="Minimum number of criteria.")] = 3,
    most: Annotated[int, typer.Option(min=1, help="Maximum number of criteria.")] = 8,
    seed: Seed = 0,
    temperature: Temperature = 0.0,
    max_tokens: MaxTokens = 2048,
    api_key_env: ApiKeyEnv = "OPENAI_API_KEY",
    timeout: Timeout = 300.0,
    request_retries: RequestRetries = 4,
) -> int:
    """Have a judge write a rubric from a question alone (CE-RM).

    No answer is shown to it. The file is for `judge run --rubric`. Read it first: add planted
    controls, and drop criteria that code can decide.
    """
    from hexathlon.baselines import interrupts
    from hexathlon.baselines.engines.errors import EngineError
    from hexathlon.baselines.harness.errors import EnvironmentUnavailable, ExitCode, UsageError
    from hexathlon.baselines.judging.client import JudgeClient
    from hexathlon.baselines.judging.opening import JudgeSettings, identify_judge, open_client
    from hexathlon.baselines.judging.pointwise import PointwiseJudge
    from hexathlon.evaluators.judges.rubric import Rubric
    from hexathlon.evaluators.judges.rubric_files import rubric_text
    from hexathlon.tasks.validation import reason
    from hexathlon_cli.output import note, print_text

    if (question is None) == (task is None):
        raise UsageError("name either --question FILE or --task ID")
    if most < least:
        raise UsageError(f"--most must be at least --least ({least}), got {most}")
    text = _text_of(question) if question is not None else _instruction(str(task))
    settings = JudgeSettings(
        model,
        seed=seed,
        temperature=temperature,
        max_tokens=max_tokens,
        api_key_env=api_key_env,
        timeout=timeout,
        request_retries=request_retries,
    )
    client = open_client(settings, identify_judge(settings))

    async def work(client: JudgeClient) -> Rubric | None:
        try:
            return await PointwiseJudge(client).write_rubric(text, least, most)
        finally:
            await client.close()

    try:
        rubric = interrupts.run(work(client))
    except EngineError as error:
        raise EnvironmentUnavailable(f"{error.kind}: {error}") from None
    if rubric is None:
        note("the judge gave no valid list of criteria; nothing was written")
        return ExitCode.UNSCORED
    try:
        out.write_text(rubric_text(rubric), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {out}: {reason(error)}") from None
    print_text(f"{len(rubric.criteria)} criteria, rubric {rubric.id}: {out}")
    return ExitCode.FINE


def _text_of(path: Path) -> str:
    from hexathlon.baselines.harness.errors import UsageError
    from hexathlon.evaluators.settings_text import read_settings_text
    from hexathlon.tasks.validation import reason

    try:
        text = read_settings_text(path).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the question {path}: {reason(error)}") from None
    if not text:
        raise UsageError(f"the question {path} is empty")
    return text


def _instruction(task_id: str) -> str:
    from hexathlon.baselines.harness.config import EvalConfig
    from hexathlon.baselines.harness.plan import slices_of

    (part,) = slices_of(EvalConfig(model="agent:noop", task=(task_id,)), None)
    return part.taskset.get(task_id).instruction
