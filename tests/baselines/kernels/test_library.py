"""The kernels are compiled once, or the machine's lack is named."""

import os
import select
import shutil
import subprocess
import sys
from contextlib import suppress

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.kernels import library


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache; the library is looked up anew."""
    monkeypatch.setenv("HEXATHLON_CACHE", str(tmp_path))
    library.kernels.cache_clear()
    yield tmp_path / "kernels"
    library.kernels.cache_clear()


@pytest.fixture
def wide(monkeypatch):
    """The processor is taken for one with AVX-512."""
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX512")


def test_other_processors_are_named(folder, monkeypatch):
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX2")
    with pytest.raises(library.KernelsMissing, match="AVX-512"):
        library.kernels()


def test_they_can_be_switched_off(folder, wide, monkeypatch):
    monkeypatch.setenv("HEXATHLON_KERNELS", "off")
    with pytest.raises(library.KernelsMissing, match="HEXATHLON_KERNELS"):
        library.kernels()


def test_a_missing_compiler_is_named(folder, wide, monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(library.KernelsMissing, match="C compiler"):
        library.kernels()


def test_a_failing_compiler_is_quoted(folder, wide, tmp_path, monkeypatch):
    compiler = tmp_path / "broken"
    compiler.write_text("#!/bin/sh\necho 'out of order' >&2\nexit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    with pytest.raises(library.KernelsMissing, match="out of order"):
        library.kernels()
    assert list(folder.iterdir()) == []


def test_a_compiler_that_hangs_is_ended_with_its_children(folder, wide, tmp_path, monkeypatch):
    compiler, child = tmp_path / "slow", tmp_path / "child"
    compiler.write_text(f"#!/bin/sh\nsleep 300 &\necho $! > {child}\nwait\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    monkeypatch.setattr(library, "_DEADLINE_S", 2)
    with pytest.raises(library.KernelsMissing, match="slow did not end within 2 s"):
        library.kernels()
    with suppress(ProcessLookupError):  # it has ended already
        handle = os.pidfd_open(int(child.read_text()))
        assert select.select([handle], [], [], 20)[0]
        os.close(handle)


@pytest.fixture
def compiling():
    """The compiler, where the kernels can be compiled."""
    compiler = shutil.which(os.environ.get("CC") or "cc")
    if torch.backends.cpu.get_cpu_capability() != "AVX512" or compiler is None:
        pytest.skip("needs a CPU with AVX-512 and a C compiler")
    return compiler


def test_a_cache_that_cannot_be_written_is_not_needed(compiling, folder, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("HEXATHLON_CACHE", str(tmp_path / "file"))
    assert library.kernels().hexathlon_pack.__name__ == "hexathlon_pack"


def test_a_torn_library_is_compiled_again(compiling, folder):
    file = folder / f"{library._key(compiling)}.so"
    folder.mkdir()
    file.write_bytes(b"\x7fELF")
    library.kernels()
    assert file.stat().st_size > 10_000


def test_a_folder_that_others_can_write_to_is_not_used(compiling, folder):
    folder.mkdir()
    folder.chmod(0o777)
    library.kernels()
    assert list(folder.iterdir()) == []


def test_processes_may_compile_at_the_same_time(compiling, folder):
    code = f"from {library.__name__} import kernels; print(kernels().hexathlon_pack.__name__)"
    command = [sys.executable, "-c", code]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    outputs = [process.communicate(timeout=120)[0] for process in started]
    assert [process.returncode for process in started] == [0, 0]
    assert outputs == [b"hexathlon_pack\n"] * 2
    assert [each.suffix for each in folder.iterdir()] == [".so"]
