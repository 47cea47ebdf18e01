"""Speed and memory of sandboxes.

    python benchmarks/sandbox_speed.py [--backend namespaces] [--backend docker] [--live 100]

Wall-clock medians and minima of one thread, the CPU time of one operation over all processes, and,
for comparison in the same run, a bare `bash -c true`, `unshare` and `bwrap`. On a shared machine,
the minimum and the CPU time are more reliable than the median.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from hexathlon.envs.sandbox.base import Sandbox, SandboxBackend
from hexathlon.envs.sandbox.image import Entry, SandboxImage
from hexathlon.envs.sandbox.ladder import backend
from hexathlon.envs.sandbox.limits import MIB, SandboxLimits

TICK = 1000 / os.sysconf("SC_CLK_TCK")
LIMITS = SandboxLimits(memory_bytes=256 * MIB, disk_bytes=64 * MIB)


def image_of(files: int) -> SandboxImage:
    entries = {f"/app/d{n % 50}/f{n}": Entry(b"x" * 100) for n in range(files)}
    return SandboxImage(files=entries, workdir="/app")


def timed(action: Callable[[], object], repeats: int) -> list[float]:
    """Return the milliseconds of each call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append((time.perf_counter() - start) * 1000)
    return times


def show(name: str, times: list[float], note: str = "") -> None:
    median, least = statistics.median(times), min(times)
    print(f"  {name:<44} median {median:8.2f} ms   min {least:8.2f} ms   {note}", flush=True)


def show_processor(name: str, spent: float) -> None:
    print(f"  {f'  CPU time of {name}':<44} {spent:15.2f} ms", flush=True)


def supervisor_pid(one: Sandbox) -> int | None:
    """Return the process that starts sandboxes, if the backend has one."""
    stack = getattr(one, "_stack", None)
    return below(stack.supervisor._process.pid)[0] if stack is not None else None


def below(pid: int) -> list[int]:
    result: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        result += [int(word) for word in task.read_text().split()]
    return result


def processor_ms(supervisor: int | None) -> float:
    """Return the CPU time of this process and of all finished children of the supervisor."""
    spent = time.process_time() * 1000
    if supervisor is not None:
        fields = Path(f"/proc/{supervisor}/stat").read_text().rpartition(")")[2].split()
        spent += sum(int(field) for field in fields[11:15]) * TICK
    return spent


def proportional_mb(pids: list[int]) -> float:
    total = 0
    for pid in pids:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1])
    return total / 1024


def yardsticks() -> None:
    print("yardsticks")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    words = {
        "bash -c true": ["bash", "-c", "true"],
        "unshare, mount and pid namespaces, bash": ["unshare", "-Urmpfn", "bash", "-c", "true"],
    }
    if shutil.which("bwrap"):
        words["bwrap --unshare-all, bash"] = [
            "bwrap", "--unshare-all", "--die-with-parent", "--cap-drop", "ALL",
            "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib",
            "--symlink", "usr/lib64", "/lib64", "--symlink", "usr/bin", "/bin",
            "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "bash", "-c", "true",
        ]  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            show("overlay in an outer namespace, then bwrap", timed(lambda: overlaid(folder), 20))
    for name, command in words.items():
        show(name, timed(lambda c=command: subprocess.run(c, check=False, **quiet), 20))


def overlaid(folder: str) -> None:
    script = (
        f"mount -t tmpfs x {folder} && mkdir {folder}/u {folder}/w {folder}/m {folder}/l && "
        f"mkdir {folder}/l/usr {folder}/l/app && ln -s usr/bin {folder}/l/bin && "
        f"ln -s usr/lib {folder}/l/lib && ln -s usr/lib64 {folder}/l/lib64 && "
        f"mount -t overlay o -o userxattr,lowerdir={folder}/l,upperdir={folder}/u,"
        f"workdir={folder}/w {folder}/m && exec bwrap --unshare-all --die-with-parent --cap-drop "
        f"ALL --bind {folder}/m / --ro-bind /usr /usr --proc /proc --dev /dev bash -c true"
    )
    subprocess.run(["unshare", "-Urm", "bash", "-c", script], check=True, stderr=subprocess.DEVNULL)


def lifecycles(sandboxes: SandboxBackend, files: int, repeats: int) -> None:
    image = image_of(files)
    sandboxes.open(image, LIMITS).close()  # the image's files are written once
    kept: list[Sandbox] = []
    one = sandboxes.open(image, LIMITS)
    supervisor = supervisor_pid(one)
    before = processor_ms(supervisor)
    show(
        f"new sandbox ({files} files)",
        timed(lambda: kept.append(sandboxes.open(image, LIMITS)), repeats),
    )
    show("close", timed(lambda: kept.pop().close(), repeats))
    show_processor("open and close", (processor_ms(supervisor) - before) / repeats)
    before = processor_ms(supervisor)
    show("reset", timed(one.reset, repeats))
    print(f"  {'  CPU time of reset':<44} {(processor_ms(supervisor) - before) / repeats:15.2f} ms")
    one.execute(f"for n in $(seq {files}); do echo $n > new$n; done", 120)

    def fork() -> None:
        kept.extend(one.fork(1))

    show("fork (snapshot, one branch)", timed(fork, max(repeats // 2, 5)))
    show("the parent's next command", timed(lambda: one.execute(":"), 1))
    for each in (*kept, one):
        each.close()


def commands(sandboxes: SandboxBackend) -> None:
    with sandboxes.open(image_of(10), LIMITS) as one:
        show("command in the shell: builtin", timed(lambda: one.execute("true"), 300))
        inside = timed(lambda: one.execute("/bin/true"), 300)
        script = "t0=${EPOCHREALTIME/./}; for n in {1..300}; do /bin/true; done; "
        own = float(one.execute(script + "echo $(( ${EPOCHREALTIME/./} - t0 ))").output) / 300_000
        note = f"the same in a loop inside: mean {own:.2f} ms"
        show("command in the shell: a program", inside, note)
        show("read a file of 100 kB", timed(lambda: one.read("/app/d0/f0"), 50))


def throughput(sandboxes: SandboxBackend, threads: int, each: int) -> None:
    image = image_of(10)

    def work() -> None:
        for _ in range(each):
            with sandboxes.open(image, LIMITS) as one:
                one.execute("true")

    start = time.perf_counter()
    pool = [threading.Thread(target=work) for _ in range(threads)]
    for thread in pool:
        thread.start()
    for thread in pool:
        thread.join()
    rate = threads * each / (time.perf_counter() - start)
    print(f"  {f'sandbox lifecycles per second, {threads} threads':<44} {rate:15.1f}")


def memory(sandboxes: SandboxBackend, live: int) -> None:
    image = image_of(10)
    held = [sandboxes.open(image, LIMITS) for _ in range(live)]
    supervisor = supervisor_pid(held[0])
    if supervisor is not None:
        stack = [supervisor]
        pids: list[int] = []
        while stack:
            pids.append(stack.pop())
            stack += below(pids[-1])
        print(f"  {f'{live} live, proportional memory':<44} {proportional_mb(pids):15.1f} MB")
    for one in held:
        one.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", action="append", help="namespaces, docker, landlock")
    parser.add_argument("--live", type=int, default=100)
    arguments = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    yardsticks()
    for name in arguments.backend or ["namespaces"]:
        sandboxes = backend(name)
        probe = sandboxes.probe()
        print(f"{name}: {probe.reason} {dict(probe.properties)}")
        if not probe.available:
            continue
        quick = name == "namespaces"
        commands(sandboxes)
        for files in (10, 3_000):
            lifecycles(sandboxes, files, 40 if quick else 5)
        throughput(sandboxes, 1, 60 if quick else 4)
        throughput(sandboxes, 4, 30 if quick else 2)
        if quick:
            memory(sandboxes, arguments.live)


if __name__ == "__main__":
    main()
