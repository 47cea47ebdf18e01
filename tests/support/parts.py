"""The toy event with answers of several parts."""

import numpy as np

from hexathlon.envs.tools import tool
from hexathlon.evaluators.content import Content, File, Image, Text
from support.toy import ToyEnv

PICTURE = Image.from_array(np.full((2, 3, 3), 9, np.uint8))
REPORT = File("report.csv", "text/csv", b"a,b\n")


class PartsEnv(ToyEnv):
    """Answers `add` with text, an image and a file."""

    @tool
    def tool_add(self, amount: int) -> Content:  # type: ignore[override]
        return (Text(super().tool_add(amount)), PICTURE, REPORT)
