"""Options that several commands of `judge` have."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "ApiKeyEnv",
    "Cache",
    "Concurrency",
    "Families",
    "Images",
    "JudgeModels",
    "MaxTokens",
    "RequestRetries",
    "Revision",
    "RubricName",
    "Seed",
    "Temperature",
    "Timeout",
]

JudgeModels = Annotated[
    list[str] | None,
    typer.Option(
        help="Judge model: endpoint:URL#NAME or a checkpoint directory; repeat it for a panel."
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Random seed.")]
Concurrency = Annotated[int, typer.Option(min=1, help="Concurrent requests.")]
Temperature = Annotated[float, typer.Option(min=0, max=100, help="Sampling temperature.")]
MaxTokens = Annotated[int, typer.Option(min=1, help="Maximum reply length, in tokens.")]
Families = Annotated[
    list[str] | None, typer.Option(help="Model family of each model. [default: from its name]")
]
Revision = Annotated[str, typer.Option(help="Model revision, recorded with the scores.")]
Cache = Annotated[Path | None, typer.Option(help="Verdict cache file.")]
ApiKeyEnv = Annotated[str, typer.Option(help="Environment variable with the API key.")]
Timeout = Annotated[float, typer.Option(min=0.001, help="Timeout of one attempt, in seconds.")]
RequestRetries = Annotated[int, typer.Option(min=0, help="Retries of a failed request.")]
Images = Annotated[
    bool, typer.Option(help="Show images to the judge; its server must support image parts.")
]
RubricName = Annotated[
    str | None, typer.Option(help="Rubric file or name. [default: each task's own]")
]
