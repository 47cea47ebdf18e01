"""The commands `cache info` and `cache clear`."""

import typer

from hexathlon_cli.examples import examples
from hexathlon_cli.options import AsJson

__all__ = ["app"]

app = typer.Typer(help="The cache of built tasks on disk.", no_args_is_help=True)


@app.command("info", epilog=examples("cache info"))
def info(as_json: AsJson = False) -> int:
    """Show where the cache is, what it contains and how large it may become."""
    import json

    from hexathlon.baselines.harness.errors import UsageError
    from hexathlon.baselines.harness.tables import ReportTable
    from hexathlon.tasks.cache.disk import DiskCache, cache_location, cache_size
    from hexathlon.tasks.errors import TaskError
    from hexathlon_cli.output import print_table, print_text

    try:
        limit = cache_size()
    except TaskError as error:
        raise UsageError(str(error)) from None
    cache = DiskCache(cache_location(), limit)
    usage = cache.usage()
    state = cache.problem() or ("on" if limit else "off")
    shown = {"folder": str(cache.folder), "state": state, "limit": limit, **usage._asdict()}
    if as_json:
        print_text(json.dumps(shown, indent=2))
        return 0
    rows = (
        ("folder", str(cache.folder)),
        ("state", state),
        ("entries", f"{usage.entries:,}"),
        ("size", _megabytes(usage.size)),
        ("limit", _megabytes(limit)),
    )
    print_table(ReportTable("Cache of built tasks", ("", ""), rows))
    return 0


@app.command("clear", epilog=examples("cache clear"))
def clear() -> int:
    """Remove all entries; they are built again when they are needed."""
    from hexathlon.tasks.cache.disk import DiskCache, cache_location
    from hexathlon_cli.output import print_text

    removed = DiskCache(cache_location()).clear()
    print_text(f"Entries removed: {removed.entries:,}, {_megabytes(removed.size)}.")
    return 0


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
