"""The command `resume`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from hexathlon_cli.options import (
    ApiKeyEnv,
    ClusterAddress,
    Concurrency,
    Fsync,
    KeepTokens,
    MaxCost,
    MaxHours,
    MaxTokens,
    MaxUnscored,
    MostInfraInARow,
    Pools,
    Prices,
    Replicas,
    RequestRetries,
    RequestTimeout,
    Retries,
    RetryInfra,
    SaltFile,
    Slots,
    Stream,
    WithAnchors,
    Workers,
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
    cluster: ClusterAddress = None,
    workers: Workers = None,
    slots: Slots = None,
    pool: Pools = None,
    with_anchors: WithAnchors = False,
) -> int:
    """Resume an interrupted run.

    Recorded trials are kept; missing ones are played. Options that are left out keep the values
    that the run was started with.
    """
    flags: dict[str, Any] = dict(locals())
    del flags["run"], flags["with_anchors"]
    from hexathlon.baselines.harness.config import cluster_choice, load_config
    from hexathlon.baselines.harness.errors import UsageError
    from hexathlon.baselines.harness.run import resume as resume_run
    from hexathlon.baselines.harness.run import stored_config, stored_plan
    from hexathlon_cli.anchors import play_anchors
    from hexathlon_cli.cluster import remote_players
    from hexathlon_cli.runs import conclude, describe

    stored = stored_plan(run)
    if stored is None:
        raise UsageError(f"{run} has no plan.json: expected a run directory of `hexathlon eval`")
    given = {name: value for name, value in flags.items() if value is not None}
    former = stored.get("execution", {})
    settings = {**former, **given, "cluster": cluster_choice(former.get("cluster"), given)}
    for name in ("slots", "pool") if settings["cluster"] is None else ("workers", "slots", "pool"):
        settings.pop(name, None)
    _, execution = load_config({**settings, "model": "", "envs": ("",)})
    with remote_players(execution) as open_players:
        describe(resume_run(run, execution, open_players))
        if with_anchors:
            play_anchors(run, stored_config(stored), execution, open_players)
    return conclude(run, execution)
