"""The vocabulary of episode status, ongoing and final."""

from enum import StrEnum

__all__ = ["Status"]


class Status(StrEnum):
    """Status of an episode; the value appears in `info["status"]` and in records."""

    ONGOING = "ongoing"
    COMPLETED = "completed"
    TRUNCATED_TURNS = "truncated_turns"
    TRUNCATED_LENGTH = "truncated_length"
    TRUNCATED_TIME = "truncated_time"
    ERROR_ENV = "error_env"
    ERROR_JUDGE = "error_judge"
    ABORTED = "aborted"

    @property
    def terminated(self) -> bool:
        """Whether the task itself has ended."""
        return self in _TASK_ENDS

    @property
    def truncated(self) -> bool:
        """Whether a budget or the caller ended the episode."""
        return self is not Status.ONGOING and not self.terminated


_TASK_ENDS = (Status.COMPLETED, Status.ERROR_JUDGE)  # cached, as looking up members is slow
