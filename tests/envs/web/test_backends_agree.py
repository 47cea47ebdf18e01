"""The self-test in both backends: the same whole verdicts for the same scripts."""

import pytest

from hexathlon.baselines.harness.selftest import SelftestResult, differences, run_selftest
from support.chromium import skip_without_chromium

pytestmark = pytest.mark.browser


def results(tasks: int) -> list[SelftestResult]:
    skip_without_chromium()
    return [
        run_selftest("Web", tasks, options={"backend": backend}, kinds=["oracle", "noop"])
        for backend in ("twin", "chromium")
    ]


def check(tasks: int) -> None:
    twin, chromium = results(tasks)
    assert chromium.holds, chromium.tallies["oracle"].named
    assert differences(twin, chromium, whole=True) == (2 * tasks, [])


def test_a_few_tasks():
    check(2)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_many_tasks():
    check(160)
