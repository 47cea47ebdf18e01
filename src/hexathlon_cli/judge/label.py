"""The command `judge label`."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hexathlon_cli.judge.options import RubricName, Seed
from hexathlon_cli.options import SaltFile

if TYPE_CHECKING:
    from hexathlon.baselines.judging.plan import JudgedTrial
    from hexathlon.evaluators.judged.human import Agreement, HumanLabel
    from hexathlon.evaluators.judges.rubric import Criterion

__all__ = ["label"]

_QUIT, _SKIP, _BACK = "q", "s", "b"


def label(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    labels: Annotated[Path, typer.Option(help="File of labels; new ones are appended.")],
    rubric: RubricName = None,
    annotator: Annotated[str, typer.Option(help="Your name in the file.")] = "annotator",
    trials: Annotated[int, typer.Option(min=1, help="Number of trials to label.")] = 40,
    seed: Seed = 0,
    salt_file: SaltFile = None,
) -> int:
    """Label the trials of a run yourself, and compare judges with you.

    Shows one trial after the other, in random order and without scores or judges' labels, and asks
    for each criterion that code cannot decide. Answers are saved at once; the same command
    continues. At the end it prints Cohen's kappa with every judge of the run and with other
    annotators in the file.
    """
    from hexathlon.baselines.harness.errors import UsageError
    from hexathlon.baselines.harness.plan import read_salt
    from hexathlon.baselines.judging.plan import labelled_trials
    from hexathlon.evaluators.judged.file import JudgedError, judged_files, read_judged
    from hexathlon.evaluators.judged.human import (
        HumanLabelError,
        agreements,
        read_human_labels,
    )
    from hexathlon.tasks.seeding import generator_for
    from hexathlon_cli.judge.rubrics import load_rubric
    from hexathlon_cli.output import note, print_text

    chosen = None if rubric is None else load_rubric(rubric)
    found = labelled_trials(run, chosen, read_salt(salt_file))
    order = generator_for("judge label", seed).permutation(len(found))
    asked = [found[place] for place in order[:trials].tolist()]
    try:
        known = read_human_labels(labels)
        left = _left(asked, known, annotator)
        if left:
            note(f"{len(left)} labels to give; {_QUIT} ends, {_BACK} goes back, {_SKIP} skips")
        given = _Session(labels, annotator, left).run(_typed)
        found_labels = read_human_labels(labels)
        judged = [read_judged(path) for path in judged_files(run)]
    except (HumanLabelError, JudgedError) as error:
        raise UsageError(str(error)) from None
    print_text(f"{given} new labels, {len(found_labels)} in {labels}")
    _print(agreements(found_labels, judged))
    return 0


def _left(
    asked: "Sequence[JudgedTrial]", known: "Sequence[HumanLabel]", annotator: str
) -> "list[tuple[JudgedTrial, Criterion]]":
    """Return the questions that the annotator has not answered."""
    done = {(row.record, row.rubric, row.criterion) for row in known if row.annotator == annotator}
    return [
        (trial, criterion)
        for trial in asked
        for criterion in trial.rubric.judged
        if (trial.head["hash"], trial.rubric.hash, criterion.id) not in done
    ]


def _typed() -> str:
    """Return the next typed line in lower case; the end of the input quits."""
    from hexathlon_cli.output import flush_output

    flush_output()
    line = sys.stdin.readline()
    return line.strip().lower() if line else _QUIT


class _Session:
    """Asks one question after the other and saves the answers."""

    def __init__(
        self,
        path: Path,
        annotator: str,
        questions: "Sequence[tuple[JudgedTrial, Criterion]]",
    ) -> None:
        self._path, self._annotator, self._questions = path, annotator, questions

    def run(self, read: Callable[[], str]) -> int:
        """Return the number of labels given."""
        from hexathlon.evaluators.judged.human import HumanLabel, append_label
        from hexathlon.evaluators.judges.labels import ABSTAIN
        from hexathlon_cli.output import print_text

        place, shown, given = 0, "", set[tuple[str, str]]()
        while place < len(self._questions):
            trial, criterion = self._questions[place]
            record = str(trial.head["hash"])
            if record != shown:
                print_text(_transcript(trial))
                shown = record
            menu = [*criterion.menu, ABSTAIN]
            print_text(f"\n[{place + 1}/{len(self._questions)}] {criterion.text}")
            print_text("  ".join(f"{number} {name}" for number, name in enumerate(menu, 1)))
            answer = read()
            if answer == _QUIT:
                break
            if answer in (_SKIP, _BACK):
                place = max(0, place + (1 if answer == _SKIP else -1))
            elif answer.isdecimal() and 0 < int(answer) <= len(menu):
                name = menu[int(answer) - 1]
                row = HumanLabel(record, trial.rubric.hash, criterion.id, name, self._annotator)
                append_label(self._path, row)
                given.add((record, criterion.id))
                place += 1
            else:
                print_text(f"expected a number from 1 to {len(menu)}, got {answer!r}")
        return len(given)


def _transcript(trial: "JudgedTrial") -> str:
    lines = trial.transcript(images=False).lines
    body = "\n\n".join(f"{line.role}: {line.text}" for line in lines)
    return f"\n{'─' * 72}\n{body}\n{'─' * 72}"


def _print(rows: "Sequence[Agreement]") -> None:
    from hexathlon.baselines.harness.tables import ReportTable
    from hexathlon_cli.output import print_table

    if not rows:
        return
    headings = ("between", "criterion", "both", "equal", "kappa", "95% interval")
    body = tuple(
        (
            f"{row.first} and {row.second}",
            row.criterion,
            f"{row.both:,}",
            f"{row.equal:,}",
            "–" if row.kappa is None else f"{row.kappa.value:.2f}",
            "–" if row.kappa is None else f"{row.kappa.low:.2f} to {row.kappa.high:.2f}",
        )
        for row in rows
    )
    print_table(ReportTable("Agreement", headings, body))
