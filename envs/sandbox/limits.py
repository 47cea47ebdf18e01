"""Resource limits of a sandbox, and the reasons for stopping a process in it."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["MIB", "SandboxLimits", "Stop"]

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """Limits of one sandbox. There is never a network beyond its own loopback."""

    seconds: float = 30.0
    """Default deadline of one command, in wall-clock seconds."""

    memory_bytes: int = 512 * MIB
    """Memory of all processes together; in-memory files (`disk_bytes`) come on top."""

    processes: int = 128
    """Processes and threads alive at once."""

    disk_bytes: int = 256 * MIB
    """Bytes of all files written, in addition to the image."""

    inodes: int = 32_768
    """Files and directories created or changed, in addition to the image."""

    file_bytes: int = 256 * MIB
    """Maximum size of a single file."""

    open_files: int = 256
    """Descriptors open in one process, at least 64."""

    output_bytes: int = 64 * MIB
    """Bytes that one command may print before it is stopped."""

    kept_bytes: int = 256 * 1024
    """Bytes of one command's output that are kept: half from its beginning, half from its end."""

    cpus: float | None = None
    """Maximum number of processors used by all processes together; None for all processors."""

    def __post_init__(self) -> None:
        if self.open_files < 64:  # the shell's own channels have numbers just below
            raise ValueError(f"open_files must be at least 64, got {self.open_files}")


class Stop(StrEnum):
    """Why a command was stopped, or which limit it hit; the value appears in records."""

    TIME = "time"
    OUTPUT = "output"
    MEMORY = "memory"
    PROCESSES = "processes"
    DISK = "disk"
    INODES = "inodes"
    DESCRIPTORS = "descriptors"
    SHELL_ENDED = "shell_ended"
