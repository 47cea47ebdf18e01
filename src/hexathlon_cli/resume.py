"""The command `resume`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from hexathlon_cli.options import (
    ApiKeyEnv,
    Concurrency,
    Fsync,
    KeepTokens,
    MaxCost,
    MaxHours,
    MaxTokens,
    MaxUnscored,
    MostInfraInARow,
    Prices,
    Replicas,
    RequestRetries,
    RequestTimeout,
    Retries,
    RetryInfra,
    SaltFile,
    Stream,
)

__all__ = ["resume"]


def resume(
    run: Annotated[Path, typer.Argument(help="Run directory of `hexathlon eval`.")],
    concurrency: Concurrency = None,
    replicas: Replicas = None,
    retries: Retries = None,
    retry_infra: RetryInfra = None,
    max_unscored: MaxUnscored = None,
    most_infra_in_a_row: MostInfraInARow = None,
    max_cost: MaxCost = None,
    max_tokens: MaxTokens = None,
    max_hours: MaxHours = None,
    keep_tokens: KeepTokens = None,
    fsync: Fsync = None,
    stream: Stream = None,
    request_timeout: RequestTimeout = None,
    request_retries: RequestRetries = None,
    api_key_env: ApiKeyEnv = None,
    prices: Prices = None,
    salt_file: SaltFile = None,
) -> int:
    """Resume an interrupted run.

    Recorded trials are kept, missing ones are played. Options that are left out keep the value
    that the run was started with.
    """
    flags: dict[str, Any] = dict(locals())
    del flags["run"]
    from hexathlon.baselines.harness.config import load_config
    from hexathlon.baselines.harness.errors import UsageError
    from hexathlon.baselines.harness.run import resume as resume_run
    from hexathlon.baselines.harness.run import stored_plan
    from hexathlon_cli.runs import conclude, describe

    stored = stored_plan(run)
    if stored is None:
        raise UsageError(f"{run} has no plan.json: expected a run directory of `hexathlon eval`")
    given = {name: value for name, value in flags.items() if value is not None}
    former = {**stored.get("execution", {}), **given}
    _, execution = load_config({**former, "model": "", "envs": ("",)})
    describe(resume_run(run, execution))
    return conclude(run, execution)
