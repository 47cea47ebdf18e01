"""Images with a full root: a writable `/usr`, owners, other users, and nothing beyond that."""

from collections.abc import Iterator

import pytest

from hexathlon.envs.sandbox.base import Sandbox
from hexathlon.envs.sandbox.image import Entry, SandboxImage
from hexathlon.envs.sandbox.namespaces.backend import NamespaceBackend

USERS = {
    "/etc/passwd": Entry(
        b"root:x:0:0:root:/root:/bin/bash\napp:x:1000:1000::/home/app:/bin/bash\n"
    ),
    "/etc/group": Entry(b"root:x:0:\napp:x:1000:\n"),
}
IMAGE = SandboxImage(
    files={**USERS, "/usr/bin/mine": Entry(b"#!/bin/sh\necho mine\n", 0o755)},
    workdir="/app",
    full_root=True,
)


@pytest.fixture
def sandbox(namespaces: NamespaceBackend) -> Iterator[Sandbox]:
    with namespaces.open(IMAGE) as opened:
        yield opened


def said(sandbox: Sandbox, command: str) -> str:
    return sandbox.execute(command).output.decode()


def test_usr_is_a_layer_that_snapshots_and_changes_contain(namespaces, sandbox):
    assert said(sandbox, "mine") == "mine\n"
    line = "ln -s /bin/true /usr/bin/mended; rm /usr/bin/env; mkdir /usr/share/own; "
    line += "echo a > /usr/share/own/a; echo b > /usr/local/b; echo c > /app/c"
    assert said(sandbox, line) == ""
    with sandbox.snapshot() as state:
        changes = state.changes()
        with namespaces.open_snapshot(state) as other:
            line = "mended && cat /usr/share/own/a /usr/local/b; ls /usr/bin/env 2>&1 | wc -l"
            assert said(other, line) == "a\nb\n1\n"
    paths = {"/app/c", "/usr/bin/mended", "/usr/local/b", "/usr/share/own", "/usr/share/own/a"}
    assert set(changes.written) == paths and changes.deleted == ("/usr/bin/env",)
    with namespaces.open(IMAGE) as fresh:
        assert said(fresh, "ls /usr/bin/mended 2>&1 | grep -c 'No such'; env | grep -c PATH=") == (
            "1\n1\n"
        )


def test_background_processes_do_not_hide_changes_in_usr(sandbox):
    said(sandbox, "sleep 60 & echo x > /usr/lib/x.txt")
    with sandbox.snapshot() as state:
        assert state.changes().written["/usr/lib/x.txt"].data == b"x\n"
    sandbox.kill_all()


def test_root_gives_files_away_and_becomes_others(namespaces, sandbox):
    if not sandbox.opener().probe().properties["owners"]:
        pytest.skip("one user id only")
    line = "touch f; chown app:app f; stat -c '%U %G' f; setpriv --reuid app --regid app "
    line += "--init-groups sh -c 'id -un; touch /usr/g 2>&1 | grep -c denied; kill -9 1 2>&1'; "
    line += "tar -cf t.tar f; rm f; tar -xf t.tar; stat -c '%u' f; install -o app -m 600 f h; "
    line += "stat -c '%U %a' h; chmod 000 h; cat h && echo read"
    assert said(sandbox, line).splitlines()[:3] == ["app app", "app", "1"]
    assert said(sandbox, "stat -c '%u' f; stat -c '%U' h; cat h && echo read") == (
        "1000\napp\nread\n"
    )


def test_shells_of_a_user(namespaces):
    image = SandboxImage(files=dict(USERS), workdir="/app", full_root=True, user="app")
    with namespaces.open(image) as sandbox:
        if not sandbox.opener().probe().properties["owners"]:
            pytest.skip("one user id only")
        assert said(sandbox, "id -un; id -gn; touch /etc/x 2>&1 | grep -c denied") == (
            "app\napp\n1\n"
        )


def test_sudo_runs_commands_as_root_and_as_others(sandbox):
    line = "sudo -n -E whoami; sudo A=1 -- printenv A SUDO_USER; echo x | sudo tee f; "
    line += "sudo -v && sudo; echo $?"
    assert said(sandbox, line) == (
        "root\n1\nroot\nx\nusage: sudo [-u user] command [argument ...]\n1\n"
    )
    if sandbox.opener().probe().properties["owners"]:
        assert said(
            sandbox, "sudo -u app id -un; sudo --user=app -g app touch /usr/g; echo $?"
        ) == ("app\ntouch: cannot touch '/usr/g': Permission denied\n1\n")


FORBIDDEN = {
    "a device": "mknod /tmp/d c 1 3",
    "another root": "chroot / true",
    "a mount": "mount -t tmpfs none /mnt",
    "a namespace": "unshare -m true",
    "the first process": "cat /proc/1/environ || ls /proc/1/fd/",
    "the kernel": "echo 1 > /proc/sys/kernel/randomize_va_space",
    "the host name": "hostname other",
    "set-user-id": "cp /bin/id /tmp/id; chown app /tmp/id 2>/dev/null; chmod 4755 /tmp/id; "
    "setpriv --reuid 1 --clear-groups /tmp/id | grep euid",
    "more capabilities": "setpriv --inh-caps +sys_admin --ambient-caps +sys_admin "
    "grep -v 'CapEff:.00000000000000fb' /proc/self/status | grep CapEff",
    "memory of others": "sleep 9 & head -c1 /proc/$!/mem 2>/dev/null | grep .",
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_full_root_reaches_nothing_outside(sandbox, name):
    done = sandbox.execute(f"( {FORBIDDEN[name]} )")
    assert done.exit_status != 0, done.output


def test_without_it_nothing_changes(namespaces):
    with namespaces.open(SandboxImage(workdir="/app")) as plain:
        line = "touch /usr/bin/z 2>&1 | grep -c Read-only; grep CapBnd /proc/self/status; "
        line += "touch f; chown 5 f 2>&1 | grep -c permitted"
        assert said(plain, line) == "1\nCapBnd:\t0000000000000000\n1\n"
    digest = SandboxImage(workdir="/app").digest()
    assert digest == SandboxImage(workdir="/app", user="").digest() != IMAGE.digest()
