"""The commands `judge RUN`, `judge audit`, `judge labels` and `judge lint`."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from hexathlon_cli.examples import examples

__all__ = ["app"]


class _RunByDefault(TyperGroup):
    """A group that reads `judge RUN` as `judge run RUN`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert `run` if the first word is not a command."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = ["run", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_RunByDefault,
    help="Score free text with a judge, and audit the judge.",
    epilog=examples("judge"),
    no_args_is_help=True,
)

_Model = Annotated[
    list[str] | None,
    typer.Option(
        help="Judge model: endpoint:URL#NAME or a checkpoint directory; repeat it for a panel."
    ),
]
_Seed = Annotated[int, typer.Option(help="Random seed.")]
_Concurrency = Annotated[int, typer.Option(help="Concurrent questions.")]
_Temperature = Annotated[float, typer.Option(help="Sampling temperature.")]
_MaxTokens = Annotated[int, typer.Option(help="Maximum reply length, in tokens.")]
_Family = Annotated[
    list[str] | None, typer.Option(help="Family of each model. [default: from its name]")
]
_Revision = Annotated[str, typer.Option(help="Model revision, recorded with the scores.")]
_Cache = Annotated[Path | None, typer.Option(help="Verdict cache file.")]
_Prices = Annotated[Path | None, typer.Option(help="Price table (TOML).")]
_Key = Annotated[str, typer.Option(help="Environment variable with the API key.")]
_Timeout = Annotated[float, typer.Option(help="Time-out of one attempt, in seconds.")]
_Retries = Annotated[int, typer.Option(help="Retries of a failed request.")]
_Images = Annotated[
    bool, typer.Option(help="Show images to the judge; its server must support image parts.")
]
_Rubric = Annotated[
    str | None, typer.Option(help="Rubric file or name. [default: each task's own]")
]


@app.command("run", epilog=examples("judge run"))
def run(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    rubric: _Rubric = None,
    model: _Model = None,
    kind: Annotated[
        str, typer.Option(help="Judging mode: pointwise, pairwise or groupwise.")
    ] = "pointwise",
    permutations: Annotated[int, typer.Option(help="Orders per group, for groupwise judging.")] = 2,
    audit: Annotated[
        list[Path] | None, typer.Option(help="Audit file of each model, from `judge audit`.")
    ] = None,
    max_unscored: Annotated[
        float, typer.Option(help="Maximum share of undecided trials; above it, exit code 2.")
    ] = 0.02,
    seed: _Seed = 0,
    concurrency: _Concurrency = 64,
    temperature: _Temperature = 0.0,
    max_tokens: _MaxTokens = 2048,
    family: _Family = None,
    revision: _Revision = "",
    images: _Images = False,
    cache: _Cache = None,
    prices: _Prices = None,
    api_key_env: _Key = "OPENAI_API_KEY",
    timeout: _Timeout = 300.0,
    request_retries: _Retries = 4,
    salt_file: Annotated[
        Path | None, typer.Option(help="File with the salt of a held-out round.")
    ] = None,
) -> int:
    """Judge the trials of a run; the records are not changed."""
    options = dict(locals())
    from hexathlon_cli.judgements import judge_command

    return judge_command(**options)


@app.command("audit", epilog=examples("judge audit"))
def audit(
    model: Annotated[
        str, typer.Option(help="Judge model: endpoint:URL#NAME or a checkpoint directory.")
    ],
    labels: Annotated[
        str, typer.Option(help="Labelled replies: a file, or generated:SEED.")
    ] = "generated:0",
    rubric: Annotated[str, typer.Option(help="Rubric of the labels: file or name.")] = "shopkeeper",
    out: Annotated[Path, typer.Option(help="Audit file.")] = Path("audit.json"),
    items: Annotated[int, typer.Option(help="Number of generated labels.")] = 2400,
    repeats: Annotated[int, typer.Option(help="Repeats per item, for flips.")] = 5,
    repeat_items: Annotated[int, typer.Option(help="Items to repeat, for flips.")] = 100,
    pairs: Annotated[int, typer.Option(help="Pairs, each judged in both orders.")] = 200,
    padded: Annotated[int, typer.Option(help="Items repeated with a padded reply.")] = 200,
    groups: Annotated[int, typer.Option(help="Groups to rank.")] = 60,
    attacked: Annotated[int, typer.Option(help="Replies per attack.")] = 4,
    level: Annotated[float, typer.Option(help="Minimum kappa of an established criterion.")] = 0.6,
    own: Annotated[
        list[str] | None,
        typer.Option(help="Author in the labels from the judge's own family; repeatable."),
    ] = None,
    seed: _Seed = 0,
    concurrency: _Concurrency = 64,
    temperature: _Temperature = 0.0,
    max_tokens: _MaxTokens = 2048,
    family: Annotated[str, typer.Option(help="Family of the model. [default: from its name]")] = "",
    revision: _Revision = "",
    images: _Images = False,
    cache: _Cache = None,
    prices: _Prices = None,
    api_key_env: _Key = "OPENAI_API_KEY",
    timeout: _Timeout = 300.0,
    request_retries: _Retries = 4,
) -> int:
    """Measure a judge's agreement, biases and resistance to attacks."""
    options = dict(locals())
    from hexathlon_cli.judgements import audit_command

    return audit_command(**options)


@app.command("labels", epilog=examples("judge labels"))
def labels(
    out: Annotated[Path, typer.Option(help="Label file.")],
    seed: _Seed = 0,
    items: Annotated[int, typer.Option(help="Minimum number of labels.")] = 2400,
) -> int:
    """Generate a labelled set, with labels known by construction."""
    from hexathlon_cli.judgements import labels_command

    return labels_command(out, seed, items)


@app.command("lint", epilog=examples("judge lint"))
def lint(
    rubric: Annotated[str, typer.Argument(help="Rubric file or name.")],
) -> int:
    """Check a rubric file and show its hash."""
    from hexathlon_cli.judgements import lint_command

    return lint_command(rubric)
