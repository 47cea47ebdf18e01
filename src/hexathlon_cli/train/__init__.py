"""The commands `train RECIPE` and `train init`.

Recipes and the training loop are in `hexathlon.baselines.training`; here are flags, progress and
messages.
"""

import typer

from hexathlon_cli.examples import examples
from hexathlon_cli.groups import RunByDefault
from hexathlon_cli.output import print_text
from hexathlon_cli.train.init import init
from hexathlon_cli.train.run import run

__all__ = ["app"]

app = typer.Typer(
    cls=RunByDefault,
    help="Train a policy from a recipe, or list the recipes.",
    epilog=examples("train"),
    invoke_without_command=True,
)
app.command("run", epilog=examples("train run"))(run)
app.command("init", epilog=examples("train init"))(init)


@app.callback()
def _listed(context: typer.Context) -> None:
    from hexathlon.baselines.training.recipe_files import recipe_names

    if context.invoked_subcommand is None:
        print_text("\n".join(recipe_names()))
