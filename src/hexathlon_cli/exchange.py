"""Reads and writes the formats of the commands `export` and `import`."""

import importlib.util
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from hexathlon.baselines.exchange.atif import from_atif, to_atif
from hexathlon.baselines.exchange.finetuning import (
    from_openai,
    from_sharegpt,
    to_openai,
    to_sharegpt,
)
from hexathlon.baselines.exchange.transcript import (
    ChatTranscript,
    actions_of,
    read_run_transcripts,
)
from hexathlon.baselines.exchange.verifiers_traces import from_episode, to_episode
from hexathlon.baselines.harness.environments import environment_for_task
from hexathlon.baselines.harness.errors import (
    EnvironmentUnavailable,
    ExitCode,
    UsageError,
    near_miss,
)
from hexathlon.evaluators.records import RECORDS_FILE, RecordError
from hexathlon.evaluators.records.regular import irregularity
from hexathlon.tasks.validation import reason
from hexathlon_cli.output import note, print_text

__all__ = ["export_source", "import_source"]

_LINES: dict[str, tuple[Callable[[ChatTranscript], Any], Callable[[Any], ChatTranscript]]] = {
    "openai": (to_openai, from_openai),
    "sharegpt": (to_sharegpt, from_sharegpt),
    "atif": (to_atif, from_atif),
    "verifiers": (to_episode, from_episode),
    "hexathlon": (ChatTranscript.as_json, ChatTranscript.from_json),
}
"""Formats with a JSON value for each conversation."""

_PACKAGES = {"inspect": "inspect_ai", "datasets": "pyarrow"}
"""By format, which is the name of the extra, too."""

_FORMATS = (*_LINES, "asciicast", "inspect", "every-eval-ever", "datasets", "harbor")


def export_source(
    source: str,
    out: Path,
    form: str,
    min_reward: float | None,
    count: int,
    taskset: str | None,
    level: str | None,
) -> int:
    """Run `hexathlon export`."""
    _check(form, _FORMATS)
    if form in ("datasets", "harbor"):
        return _export_tasks(source, out, form, count, taskset, level)
    place = Path(source)
    found = list(_conversations(place))
    kept = [each for each in found if min_reward is None or (each.reward or -1.0) >= min_reward]
    if not kept:
        raise UsageError(f"{source}: none of {len(found)} conversations earned {min_reward}")
    if form == "every-eval-ever":
        from hexathlon.baselines.exchange.every_eval_ever import write_records

        written = write_records(place, kept, out)
        note(f"{len(kept):,} trials; validate with `every_eval_ever validate {written[0]}`")
        return ExitCode.FINE
    if form == "inspect":
        from hexathlon.baselines.exchange.inspect_logs import write_eval

        write_eval(kept, out)
    elif form == "asciicast":
        _write_recordings(out, kept)
    else:
        _write_lines(out, form, kept)
    note(f"{len(kept):,} of {len(found):,} conversations written to {out}")
    return ExitCode.FINE


def import_source(source: Path, out: Path, form: str, *, replay: bool) -> int:
    """Run `hexathlon import`; exit code 3 if a replay earns a different reward."""
    _check(form, (*_LINES, "inspect"))
    if not source.exists():
        raise UsageError(f"there is no file {source}")
    try:
        found = list(_read(source, form))
    except (ValueError, KeyError, TypeError, IndexError) as error:
        problem = f"it lacks {error}" if isinstance(error, KeyError) else reason(error)
        raise UsageError(f"{source} is not in the format {form}: {problem}") from None
    _write_lines(out, "hexathlon", found)
    note(f"{len(found):,} conversations written to {out}")
    return _replayed(found) if replay else ExitCode.FINE


def _check(form: str, known: Iterable[str]) -> None:
    if form not in known:
        raise UsageError(near_miss("format", form, list(known)))
    package = _PACKAGES.get(form)
    if package and importlib.util.find_spec(package) is None:
        raise EnvironmentUnavailable(
            f"the format {form} needs the package {package}: pip install 'hexathlon[{form}]'"
        )


def _conversations(place: Path) -> Iterator[ChatTranscript]:
    if (place / RECORDS_FILE).is_file():
        try:
            yield from read_run_transcripts(place)
        except RecordError as error:
            raise UsageError(str(error)) from None
    elif place.is_file():
        yield from _read(place, "hexathlon")
    else:
        raise UsageError(f"{place}: expected a run directory or a file of transcripts")


def _read(source: Path, form: str) -> Iterator[ChatTranscript]:
    if form == "inspect":
        from hexathlon.baselines.exchange.inspect_logs import read_eval

        yield from read_eval(source)
        return
    read = _LINES[form][1]
    for path in sorted(source.rglob("*.json*")) if source.is_dir() else [source]:
        fault = irregularity(path)
        if fault:
            raise UsageError(f"{path} {fault}")
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".json":
            document = json.loads(text)
            yield from map(read, document if isinstance(document, list) else [document])
        else:
            yield from (read(json.loads(line)) for line in text.splitlines() if line.strip())


def _write_lines(out: Path, form: str, conversations: Iterable[ChatTranscript]) -> None:
    write = _LINES[form][0]
    try:
        rows = [json.dumps(write(each), ensure_ascii=False) for each in conversations]
    except ValueError as error:
        raise UsageError(str(error)) from None
    out.parent.mkdir(parents=True, exist_ok=True)
    if form == "atif":  # a document for each trajectory
        out.mkdir(exist_ok=True)
        for number, row in enumerate(rows):
            (out / f"trajectory-{number:05d}.json").write_text(row + "\n", encoding="utf-8")
    else:
        out.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")


def _write_recordings(out: Path, conversations: Iterable[ChatTranscript]) -> None:
    """Write a file for each conversation."""
    from hexathlon.baselines.exchange.asciicast import to_asciicast

    try:
        texts = [to_asciicast(each) for each in conversations]
    except ValueError as error:
        raise UsageError(str(error)) from None
    out.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(texts):
        (out / f"trial-{number:05d}.cast").write_text(text + "\n", encoding="utf-8")


def _export_tasks(
    event: str, out: Path, form: str, count: int, taskset: str | None, level: Any
) -> int:
    if form == "datasets":
        from hexathlon.baselines.exchange.datasets import write_dataset

        sizes = write_dataset(event, out, count, taskset=taskset, level=level)
        listed = ", ".join(f"{split} {size:,}" for split, size in sizes.items())
        print_text(f'{listed}; load with datasets.load_dataset("parquet", data_dir="{out}/data")')
        return ExitCode.FINE
    from hexathlon.baselines.bridges.listing import TaskListing
    from hexathlon.tasks.terminal.harbor_registry import write_registry

    rows = TaskListing(event, taskset, level).rows("train", 0, count)
    try:
        registry = write_registry([row["task"] for row in rows], out)
    except (ValueError, FileExistsError) as error:
        raise UsageError(str(error)) from None
    print_text(f"{len(rows):,} task directories; registry: {registry}")
    return ExitCode.FINE


def _replayed(conversations: Iterable[ChatTranscript]) -> int:
    from hexathlon.baselines.bridges.episodes import BridgedEpisode

    different = played = 0
    for each in conversations:
        env = each.env or _env_of(each.task)
        if not env or each.reward is None:
            continue
        with BridgedEpisode(env) as episode:
            episode.open(each.task, each.seed)
            for action in actions_of(each):
                if not episode.over:
                    episode.act(action)
            played += 1
            if episode.reward != each.reward:
                different += 1
                print_text(f"{each.task}: states {each.reward}, earns {episode.reward}")
    note(f"{played - different:,} of {played:,} replays earn the stated reward")
    return ExitCode.NOT_VERIFIED if different else ExitCode.FINE


def _env_of(task: str) -> str:
    """Return the environment that plays a task; empty for tasks that are not ours."""
    try:
        return environment_for_task(task).id
    except UsageError:
        return ""
