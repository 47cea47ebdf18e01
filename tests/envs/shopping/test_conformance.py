"""The shopping environment passes the conformance kit."""

import pytest

import hexathlon  # noqa: F401 - registers the ids
from hexathlon.envs.testing import assert_conforms


@pytest.mark.slow
def test_the_environment_conforms():
    assert_conforms("hexathlon/Shopping-v1", fuzz=10_000, tasks=60, level="tiny")
