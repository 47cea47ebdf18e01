import platform
import subprocess
import sys

import pytest

FAULTS = """
import resource, sys
from hexathlon.baselines.learner.allocator import keep_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(3):
        b"x" * size
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

if sys.argv[1] == "keep":
    assert keep_freed_memory()
size = 48 << 20
faults()
print(faults())
"""


def faults(mode: str) -> int:
    command = [sys.executable, "-c", FAULTS, mode]
    return int(subprocess.run(command, check=True, capture_output=True, timeout=600).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the setting is glibc's")
def test_freed_memory_is_reused_without_new_pages():
    # Fewer page faults on systems with 2 MiB pages.
    assert faults("keep") < 20 < faults("leave")
