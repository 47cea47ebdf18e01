"""Patterns that redact identifiers and nothing else."""

from hexathlon.tasks.terminal.dice import Dice
from hexathlon.tasks.terminal.draft import TerminalDraft, put, template

_REDACT = """#!/usr/bin/env python3
# redact PATTERNS < in > out: every match of any pattern (one a line, Python syntax) becomes MARK.
# A pattern that takes more than a moment on a line is an error.
import re, sys
patterns = [line.rstrip("\\n") for line in open(sys.argv[1]) if line.strip() and line[0] != "#"]
whole = re.compile("|".join(f"(?:{p})" for p in patterns))
for line in sys.stdin:
    sys.stdout.write(whole.sub("MARK", line.rstrip("\\n")) + "\\n")
"""


class _Shape:
    """A fictitious identifier format: parts of digits or letters with separators."""

    def __init__(self, dice: Dice, start: str) -> None:
        self.start, self.gap = start, dice.pick("-.:/")
        self.lengths = [dice.whole(2, 5) for _ in range(dice.whole(2, 3))]
        self.kinds = [dice.pick(("digit", "hex", "letter")) for _ in self.lengths]
        self.optional = dice.chance(0.5)

    _CLASSES = {"digit": "0-9", "hex": "0-9a-f", "letter": "A-Z"}
    _LETTERS = {"digit": "0123456789", "hex": "0123456789abcdef", "letter": "ABCDEFGHIJKLMNOP"}

    def text(self, dice: Dice, wrong: str = "") -> str:
        lengths = list(self.lengths)
        if wrong == "longer":
            lengths[-1] += 1
        if wrong == "shorter":
            lengths[0] -= 1
        parts = [
            dice.word(n, self._LETTERS[kind]) for n, kind in zip(lengths, self.kinds, strict=True)
        ]
        if wrong == "kind":
            parts[0] = "_" + parts[0][1:]
        gap = {"gap": "+"}.get(wrong, self.gap)
        body = gap.join(parts)
        start = "" if self.optional and dice.chance(0.5) and not wrong else self.start
        return start + body

    def pattern(self, *, bounds: bool = True, exact: bool = True, escaped: bool = True) -> str:
        gap = f"\\{self.gap}" if escaped else "."
        parts = [
            f"[{self._CLASSES[kind]}]{{{n}}}" if exact else f"[{self._CLASSES[kind]}]+"
            for n, kind in zip(self.lengths, self.kinds, strict=True)
        ]
        start = f"(?:{self.start})?" if self.optional else self.start
        body = start + gap.join(parts)
        edge = "0-9A-Za-z_" + "".join(f"\\{ch}" for ch in "-.:/+#=@")
        return f"(?<![{edge}]){body}(?![{edge}])" if bounds else body

    def words(self) -> str:
        shown = {"digit": "digits", "hex": "digits or letters a to f", "letter": "capital letters"}
        parts = [f"{n} {shown[kind]}" for n, kind in zip(self.lengths, self.kinds, strict=True)]
        may = "may stand before it" if self.optional else "stands before it"
        return f"{', then '.join(parts)}, parted by {self.gap!r}; {self.start!r} {may}"


@template("redact_patterns", ("tiny", "easy", "medium"))
def redact_patterns(draft: TerminalDraft) -> None:
    """Write patterns that redact identifiers but nothing that merely resembles them."""
    dice = draft.dice
    mark = dice.pick(("[X]", "###", "<gone>", "[cut]"))
    starts = [f"{dice.word(2).upper()}{ch}" for ch in dice.some("#=@", 3)][: 1 + draft.scale]
    shapes = [_Shape(dice, start) for start in starts]
    for shape in shapes[1:]:
        shape.optional = False
    words = draft.cast.names("thing", 8)
    draft.file("redact", _REDACT.replace("MARK", mark), 0o755)
    draft.file("patterns.txt", f"# one pattern a line\n{shapes[0].start}.*\n")
    listed = "\n".join(f"* {shape.words()}" for shape in shapes)
    draft.say(
        "./redact replaces what fits one of the patterns in a file (see the program). Write "
        "/app/patterns.txt so that `./redact patterns.txt` takes out exactly the identifiers of "
        f"these kinds:\n{listed}\nAn identifier stands alone: what comes right before or after it "
        "is the line's beginning or end, a blank, or one of `( ) , ; ' \"`. Anything else, such as "
        "a longer run of the same characters, is no identifier and stays. The program stays as it "
        "is."
    )
    draft.keep("redact")
    for number in range(3):
        lines, result = [], []
        for _ in range(40):
            line, done = [], []
            for _ in range(dice.whole(1, 5)):
                shape, kind = dice.pick(shapes), dice.whole(0, 7)
                if kind < 3:
                    one = shape.text(dice)
                    left, right = dice.pick((("", ""), ("(", ")"), ("'", "',"), ("", ";")))
                    line.append(left + one + right)
                    done.append(left + mark + right)
                else:
                    wrong = dice.pick(("longer", "shorter", "kind", "gap"))
                    one = dice.pick(
                        (
                            dice.pick(words),
                            shape.text(dice, wrong),
                            f"x{shape.text(dice)}",
                            f"{shape.text(dice)}_",
                            f"{shape.text(dice)}{shape.gap}7",
                            f"0.{shape.text(dice)}",
                        )
                    )
                    line.append(one)
                    done.append(one)
            lines.append(" ".join(line))
            result.append(" ".join(done))
        draft.probe(
            f"lines_{number}",
            "./redact patterns.txt",
            stdin="\n".join(lines) + "\n",
            text="\n".join(result),
            seconds=5.0,
        )
    longer = [
        line
        for shape in shapes
        for char in "019afAPz_-.:/+#=@"
        for line in (f"{shape.text(dice)}{char}", f"{char}{shape.text(dice)}")
    ]
    draft.probe(
        "beside", "./redact patterns.txt", stdin="\n".join(longer) + "\n", text="\n".join(longer)
    )
    right = "\n".join(shape.pattern() for shape in shapes)
    draft.part("patterns", put("patterns.txt", right))
    draft.mutant(
        "no_bounds", put("patterns.txt", "\n".join(s.pattern(bounds=False) for s in shapes))
    )
    draft.mutant(
        "any_length", put("patterns.txt", "\n".join(s.pattern(exact=False) for s in shapes))
    )
    draft.mutant(
        "any_mark", put("patterns.txt", "\n".join(s.pattern(escaped=False) for s in shapes))
    )
    draft.mutant("digits_after", put("patterns.txt", right.replace("(?![0-9", "(?![0-0")))
    draft.mutant(
        "word_bounds",
        put("patterns.txt", "\n".join(rf"\b{s.pattern(bounds=False)}\b" for s in shapes)),
    )
    around = "\n".join(
        rf"(?:^|(?<=[\s(),;'\"])){s.pattern(bounds=False)}(?=$|[\s(),;'\"])" for s in shapes
    )
    draft.alternative("listed_bounds", put("patterns.txt", around))
