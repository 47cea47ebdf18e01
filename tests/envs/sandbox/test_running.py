"""Messages of the shell itself are not part of a command's output."""

from hexathlon.envs.sandbox.limits import SandboxLimits
from hexathlon.envs.sandbox.running import run_in_shell

COMPLAINT = b"bash: [2: 1 (255)] tcsetattr: Inappropriate ioctl for device\n"


class Saying:
    """Substitute for a shell that reports a missing terminal, which a real one rarely does."""

    pid = 2

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


def test_a_complaint_after_an_unfinished_line_is_left_out():
    assert said(b"begun" + COMPLAINT) == b"begun"
    assert said(b"one " + COMPLAINT + b"two " + COMPLAINT) == b"one two "


def test_a_complaint_is_left_out_on_both_sides_of_a_cut():
    limits = SandboxLimits(kept_bytes=400)
    shell = Saying(b"a" + COMPLAINT + b"b" * 1000 + COMPLAINT)
    made = run_in_shell(shell, "sleep 60", limits, None)
    assert b"tcsetattr" not in made.output
    assert made.output[: made.cut_at] == b"a" + b"b" * (199 - len(COMPLAINT))
    assert made.output[made.cut_at :] == b"b" * (200 - len(COMPLAINT))


def test_a_commands_own_output_is_kept():
    other = COMPLAINT.replace(b"[2", b"[22")
    for output in (b"x " + other, b"bash: tcsetattr: Inappropriate ioctl for device\n"):
        assert said(output) == output
