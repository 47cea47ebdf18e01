"""The contract of the backends with absolute paths, checked on each of them."""

import pickle
from dataclasses import replace

import pytest

from hexathlon.envs.sandbox.base import SandboxPathError
from hexathlon.envs.sandbox.execution import Execution
from hexathlon.envs.sandbox.image import Entry, SandboxImage
from hexathlon.envs.sandbox.limits import Stop


def test_the_image_is_written_into_the_sandbox(run):
    assert run("pwd; cat data.txt; ./run.sh; readlink link; cat old/inner/deep.txt") == (
        "/app\none\ntwo\nran\ndata.txt\ndeep\n"
    )
    assert run("stat -c '%a %U %Y' data.txt run.sh private") == (
        "644 root 1767225600\n755 root 1767225600\n700 root 1767225600\n"
    )
    assert run('echo "$GREETING, $HOME, $LANG"; hostname; id -u') == (
        "hello there, /root, C.UTF-8\nsandbox\n0\n"
    )


def test_the_shell_persists(run):
    run("cd /tmp; export A=1; b=2; f() { echo f $1; }; alias g='echo g'; set -o pipefail")
    assert run("pwd; echo $A$b; f 3") == "/tmp\n12\nf 3\n"
    assert run("g; shopt -op pipefail") == "g\nset -o pipefail\n"


STATUSES = {
    "true": 0,
    "false": 1,
    "(exit 77)": 77,
    "no-such-command": 127,
    "/app/data.txt": 126,
    "echo 'open": 2,
    "kill -TERM $BASHPID & wait $!": 143,
    "false; true": 0,
    "false | true": 0,
    "": 0,
}


def test_exit_statuses(sandbox):
    for command, status in STATUSES.items():
        done = sandbox.execute(command)
        assert (done.exit_status, done.restarted, done.stop) == (status, False, None), command
        assert sandbox.execute("echo $?").output == b"%d\n" % status


TEXTS = (
    'it\'s "quoted" \\ $HOME `x` !1 ~ *',
    "tab\there\nnext line\n  indented",
    "ünïcødé 🎯 漢字",
    "'; exit 9; '",
    "\x01\x02\x7f\x1b[31m",
)


def test_any_text_reaches_the_shell_unchanged(sandbox):
    for text in TEXTS:
        done = sandbox.execute(f"cat <<'END OF TEXT'\n{text}\nEND OF TEXT")
        assert done.output.decode() == text + "\n"


def test_standard_input_is_empty(sandbox):
    assert sandbox.execute("cat; read -r line; echo $?").output == b"1\n"


def test_output_and_error_are_merged(run):
    assert run("echo a; echo b >&2; echo c") == "a\nb\nc\n"


def test_a_late_command_is_stopped_and_the_shell_lives(sandbox):
    sandbox.execute("kept=yes")
    for command in ("sleep 60", "while :; do :; done", "sleep 60 | cat", "bash -c 'sleep 60'"):
        done = sandbox.execute(command, timeout=0.3)
        assert done.timed_out and not done.restarted, command
        assert done.seconds < 30  # instead of 60
    assert sandbox.execute("echo $kept; pgrep -f 'sleep 6'").output == b"yes\n"


def test_a_shell_that_cannot_be_stopped_is_replaced(sandbox):
    done = sandbox.execute("kept=yes; trap '' INT; while :; do :; done", timeout=3.0)
    assert (done.exit_status, done.stop, done.restarted) == (None, Stop.TIME, True)
    assert sandbox.execute("echo [$kept]; pwd").output == b"[]\n/app\n"


def test_a_shell_that_ends_is_replaced(sandbox):
    endings = {"exit 5": 5, "exec true": 0, "trap : ERR; set -e; false": 1, "kill -KILL $$": 137}
    for command, status in endings.items():
        done = sandbox.execute(command)
        assert done.exit_status == status, command
        assert (done.stop, done.restarted) == (Stop.SHELL_ENDED, True), command
        assert sandbox.execute("echo new").output == b"new\n"


def test_background_jobs_survive(sandbox):
    sandbox.execute("(while [ ! -e go ]; do sleep 0.02; done; echo went > went) &")
    found = [process.command for process in sandbox.processes()]
    assert any("bash" in command for command in found), found
    sandbox.execute("touch go; wait")
    assert sandbox.read("/app/went") == b"went\n"


def test_long_output_keeps_both_ends(sandbox):
    done = sandbox.execute("seq 100000")
    whole = "".join(f"{n}\n" for n in range(1, 100_001)).encode()
    assert len(done.output) + done.cut_bytes == len(whole)
    head, tail = done.output[: done.cut_at], done.output[done.cut_at :]
    assert whole.startswith(head) and whole.endswith(tail)
    assert len(head) == len(tail) == sandbox.limits.kept_bytes // 2


def test_files_can_be_read_and_written(sandbox):
    data = bytes(range(256)) * 100
    sandbox.write("/app/new/folder/file.bin", data, 0o750)
    assert sandbox.read("/app/new/folder/file.bin") == data
    assert sandbox.execute("stat -c %a new/folder/file.bin").output == b"750\n"
    sandbox.write("/app/data.txt", b"")
    assert sandbox.read("/app/data.txt") == b""


def test_only_regular_files_can_be_read(sandbox):
    sandbox.execute("mkfifo fifo")
    for path in ("/app/none", "/app", "/dev/zero", "/app/fifo", "/app/data.txt/x", "", "/a\0b"):
        with pytest.raises(SandboxPathError):
            sandbox.read(path)


def test_long_files_are_refused(sandbox):
    with pytest.raises(SandboxPathError, match="longer than 3 bytes"):
        sandbox.read("/app/data.txt", max_bytes=3)


def test_written_entries_replace_links_and_never_follow_them(sandbox):
    sandbox.execute("ln -s data.txt trap; mkdir solid; touch solid/x")
    sandbox.write_entries({
        "/app/trap": Entry(b"mine\n", mode=0o600),
        "/app/solid": Entry(b"file now\n"),
        "/app/a/b": Entry(folder=True, mode=0o711),
        "/app/a/link": Entry(link="/etc/passwd"),
    })  # fmt: skip
    assert sandbox.execute("cat trap solid data.txt; stat -c '%a %F' trap a/b").output == (
        b"mine\nfile now\none\ntwo\n600 regular file\n711 directory\n"
    )
    assert sandbox.execute("readlink a/link").output == b"/etc/passwd\n"


def test_changes_are_a_difference(sandbox):
    sandbox.execute(
        "echo three >> data.txt; rm -r old; mkdir made; echo x > made/x; chmod 700 run.sh;"
        "ln -s /etc/shadow out; mkfifo pipe; touch private"
    )
    with sandbox.snapshot() as state:
        changes = state.changes()
    assert changes.written["/app/data.txt"].data == b"one\ntwo\nthree\n"
    assert changes.written["/app/run.sh"].mode == 0o700
    assert changes.written["/app/out"].link == "/etc/shadow"
    assert changes.written["/app/made"].folder
    assert changes.deleted == ("/app/old",)
    assert changes.special == {"/app/pipe": "fifo"}
    assert set(changes.written) == {
        "/app/data.txt", "/app/made", "/app/made/x", "/app/out", "/app/run.sh",
    }  # fmt: skip


def test_changes_keep_to_their_limit(sandbox):
    sandbox.execute("head -c 100000 /dev/zero > big; truncate -s 8M sparse; echo s > small")
    with sandbox.snapshot() as state:
        changes = state.changes(max_bytes=200_000)
    if not changes.cut:  # a backend that exports everything at the time of the snapshot
        changes = replace(changes, special={"/app/sparse": "too_long"})
        assert len(state.changes().written["/app/sparse"].data) == 8 << 20
    assert changes.special == {"/app/sparse": "too_long"}
    assert {"/app/big", "/app/small"} <= set(changes.written)


def goes_on(sandbox) -> tuple[bytes, Execution]:
    first = sandbox.execute("echo $x $?; f; pwd; ls; cat data.txt; umask; set -o | grep pipefail")
    return first.output, sandbox.execute("echo more >> data.txt; echo $RANDOM > r; false")


def prepare(sandbox) -> None:
    sandbox.execute("x='a  b'; f() { echo \"f of $x\"; }; export x; cd old; umask 027; RANDOM=7")
    sandbox.execute("set -o pipefail; cd ..; echo new > data.txt; rm -r old; mkdir old; (exit 4)")


def test_forks_continue_identically_and_independently(sandbox):
    prepare(sandbox)
    forks = sandbox.fork(2)
    try:
        seen = [goes_on(one)[0] for one in (sandbox, *forks)]
        assert seen[0] == seen[1] == seen[2]
        assert b"a b 4\nf of a  b\n/app\n" in seen[0]
        assert forks[0].read("/app/r") == forks[1].read("/app/r") == sandbox.read("/app/r")
        forks[0].execute("echo only here > mine")
        for other in (sandbox, forks[1]):
            with pytest.raises(SandboxPathError):
                other.read("/app/mine")
    finally:
        for one in forks:
            one.close()


def test_a_snapshot_stays_and_can_be_pickled(sandbox):
    prepare(sandbox)
    with sandbox.snapshot() as state:
        expected = goes_on(sandbox)[0]
        sandbox.restore(state)
        assert goes_on(sandbox)[0] == expected
        copy = pickle.loads(pickle.dumps(state))
    sandbox.restore(copy)
    assert goes_on(sandbox)[0] == expected


def test_a_snapshot_names_what_it_cannot_contain(sandbox):
    sandbox.execute("sleep 60 & echo started > state; until pgrep -x sleep; do :; done")
    with sandbox.snapshot() as state:
        assert [process.command for process in state.lost] == ["sleep 60"]
        assert sandbox.execute("jobs -r | wc -l").output == b"1\n"  # and the original is untouched
        sandbox.restore(state)
    assert sandbox.execute("cat state; pgrep -f 'sleep 6'").output == b"started\n"


def test_reset_brings_the_image_back(sandbox):
    sandbox.execute("rm -rf /app/* ; echo x > ~/x; cd /; y=1; sleep 60 &")
    sandbox.reset()
    done = sandbox.execute("pwd; cat data.txt; ls /root; echo [$y]; pgrep -f 'sleep 6'")
    assert done.output == b"/app\none\ntwo\n[]\n"


def test_killing_leaves_nothing(sandbox):
    sandbox.execute("sleep 61 & setsid nohup sleep 62 & (setsid bash -c 'sleep 63; true' &)")
    sandbox.execute("for n in 61 62 63; do until pgrep -f ^sleep.$n; do :; done; done")
    sandbox.execute("trap 'touch /app/late' TERM EXIT")
    killed = {process.command for process in sandbox.kill_all()}
    assert {"sleep 61", "sleep 62", "sleep 63"} <= killed
    assert sandbox.processes() == ()
    assert sandbox.execute("ls late; pgrep -f 'sleep 6'").exit_status == 1


def test_freezing_stops_everything(sandbox):
    sandbox.execute("(while :; do echo x >> ticks; sleep 0.01; done) &")
    sandbox.execute("while [ ! -s ticks ]; do sleep 0.01; done")
    sandbox.freeze()
    states = {process.state for process in sandbox.processes()}
    assert states <= {"T", "D"}, states
    sandbox.thaw()
    before = len(sandbox.read("/app/ticks"))
    sandbox.execute(f"while [ $(wc -c < ticks) -le {before} ]; do sleep 0.01; done")


def test_a_screen_waits_for_a_program_that_computes(sandbox):
    if "docker" in type(sandbox).__module__:
        pytest.skip("a container's terminal is a socket, which does not show processes")
    sandbox.keys("for ((i = 0; i < 200000; i++)); do :; done; echo coun''ted\n")
    assert "counted" in sandbox.screen(quiet=0.01, timeout=60.0).text()


def test_a_screen_shows_full_screen_programs(sandbox):
    sandbox.keys("PS1='$ '; clear; echo hello\n")
    seen = sandbox.screen(quiet=0.3, timeout=60.0)
    assert seen.text().splitlines()[:2] == ["hello", "$"] or "hello" in seen.text()
    sandbox.keys("printf '\\033[?1049h\\033[5;10Hinside'; read -n1\n")
    inside = sandbox.screen(quiet=0.3, timeout=60.0)
    assert inside.alternate
    assert inside.lines[4][9:15] == "inside"
    sandbox.keys("q")
    sandbox.keys("printf '\\033[?1049l'; echo $((6*7))\n")
    after = sandbox.screen(quiet=0.3, timeout=60.0)
    assert not after.alternate
    assert "hello" in after.text() and "42" in after.text()
    sandbox.keys("sleep 60\n\x03")
    sandbox.keys("echo interrupted\n")
    assert "interrupted" in sandbox.screen(quiet=0.3, timeout=60.0).text()


def test_a_screen_waits_for_a_text_and_changes_its_size(sandbox):
    sandbox.keys("sleep 1; printf 'rea''dy\\n'; sleep 60\n")
    assert "ready" in sandbox.screen(timeout=60.0, until="ready").text()
    sandbox.keys("\x03")
    sandbox.resize(30, 100)
    sandbox.keys("stty size\n")
    seen = sandbox.screen(timeout=60.0, until="30 100")
    assert len(seen.lines) == 30 and "ready" in seen.text()
    sandbox.resize(6, 40)
    sandbox.keys("stty size\n")
    assert len(sandbox.screen(timeout=60.0, until="6 40").lines) == 6
    sandbox.resize(rows=10)
    sandbox.keys("stty size\n")
    assert len(sandbox.screen(timeout=60.0, until="10 40").lines) == 10


def test_what_the_keys_themselves_show_is_not_waited_for(sandbox):
    sandbox.keys("echo over\n")
    sandbox.screen(timeout=60.0, until="over")
    sandbox.keys("sleep 0.5; seq 40; echo over\n")
    seen = sandbox.screen(timeout=60.0, until="over")
    assert "40\nover" in seen.text()


def test_jobs_of_the_shell_are_controlled(sandbox, run):
    assert "sleep 61" in run("sleep 61 & sleep 62 & jobs")
    assert run("kill %1; wait %1; echo $?").endswith("143\n")
    done = sandbox.execute("fg %2", timeout=2.0)
    assert done.timed_out and not done.restarted
    assert run("jobs -r; sleep 0.1 & fg; echo $?").splitlines()[1:] == ["sleep 0.1", "0"]


def test_the_shell_does_not_complain_about_the_missing_terminal(run):
    assert run("printf abc; sh -c 'kill -2 $$'") == "abc"
    assert run("(printf abc; sh -c 'kill -9 $$')") == "abcKilled\n"


FAILING = {
    "plainly": ("x=5; set -e; false; echo no", "", 1),
    "in a function": ("set -e; f() { (exit 7); echo no; }; f; echo no", "", 7),
    "in a group": ("set -e; { grep -q 9 data.txt; echo no; }; echo no", "", 1),
    "in an assignment": ("set -o errexit; y=$(echo z; exit 4); echo no", "", 4),
    "in a pipeline": ("set -eo pipefail; false | cat; echo no", "", 1),
    "in a subshell": ("set -e; (echo sub; false; echo no); echo no", "sub\n", 1),
    "in a sourced script": ("printf 'set -e\\nfalse\\n' > s; . ./s; echo no", "", 1),
    "nowhere": ("set -e; if false; then :; fi; false || ! true || echo yes", "yes\n", 0),
}


@pytest.mark.parametrize("where", FAILING)
def test_a_failing_command_under_errexit_leaves_the_shell(sandbox, run, where):
    command, output, status = FAILING[where]
    run("cd /tmp; cd /app; kept=7; sleep 63 &")
    done = sandbox.execute(command)
    assert (done.output.decode(), done.exit_status, done.restarted) == (output, status, False)
    assert run("echo $? $kept ${-//[^e]}") == f"{status} 7 e\n"
    assert sandbox.execute("false; echo no").exit_status == 1
    with sandbox.snapshot() as state, sandbox.opener().open_snapshot(state) as other:
        done = other.execute("echo $kept ${-//[^e]}; false; echo no")
        assert (done.output, done.exit_status, done.restarted) == (b"7 e\n", 1, False)
    assert run("set +e; false; echo on") == "on\n"
    assert "sleep 63" in run("jobs")
    assert run("trap -p ERR; compgen -v __hx; shopt -op errtrace") == "set +o errtrace\n"


def test_images_do_not_mix(backend):
    for text in (b"first", b"second"):
        with backend.open(SandboxImage(files={"/app/x": Entry(text)}, workdir="/app")) as one:
            assert one.execute("cat x; echo more >> x").output == text
    with backend.open(SandboxImage()) as one:
        assert one.execute("ls /app; pwd").output.endswith(b"/root\n")


def test_closing_twice_is_fine(backend):
    one = backend.open(SandboxImage())
    one.close()
    one.close()
