"""Compiles the kernels with the machine's C compiler, once for each processor.

The library is kept in the cache directory, if it can be. Nothing here knows about models.
"""

import ctypes
import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import torch

from hexathlon.tasks.cache.disk import FOLDER_VARIABLE, DiskCache, cache_location

__all__ = ["KernelsMissing", "kernels"]

_FOLDER = Path(__file__).parent
_SOURCES = ("decoding.c", "training.c")
_FLAGS = (
    "-std=gnu11", "-O3", "-march=native", "-mprefer-vector-width=512", "-ffp-contract=fast",
    "-fno-math-errno", "-fno-trapping-math", "-shared", "-fPIC",
)  # fmt: skip
_DEADLINE_S = 120

_POINTER, _INTEGER, _DOUBLE = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
_FUNCTIONS = {
    "hexathlon_pack": (None, (_POINTER, _INTEGER, _INTEGER, _POINTER)),
    "hexathlon_scratch": (_INTEGER, (_POINTER, _POINTER)),
    "hexathlon_forward": (
        _INTEGER,
        (_POINTER, _POINTER, _INTEGER, _POINTER, _POINTER, _POINTER, _POINTER, _POINTER),
    ),
    "hexathlon_logits": (None, (_POINTER, _INTEGER, _POINTER, _POINTER)),
    "hexathlon_product": (
        None,
        (_POINTER, _INTEGER, _POINTER, _INTEGER, _INTEGER, _POINTER, _POINTER),
    ),
    "hexathlon_pack_transposed": (None, (_POINTER, _INTEGER, _INTEGER, _POINTER)),
    "hexathlon_outer": (
        None,
        (_POINTER, _POINTER, _INTEGER, _INTEGER, _INTEGER, _POINTER, _POINTER),
    ),
    "hexathlon_feed": (
        None,
        (_POINTER, _INTEGER, *(_POINTER,) * 2, *(_INTEGER,) * 2, *(_POINTER,) * 3),
    ),
    "hexathlon_feed_backward": (
        None,
        (_POINTER, _INTEGER, *(_POINTER,) * 2, *(_INTEGER,) * 2, *(_POINTER,) * 6),
    ),
    "hexathlon_norm": (None, (_POINTER, _POINTER, _INTEGER, _INTEGER, _DOUBLE, _POINTER)),
    "hexathlon_norm_backward": (
        None,
        (_POINTER, _POINTER, _POINTER, _INTEGER, _INTEGER, _DOUBLE, _POINTER, _POINTER),
    ),
    "hexathlon_heads": (None, (_POINTER, _POINTER, _POINTER)),
    "hexathlon_heads_backward": (None, (_POINTER,) * 8),
}
"""Result and arguments of each function of the library."""


class KernelsMissing(Exception):
    """The kernels cannot be used on this machine; the message says why."""


@lru_cache(maxsize=1)
def kernels() -> ctypes.CDLL:
    """Return the library, compiled now unless it is cached.

    Raises:
        KernelsMissing: If the processor has no AVX-512, there is no working C compiler, or
            HEXATHLON_KERNELS is `off`.
    """
    if os.environ.get("HEXATHLON_KERNELS", "").lower() == "off":
        raise KernelsMissing("the compiled kernels are switched off by HEXATHLON_KERNELS")
    if torch.backends.cpu.get_cpu_capability() != "AVX512":
        raise KernelsMissing("the compiled kernels need a processor with AVX-512")
    named = os.environ.get("CC") or "cc"
    compiler = shutil.which(named)
    if compiler is None:
        raise KernelsMissing(
            f"the compiled kernels need a C compiler, such as gcc or clang; there is no {named!r}, "
            "and CC can name another one"
        )
    try:
        library = _library(compiler)
    except (OSError, subprocess.SubprocessError) as error:
        raise KernelsMissing(f"the kernels cannot be compiled: {_cause(error)}") from error
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def _library(compiler: str) -> ctypes.CDLL:
    """Load the library from the cache, or compile it for this process if there is none."""
    name, folder = f"{_key(compiler)}.so", _folder()
    if folder is not None:
        with suppress(OSError):  # not writable, or mounted without permission to execute
            return _cached(compiler, folder / name)
    with tempfile.TemporaryDirectory() as temporary:
        file = Path(temporary) / name
        _compile(compiler, file)
        return ctypes.CDLL(str(file))


def _folder() -> Path | None:
    """Return the directory of libraries; None without a cache, or if other users can change it."""
    if os.environ.get(FOLDER_VARIABLE, "").lower() == "off":
        return None
    try:
        folder = cache_location().with_name("kernels")
    except RuntimeError:  # there is no home directory
        return None
    return None if DiskCache(folder).problem() else folder


def _cached(compiler: str, file: Path) -> ctypes.CDLL:
    with suppress(OSError):  # absent, or torn by a crash
        return ctypes.CDLL(str(file))
    _compile(compiler, file)
    return ctypes.CDLL(str(file))


def _key(compiler: str) -> str:
    """Return a digest of the source, the compiler and the processor."""
    digest = hashlib.sha256()
    for name in ("products.h", *_SOURCES):
        digest.update((_FOLDER / name).read_bytes())
    digest.update(repr((_FLAGS, compiler, Path(compiler).stat().st_mtime_ns)).encode())
    described = Path("/proc/cpuinfo")
    if described.exists():
        lines = described.read_text(encoding="utf-8").splitlines()
        kinds = {line for line in lines if line.startswith(("model name", "flags"))}
        digest.update("\n".join(sorted(kinds)).encode())
    return digest.hexdigest()[:24]


def _compile(compiler: str, file: Path) -> None:
    """Compile into a file that appears whole, since several processes may do so at once."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    sources = [str(_FOLDER / name) for name in _SOURCES]
    with tempfile.TemporaryDirectory(dir=file.parent) as folder:
        made = Path(folder) / file.name
        _run([compiler, *_FLAGS, "-o", str(made), *sources, "-lm"])
        os.replace(made, file)


def _run(command: list[str]) -> None:
    """Run a compiler, and end it with the processes that it started if it takes too long."""
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    ) as process:  # fmt: skip
        try:
            _, said = process.communicate(timeout=_DEADLINE_S)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command, stderr=said)


def _cause(error: Exception) -> str:
    if isinstance(error, subprocess.TimeoutExpired):
        return f"{error.cmd[0]} did not end within {error.timeout:g} s"
    said = getattr(error, "stderr", None) or str(error)
    return str(said).strip().splitlines()[0] if str(said).strip() else repr(error)
