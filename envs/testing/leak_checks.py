"""Checks for resources leaked by closed environments."""

from hexathlon.envs.testing.census import Census, private_temporary_folder, take_census
from hexathlon.envs.testing.fuzzing import do_nothing, fuzzed_actions
from hexathlon.envs.testing.report import CheckFailed, ConformanceCheck
from hexathlon.envs.testing.subject import Subject

__all__ = ["CHECKS"]

_ROUNDS = 3


def _live(subject: Subject) -> None:
    """Make two environments, play, idle to the end, leave one episode unfinished, close both."""
    envs = [subject.make() for _ in range(2)]
    for env in envs:
        task = subject.tasks[0]
        subject.play(env, task, subject.source.oracle(task))
        subject.play(env, task, do_nothing(task))
        subject.play_actions(env, task, list(fuzzed_actions(task, 5, subject.seed)))
    for env in envs:
        env.close()


def _growth(subject: Subject, kind: str) -> None:
    """Compare the resources after one round with those after several more."""
    counted: tuple[Census, Census] | None = subject.__dict__.get("_censuses")
    if counted is None:
        with private_temporary_folder():
            _live(subject)
            before = take_census()
            for _ in range(_ROUNDS):
                _live(subject)
            counted = subject.__dict__["_censuses"] = (before, take_census())
    before, after = counted
    grown = after.grown(kind, before)
    if grown:
        raise CheckFailed(
            f"{len(grown)} more after {_ROUNDS} rounds of make, play and close: "
            f"{', '.join(grown[:3])}"
        )


def no_leaked_thread(subject: Subject) -> None:
    """Check for leaked threads."""
    _growth(subject, "threads")


def no_leaked_process(subject: Subject) -> None:
    """Check for leaked child processes, zombies included."""
    _growth(subject, "processes")


def no_leaked_file(subject: Subject) -> None:
    """Check for leaked files, sockets and pipes."""
    _growth(subject, "files")


def no_leaked_temporary(subject: Subject) -> None:
    """Check for leaked temporary files and directories."""
    _growth(subject, "temporary")


CHECKS = (
    ConformanceCheck("no_leaked_thread", "stop and join every thread in close()", no_leaked_thread),
    ConformanceCheck(
        "no_leaked_process", "end and wait for every process in close()", no_leaked_process
    ),
    ConformanceCheck(
        "no_leaked_file", "close files, sockets and connections in close()", no_leaked_file
    ),
    ConformanceCheck(
        "no_leaked_temporary", "delete temporary files in close()", no_leaked_temporary
    ),
)
