"""Command groups with a default command."""

from typing import Any

from typer.core import TyperGroup

__all__ = ["RunByDefault"]


class RunByDefault(TyperGroup):
    """A group that reads `GROUP ARGUMENTS` as `GROUP run ARGUMENTS`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert `run` unless the first word is a command or an option of the group."""
        own = {name for parameter in self.get_params(ctx) for name in parameter.opts}
        if args and args[0] not in self.commands and args[0] not in own:
            args = ["run", *args]
        return super().parse_args(ctx, args)
