"""The supervisor: a small process that holds the layers and forks sandboxes from itself.

It is process 1 of its own pid namespace, so that when it ends for any reason, the kernel kills
every sandbox with it, and the layers vanish with its mount namespace. As root it maps user 0 of
the sandboxes to an id that owns nothing on the machine; as another user it first becomes root of a
user namespace, where it may do all this as well.
"""

import contextlib
import ctypes
import gc
import os
import platform
import signal
import socket
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from hexathlon.envs.sandbox.changes import Changes
from hexathlon.envs.sandbox.kernel import bundle, wire, writing
from hexathlon.envs.sandbox.kernel.calls import (
    CLONE_NEWNET,
    CLONE_NEWNS,
    CLONE_NEWPID,
    CLONE_NEWUSER,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_REC,
    MS_SLAVE,
    die_with_parent,
    mount,
    set_name,
    setns,
    unshare,
)
from hexathlon.envs.sandbox.kernel.cgroups import ControlGroups, Family, find_family
from hexathlon.envs.sandbox.kernel.confine import (
    ROOT_OF_FILES,
    ROOT_OF_USERS,
    ProcessLimits,
    drop_privileges,
    enter_user_namespace,
    set_process_limits,
)
from hexathlon.envs.sandbox.kernel.init import Init
from hexathlon.envs.sandbox.kernel.landlock import landlock_version
from hexathlon.envs.sandbox.kernel.seccomp import seccomp_program
from hexathlon.envs.sandbox.namespaces.export import export
from hexathlon.envs.sandbox.namespaces.layers import Layers
from hexathlon.envs.sandbox.namespaces.root import build_root
from hexathlon.envs.sandbox.namespaces.users import FIRST_ID, UserNamespaces

__all__ = ["main"]

_CONTROL = 3


def main(descriptor: int) -> None:
    """Start the supervisor and wait for it; the caller is at the other end of the socket."""
    connection = socket.socket(fileno=descriptor)
    connection.set_inheritable(False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    root = os.geteuid() == 0
    family = find_family()
    try:
        if not root:
            _become_root_of_users()
        unshare(CLONE_NEWPID)
    except OSError as error:
        with contextlib.suppress(OSError):
            wire.send(connection, {"error": str(error)}, [])
        _close(family)
        return
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            die_with_parent()
            _keep(connection, root, family)
            code = 0
        finally:
            os._exit(code)
    connection.close()
    os.waitpid(pid, 0)
    _close(family)


def _close(family: Family | str) -> None:
    if not isinstance(family, str):
        family.close()


def _become_root_of_users() -> None:
    user, group = os.geteuid(), os.getegid()
    unshare(CLONE_NEWUSER)
    texts = {"setgroups": "deny", "uid_map": f"0 {user} 1", "gid_map": f"0 {group} 1"}
    for name, text in texts.items():
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def _keep(connection: socket.socket, root: bool, family: Family | str) -> None:
    try:
        unshare(CLONE_NEWNS)
        mount("", "/", flags=MS_REC | MS_SLAVE)
        mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
        supervisor = _Supervisor(connection, root, family)
    except OSError as error:
        wire.send(connection, {"error": str(error)}, [])
        return
    supervisor.serve()


class _Supervisor:
    def __init__(self, connection: socket.socket, root: bool, family: Family | str) -> None:
        self._connection = connection
        self._root = root
        self._family = family if isinstance(family, str) else family.anchored()
        self._groups: dict[int, ControlGroups] = {}
        self._helpers: list[int] = []
        self._dying: list[int] = []
        self._own_pids = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        self._users = UserNamespaces() if root else None
        self._users_of: dict[int, int] = {}
        self._layers = Layers(FIRST_ID if root else 0, self._users.common if self._users else None)
        self._program = seccomp_program()
        self._operations: dict[str, Callable[..., dict[str, Any]]] = {}
        self._operations |= {"open": self._open, "end": self._end, "drop": self._drop}
        self._operations |= {"changes": self._changes, "copy": self._copy, "counters": self._count}
        self._operations |= {"idle": self._idle, "listen": self._listen}
        _forget_arguments()
        set_name("init")

    def serve(self) -> None:
        """Serve requests until the caller disconnects; all sandboxes then die with this process."""
        limits = self._family if isinstance(self._family, str) else self._family.kind
        reply: dict[str, Any] = {"root": self._root, "limits": limits}
        reply["landlock"] = landlock_version()
        wire.send(self._connection, reply, [])
        gc.collect()
        gc.freeze()
        gc.disable()
        while (message := wire.receive(self._connection)) is not None:
            request, descriptors = message
            try:
                reply = self._operations[request.pop("do")](descriptors, **request)
            except OSError as error:
                reply = {"error": str(error)}
            for descriptor in descriptors:
                os.close(descriptor)
            wire.send(self._connection, reply, [])
            self._reap()

    def _open(
        self, descriptors: list[int], layers: list[int], sizes: list[int], **spec: Any
    ) -> dict[str, Any]:
        """Fork a sandbox; descriptors: its socket, its shell's three or four, or a bundle."""
        base = self._layers.base(spec["base"])
        mounts = spec["mounts"].items()
        spec["mounts"] = {path: self._layers.mounted(source) for path, source in mounts}
        system = spec["host"] and spec["full_root"]
        self._layers.add(layers[0], *sizes, system=system)
        group = None if isinstance(self._family, str) else self._family.make()
        membership_files: list[int] = []
        counter_files: list[int] = []
        users: int | None = None
        try:
            if group is not None:
                group.limit(**spec["group"])
                membership_files, counter_files = group.membership_files(), group.counter_files()
            users = self._users.take() if self._users is not None else None
            unshare(CLONE_NEWPID)
            try:
                pid = os.fork()
                if pid == 0:
                    spec["users"] = users
                    _sandbox(self, descriptors, layers, base, membership_files, counter_files, spec)
            finally:
                setns(self._own_pids, CLONE_NEWPID)
        except OSError:
            if users is not None and self._users is not None:
                self._users.give_back(users)
            if group is not None and isinstance(self._family, Family):
                self._family.remove(group)
            raise
        finally:
            for handle in (*membership_files, *counter_files):
                os.close(handle)
        if group is not None:
            self._groups[pid] = group
        if users is not None:
            self._users_of[pid] = users
        return {"pid": pid}

    def _end(self, descriptors: list[int], pid: int, wait: bool) -> dict[str, Any]:
        """Kill a sandbox; without `wait`, it is reaped after the next request."""
        reply = self._count(descriptors, pid)
        os.kill(pid, signal.SIGKILL)
        if wait:
            os.waitpid(pid, 0)  # returns once the pid namespace is empty
            self._forget(pid)
        else:
            self._dying.append(pid)
        return reply

    def _forget(self, pid: int) -> None:
        users = self._users_of.pop(pid, None)
        if users is not None and self._users is not None:
            self._users.give_back(users)
        group = self._groups.pop(pid, None)
        if group is not None and isinstance(self._family, Family):
            self._family.remove(group)

    def _idle(self, descriptors: list[int]) -> dict[str, Any]:
        return {}

    def _count(self, descriptors: list[int], pid: int) -> dict[str, Any]:
        group = self._groups.get(pid)
        return {"counters": group.counters() if group is not None else (0, 0)}

    def _elsewhere(self, descriptor: int, work: Callable[[], int | None]) -> None:
        """Run a slow operation in a child, which answers on a separate socket."""
        pid = os.fork()
        if pid:
            self._helpers.append(pid)
            return
        code = 1
        try:
            connection = socket.socket(fileno=os.dup(descriptor))
            try:
                result = work()
                wire.send(connection, {}, [] if result is None else [result])
            except OSError as error:
                wire.send(connection, {"error": str(error)}, [])
            code = 0
        finally:
            os._exit(code)

    def _listen(self, descriptors: list[int], pid: int, port: int) -> dict[str, Any]:
        """Open a listening socket in a sandbox's network, in a separate process."""
        self._elsewhere(descriptors[0], lambda: _listening(pid, port))
        return {}

    def _reap(self) -> None:
        """Reap helpers and sandboxes that have ended; no other children are reaped."""
        self._helpers = [pid for pid in self._helpers if os.waitpid(pid, os.WNOHANG)[0] == 0]
        ended = [pid for pid in self._dying if os.waitpid(pid, os.WNOHANG)[0]]
        for pid in ended:
            self._dying.remove(pid)
            self._forget(pid)

    def _drop(self, descriptors: list[int], layers: list[int]) -> dict[str, Any]:
        for number in layers:
            self._layers.drop(number)
        return {}

    def _copy(
        self, descriptors: list[int], layer: int, to: int, sizes: list[int]
    ) -> dict[str, Any]:
        """Copy a layer in use into a new one, in a separate process."""
        system = os.path.isdir(f"l/{layer}/s")
        self._layers.add(to, *sizes, system=system)
        self._elsewhere(descriptors[0], lambda: _copy_layer(layer, to))
        return {}

    def _changes(
        self, descriptors: list[int], above: list[int], image: list[int], base: str, **most: int
    ) -> dict[str, Any]:
        """Compute the changes made by layers, in a separate process."""
        lower = [f"l/{number}/u" for number in image] + [self._layers.base(base)]
        upper = [f"l/{number}/u" for number in above]
        owner = FIRST_ID if self._root else 0
        systems = [f"l/{number}/s" for number in above]
        if not any(map(os.path.isdir, systems)):
            work = partial(export, upper, lower, owner, **most)
        else:
            below = [f"l/{number}/s" for number in image] + ["usr"]
            work = partial(_with_system, upper, lower, systems, below, owner, most)
        self._elsewhere(descriptors[0], lambda: bundle.pack(work()))
        return {}


def _sandbox(
    supervisor: "_Supervisor",
    descriptors: list[int],
    layers: list[int],
    base: str,
    membership_files: list[int],
    counter_files: list[int],
    spec: dict[str, Any],
) -> None:
    """Run as process 1 of a new sandbox; never returns."""
    try:
        connection = socket.socket(fileno=descriptors[0])
        try:
            _enter(supervisor, layers, base, spec, descriptors)
        except OSError as error:
            wire.send(connection, {"error": str(error)}, [])
            return
        init = Init(
            connection,
            spec["environment"],
            spec["workdir"],
            membership_files,
            counter_files,
            user=spec["user"],
            open_files=spec["process_limits"]["open_files"],
        )
        _keep_only([connection.fileno(), *descriptors[1:], *membership_files, *counter_files])
        reply = init.shell(descriptors[1:]) if spec["shell"] else {}
        for descriptor in descriptors[1:]:
            os.close(descriptor)
        wire.send(connection, reply, [])
        init.serve()
    finally:
        os._exit(0)


def _enter(
    supervisor: "_Supervisor",
    layers: list[int],
    base: str,
    spec: dict[str, Any],
    descriptors: list[int],
) -> None:
    build_root(
        layers,
        base,
        spec["mounts"],
        host=spec["host"],
        memory_files=spec["memory_files"],
        root=supervisor._root,
        writable=spec["full_root"],
    )
    enter_user_namespace(spec["users"])
    if spec["write_bundle"]:
        writing.apply(bundle.unpack(os.dup(descriptors[1])))
    set_process_limits(replace(ProcessLimits(**spec["process_limits"]), open_files=None))
    kept: tuple[int, ...] = ()
    if spec["full_root"]:
        grouped = not isinstance(supervisor._family, str)
        kept = ROOT_OF_FILES + (ROOT_OF_USERS if grouped or not supervisor._root else ())
    drop_privileges(supervisor._program, kept)


def _keep_only(wanted: list[int]) -> None:
    previous = 2
    for descriptor in [*sorted(wanted), 1 << 20]:
        os.closerange(previous + 1, descriptor)
        previous = descriptor


def _copy_layer(source: int, target: int) -> None:
    """Copy files with all metadata that an overlay keeps."""
    for part in [part for part in ("u", "s") if os.path.isdir(f"l/{source}/{part}")]:
        code = os.spawnvp(
            os.P_WAIT, "cp", ["cp", "-a", f"l/{source}/{part}/.", f"l/{target}/{part}/"]
        )
        if code:
            raise OSError(code, "a layer could not be copied")


def _with_system(
    upper: list[str],
    lower: list[str],
    systems: list[str],
    below: list[str],
    owner: int,
    most: dict[str, int],
) -> Changes:
    """Return the changes of layers together with those of a writable `/usr`."""
    rest, own = export(upper, lower, owner, **most), export(systems, below, owner, **most)

    def moved(path: str) -> str:
        return f"/usr{path}" if path.startswith("/") else path

    return Changes(
        {**rest.written, **{moved(path): entry for path, entry in own.written.items()}},
        (*rest.deleted, *map(moved, own.deleted)),
        {**rest.special, **{moved(path): kind for path, kind in own.special.items()}},
        rest.cut or own.cut,
    )


def _listening(pid: int, port: int) -> int:
    """Return the descriptor of a socket that listens on the loopback of a sandbox's network."""
    network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    setns(network, CLONE_NEWNET)
    return socket.create_server(("127.0.0.1", port)).detach()


def _forget_arguments() -> None:
    """Blank this process's command line, which every process inside may read."""
    with open("/proc/self/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    if platform.system() == "Linux" and len(fields) > 46:
        start, end = int(fields[45]), int(fields[46])
        name = b"init"
        ctypes.memset(start, 0, end - start)
        ctypes.memmove(start, name, min(len(name), end - start))
