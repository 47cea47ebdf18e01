"""Messages of the shell itself are not part of a command's output."""

from hexathlon.envs.sandbox.limits import SandboxLimits
from hexathlon.envs.sandbox.running import run_in_shell

COMPLAINT = b"bash: [2: 1 (255)] tcsetattr: Inappropriate ioctl for device\n"


class Saying:
    """Substitute for a shell that reports a missing terminal, which a real one rarely does."""

    def __init__(self, output: bytes) -> None:
        self.output = output

    def run(self, command, seconds, limit, gathered):
        gathered.add(self.output)
        return 130, None


def said(output: bytes) -> bytes:
    return run_in_shell(Saying(output), "sleep 60", SandboxLimits(), None).output


def test_a_complaint_about_the_missing_terminal_is_left_out():
    assert said(b"begun\n" + COMPLAINT) == b"begun\n"
    assert said(COMPLAINT + b"then\n") == b"then\n"


def test_a_commands_own_output_is_kept():
    for output in (b"x " + COMPLAINT, b"bash: tcsetattr: Inappropriate ioctl for device\n"):
        assert said(output) == output
