"""Arguments and options that several commands have, with one help text each.

A signature names the type, such as `fsync: Fsync = None`; defaults that differ between commands
are in the signatures. Settings of a run default to None, which leaves the value to the
configuration file, to the stored plan or to `ExecutionConfig`.
"""

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "ApiKeyEnv",
    "AsJson",
    "ClusterAddress",
    "Concurrency",
    "Fsync",
    "KeepTokens",
    "LevelName",
    "MaxCost",
    "MaxHours",
    "MaxTokens",
    "MaxUnscored",
    "MostInfraInARow",
    "Pools",
    "Prices",
    "Processes",
    "Replicas",
    "RequestRetries",
    "RequestTimeout",
    "Retries",
    "RetryInfra",
    "RunFolder",
    "SaltFile",
    "Slots",
    "Stream",
    "TasksetName",
    "WithAnchors",
    "Workers",
]

RunFolder = Annotated[Path, typer.Argument(help="Run directory.")]
AsJson = Annotated[bool, typer.Option("--json", help="JSON output.")]
TasksetName = Annotated[str | None, typer.Option(help="Task set. [default: the event's own]")]
LevelName = Annotated[
    str | None, typer.Option(help="Level: tiny, easy, medium or hard. [default: all]")
]
SaltFile = Annotated[Path | None, typer.Option(help="File with the salt of a held-out round.")]
Prices = Annotated[Path | None, typer.Option(help="Price table (TOML).")]

Concurrency = Annotated[
    int | None, typer.Option(help="Concurrent trials, for remote models. [default: 20]")
]
Replicas = Annotated[
    int | None, typer.Option(help="vLLM servers to start, with --engine vllm. [default: 1]")
]
Retries = Annotated[
    int | None,
    typer.Option(help="Retries of a trial after an infrastructure failure. [default: 2]"),
]
RetryInfra = Annotated[
    bool | None,
    typer.Option("--retry-infra", help="Retry trials recorded as infrastructure failures."),
]
MaxUnscored = Annotated[
    float | None,
    typer.Option(help="Maximum share of unscored trials; above it, exit code 2. [default: 0.02]"),
]
MostInfraInARow = Annotated[
    int | None,
    typer.Option(help="Abort after this many consecutive infrastructure failures. [default: 25]"),
]
MaxCost = Annotated[
    float | None,
    typer.Option(help="Start no trial once the run has cost this much; 0 for no limit."),
]
MaxTokens = Annotated[
    int | None,
    typer.Option(help="Start no trial once the run has used this many tokens; 0 for no limit."),
]
MaxHours = Annotated[
    float | None,
    typer.Option(help="Start no trial after this many hours of this command; 0 for no limit."),
]
KeepTokens = Annotated[
    bool | None,
    typer.Option("--keep-tokens", help="Store a checkpoint's tokens in tokens.jsonl."),
]
Fsync = Annotated[
    str | None, typer.Option(help="Disk sync: record, close or never. [default: record]")
]
Stream = Annotated[bool | None, typer.Option("--stream/--no-stream", help="Streamed replies.")]
RequestTimeout = Annotated[
    float | None,
    typer.Option(help="Timeout of one request attempt, in seconds. [default: 600]"),
]
RequestRetries = Annotated[int | None, typer.Option(help="Retries of one request. [default: 4]")]
ApiKeyEnv = Annotated[
    str | None,
    typer.Option(
        help="Environment variable with the API key. [default: the server's or provider's usual "
        "one, such as OPENAI_API_KEY]"
    ),
]
ClusterAddress = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        help="Use a Ray cluster: auto (this machine), HOST:PORT, ray://HOST:PORT, or none.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Processes for built-in agents, or workers on the cluster. "
        "[default: one per core for 200 trials or more; 2 on a cluster]",
    ),
]
Processes = Annotated[
    int | None,
    typer.Option(
        "--workers", min=1, help="Number of processes. [default: one per core for long runs]"
    ),
]
Slots = Annotated[
    int | None,
    typer.Option(
        help="Concurrent trials per worker. [default: 2; --concurrency / --workers for models]"
    ),
]
Pools = Annotated[
    list[str] | None,
    typer.Option(
        "--pool",
        help="Workers for some families, in TOML: 'browsers={families=[\"web\"], workers=2}'.",
    ),
]
WithAnchors = Annotated[
    bool, typer.Option("--with-anchors", help="Also run the trivial agents and the oracle.")
]
