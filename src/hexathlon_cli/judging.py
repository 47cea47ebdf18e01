"""`judge RUN`, `judge audit`, `judge labels` and `judge lint`: scores of free text."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

__all__ = ["app"]


class _RunByDefault(TyperGroup):
    """Takes `judge RUN` for `judge run RUN`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put in the command that is meant when the first word is none."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = ["run", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_RunByDefault,
    help="Judge what no verifier can decide: `hexathlon judge RUN`, and audit the judge first.",
    no_args_is_help=True,
)

_Model = Annotated[
    list[str] | None,
    typer.Option(help="endpoint:URL#NAME or a checkpoint directory; repeated, a panel."),
]
_Seed = Annotated[int, typer.Option(help="Seed of whatever is drawn.")]
_Concurrency = Annotated[int, typer.Option(help="Questions at once.")]
_Temperature = Annotated[float, typer.Option(help="Sampling temperature.")]
_MaxTokens = Annotated[int, typer.Option(help="Longest reply, in tokens.")]
_Family = Annotated[
    list[str] | None, typer.Option(help="Family of each model; from its name by default.")
]
_Revision = Annotated[str, typer.Option(help="The model's revision, for the record.")]
_Cache = Annotated[Path | None, typer.Option(help="File that keeps verdicts between runs.")]
_Prices = Annotated[Path | None, typer.Option(help="Price table (TOML).")]
_Key = Annotated[str, typer.Option(help="Environment variable with the key.")]
_Timeout = Annotated[float, typer.Option(help="Seconds for one try of a question.")]
_Retries = Annotated[int, typer.Option(help="More tries of a request that fails.")]
_Images = Annotated[
    bool, typer.Option(help="Show images to the judge; its server has to take image parts.")
]
_Rubric = Annotated[
    str | None, typer.Option(help="Rubric file, or the name of one; each task's own by default.")
]


@app.command("run")
def run(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    rubric: _Rubric = None,
    model: _Model = None,
    kind: Annotated[str, typer.Option(help="pointwise, pairwise or groupwise.")] = "pointwise",
    permutations: Annotated[
        int, typer.Option(help="Orders in which a group is shown, for groupwise.")
    ] = 2,
    audit: Annotated[
        list[Path] | None, typer.Option(help="Audit of each model, from `judge audit`.")
    ] = None,
    max_unscored: Annotated[
        float, typer.Option(help="Share of undecided trials for exit code 2.")
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
    salt_file: Annotated[Path | None, typer.Option(help="Secret of a held-out round.")] = None,
) -> int:
    """Add judged scores to a run, as a file of their own; the records stay as they are."""
    options = dict(locals())
    from hexathlon_cli.judgements import judge_command

    return judge_command(**options)


@app.command("audit")
def audit(
    model: Annotated[str, typer.Option(help="endpoint:URL#NAME or a checkpoint directory.")],
    labels: Annotated[
        str, typer.Option(help="File of labelled replies, or generated:SEED.")
    ] = "generated:0",
    rubric: Annotated[
        str, typer.Option(help="Rubric of the labels: a file or a name.")
    ] = "shopkeeper",
    out: Annotated[Path, typer.Option(help="Where the audit goes.")] = Path("audit.json"),
    items: Annotated[int, typer.Option(help="Labelled criteria, where generated.")] = 2400,
    repeats: Annotated[int, typer.Option(help="Askings of one item, for flips.")] = 5,
    repeat_items: Annotated[int, typer.Option(help="Items asked repeatedly.")] = 100,
    pairs: Annotated[int, typer.Option(help="Pairs, in both orders.")] = 200,
    padded: Annotated[int, typer.Option(help="Items asked again with a padded reply.")] = 200,
    groups: Annotated[int, typer.Option(help="Groups that are ranked.")] = 60,
    attacked: Annotated[int, typer.Option(help="Replies per attack.")] = 4,
    level: Annotated[
        float, typer.Option(help="Kappa from which a criterion counts as established.")
    ] = 0.6,
    own: Annotated[
        list[str] | None, typer.Option(help="Author in the labels that is the judge's kin.")
    ] = None,
    seed: _Seed = 0,
    concurrency: _Concurrency = 64,
    temperature: _Temperature = 0.0,
    max_tokens: _MaxTokens = 2048,
    family: Annotated[str, typer.Option(help="The model's family.")] = "",
    revision: _Revision = "",
    images: _Images = False,
    cache: _Cache = None,
    prices: _Prices = None,
    api_key_env: _Key = "OPENAI_API_KEY",
    timeout: _Timeout = 300.0,
    request_retries: _Retries = 4,
) -> int:
    """Measure a judge: agreement, biases, attacks; its hash goes into what the judge writes."""
    options = dict(locals())
    from hexathlon_cli.judgements import audit_command

    return audit_command(**options)


@app.command("labels")
def labels(
    out: Annotated[Path, typer.Option(help="File to write.")],
    seed: _Seed = 0,
    items: Annotated[int, typer.Option(help="Labelled criteria at least.")] = 2400,
) -> int:
    """Write the generated labelled set: replies whose truth is known by construction."""
    from hexathlon_cli.judgements import labels_command

    return labels_command(out, seed, items)


@app.command("lint")
def lint(
    rubric: Annotated[str, typer.Argument(help="Rubric file, or the name of one.")],
) -> int:
    """Check a rubric file and show its hash."""
    from hexathlon_cli.judgements import lint_command

    return lint_command(rubric)
