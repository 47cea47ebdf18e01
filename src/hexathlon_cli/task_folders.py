"""Sets of task directories: `terminal check` and `terminal prefetch`."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from hexathlon.baselines.harness.errors import EnvironmentUnavailable, ExitCode, UsageError
from hexathlon.baselines.harness.tables import ReportTable
from hexathlon.tasks.seeding import generator_for
from hexathlon_cli.output import note, print_table, print_text

__all__ = ["check_folders", "prefetch_packages"]

_REASON = 160
_SAMPLE_SEED = 0


def _folders(path: Path) -> list[Path]:
    from hexathlon.envs.terminal.survey import task_folders

    found = task_folders(path)
    if not found:
        raise UsageError(f"{path} contains no directory with task.toml or task.yaml")
    return found


def check_folders(
    path: Path,
    sample: int,
    sandbox: str | None,
    base: str | None,
    out: Path | None,
    *,
    as_json: bool,
) -> int:
    """Run `hexathlon terminal check`."""
    from hexathlon.baselines.harness.progress import Progress
    from hexathlon.envs.errors import BackendMissing
    from hexathlon.envs.terminal.env import TerminalEnv
    from hexathlon.envs.terminal.survey import OUTCOMES, CheckedDirectory, checked

    folders = _folders(path)
    if out is not None and out.exists():
        raise UsageError(f"{out} exists; name a new file with --out")
    if sample and sample < len(folders):
        chosen = generator_for("directories", _SAMPLE_SEED).permutation(len(folders))[:sample]
        folders = [folders[place] for place in sorted(chosen)]
    results: list[CheckedDirectory] = []
    try:
        with Progress("check", len(folders)) as progress:
            for result in checked(folders, lambda: TerminalEnv(sandbox=sandbox, base=base)):
                results.append(result)
                progress.advance(f"{result.name}: {result.outcome}")
                if out is not None:
                    with out.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(asdict(result), ensure_ascii=False) + "\n")
    except BackendMissing as error:
        raise EnvironmentUnavailable(str(error)) from error
    if as_json:
        print_text(json.dumps([asdict(one) for one in results], indent=2, ensure_ascii=False))
        return ExitCode.FINE
    unusable = [one for one in results if one.outcome not in ("solved", "runs")]
    listed = [(one.name, one.outcome, " ".join(one.detail.split())[:_REASON]) for one in unusable]
    if listed:
        print_table(ReportTable("Not usable", ("directory", "outcome", "reason"), tuple(listed)))
    counts = Counter(one.outcome for one in results)
    rows = [(name, str(counts[name]), what) for name, what in OUTCOMES.items() if counts[name]]
    title = f"{path.name}: {len(results)} directories"
    print_table(ReportTable(title, ("outcome", "directories", "meaning"), tuple(rows)))
    return ExitCode.FINE


def prefetch_packages(
    path: Path, only: Sequence[str], sandbox: str | None, base: str | None, *, listing: bool
) -> int:
    """Run `hexathlon terminal prefetch`; exit code 2 if a package could not be fetched."""
    from hexathlon.envs.errors import BackendMissing
    from hexathlon.envs.sandbox.image import HOST
    from hexathlon.envs.sandbox.ladder import choose
    from hexathlon.envs.terminal.packages import packages_folder
    from hexathlon.envs.terminal.prefetch import fetch, lacking_packages

    try:
        backend = choose(sandbox, absolute_paths=True)
    except BackendMissing as error:
        raise EnvironmentUnavailable(str(error)) from error
    lacking = lacking_packages(_folders(path), backend, base or HOST)
    lacking = lacking.only(only) if only else lacking
    if listing:
        counts = [("python", *item) for item in lacking.python.most_common()]
        counts += [("debian", *item) for item in lacking.debian.most_common()]
        rows = tuple((kind, name, str(number)) for kind, name, number in counts)
        print_table(
            ReportTable("Packages that the base lacks", ("kind", "package", "directories"), rows)
        )
        return ExitCode.FINE
    failed = 0
    for name, reason in fetch(lacking):
        failed += bool(reason)
        note(f"{name}: {reason or 'fetched'}")
    total = len(lacking.python) + len(lacking.debian)
    print_text(f"{total - failed} of {total} packages are in {packages_folder()}")
    return ExitCode.UNSCORED if failed else ExitCode.FINE
