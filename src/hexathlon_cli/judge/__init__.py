"""The commands of `judge`: `judge RUN`, audits, rubrics, labels and measurements of judges.

Judging itself is in `hexathlon.baselines.judging`, rubrics in `hexathlon.evaluators.judges`.
"""

import typer

from hexathlon_cli.examples import examples
from hexathlon_cli.groups import RunByDefault
from hexathlon_cli.judge.audit import audit
from hexathlon_cli.judge.criteria import criteria
from hexathlon_cli.judge.gap import gap
from hexathlon_cli.judge.label import label
from hexathlon_cli.judge.labels import labels
from hexathlon_cli.judge.lint import lint
from hexathlon_cli.judge.run import run
from hexathlon_cli.judge.shift import shift

__all__ = ["app"]

app = typer.Typer(
    cls=RunByDefault,
    help="Score free text with a judge, and audit the judge.",
    epilog=examples("judge"),
    no_args_is_help=True,
)
app.command("run", epilog=examples("judge run"))(run)
app.command("audit", epilog=examples("judge audit"))(audit)
app.command("label", epilog=examples("judge label"))(label)
app.command("labels", epilog=examples("judge labels"))(labels)
app.command("lint", epilog=examples("judge lint"))(lint)
app.command("criteria", epilog=examples("judge criteria"))(criteria)
app.command("gap", epilog=examples("judge gap"))(gap)
app.command("shift", epilog=examples("judge shift"))(shift)
