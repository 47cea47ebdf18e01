"""Conformance kit: one call checks an environment against the whole environment contract.

>>> from hexathlon.envs.testing import check_environment
>>> report = check_environment("hexathlon/SQL-v1", fuzz=100)  # doctest: +SKIP
>>> report.passed  # doctest: +SKIP
True
"""

from hexathlon.envs.testing.kit import assert_conforms, check_environment, check_names
from hexathlon.envs.testing.report import CheckResult, ConformanceError, Report

__all__ = [
    "CheckResult",
    "ConformanceError",
    "Report",
    "assert_conforms",
    "check_environment",
    "check_names",
]
