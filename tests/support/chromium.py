"""Chromium for tests; where there is none, they are skipped."""

from typing import Any

import pytest


def skip_without_chromium() -> None:
    for module in ("playwright", "starlette", "uvicorn", "python_multipart"):
        pytest.importorskip(module, reason=f"{module} is not installed (extra: web)")
    from hexathlon.envs.errors import BackendMissing
    from hexathlon.envs.web.chromium.driver import chromium_path

    try:
        chromium_path()
    except BackendMissing as error:
        pytest.skip(str(error))


def chromium_or_skip(**options: Any):
    skip_without_chromium()
    from hexathlon.envs.web.chromium.chromium import ChromiumBrowser

    return ChromiumBrowser(**options)
