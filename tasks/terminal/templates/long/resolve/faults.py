"""Rules for every house, and what the program looks like without one of them."""

__all__ = ["FAULTS"]

FAULTS: dict[str, tuple[str, str]] = {
    "future": ('if e["published"] <= self.day}', "}"),
    "candidate_order": ('"rc": -1, None: 0', '"rc": 0.5, None: 0'),
    "candidates": ("if v[1] == -1:", "if False:"),
    "candidate_era": ("if self.day < CANDIDATE_DAY or not named:", "if not named:"),
    "quarantine": ("if not free and self.rested", "if False and self.rested"),
    "quarantine_boundary": (
        'self.rested(entry["published"]) < wait',
        'self.rested(entry["published"]) <= wait',
    ),
    "quarantine_era": (
        "QUARANTINE[1] if self.day >= QUARANTINE_DAY else QUARANTINE[0]",
        "QUARANTINE[1]",
    ),
    "locked_exempt": ("free = kept", "free = False"),
    "yanked": ('if yanked and yanked["day"]', 'if False and yanked["day"]'),
    "yanked_kept": ('if not kept or yanked["reason"]', 'if True or yanked["reason"]'),
    "yanked_security": ('if not kept or yanked["reason"] == "security":', "if not kept:"),
    "advisory": ("if self.day >= ADVISORY_DAY:", "if False:"),
    "advisory_era": ("if self.day >= ADVISORY_DAY:", "if True:"),
    "platform_family": (
        'self.platform == word or self.platform.startswith(word + "-")',
        "self.platform == word",
    ),
    "platform_empty": ('if "platforms" in entry and', 'if entry.get("platforms") and'),
    "licence": ("if licence in DENIED:", "if False:"),
    "licence_era": ("if self.day >= LICENCE_DAY and not kept:", "if not kept:"),
    "licence_kept": ("if self.day >= LICENCE_DAY and not kept:", "if self.day >= LICENCE_DAY:"),
    "pins": ("self.pins.get(name, [])", "[]"),
    "pin_until": ('(row["until"] == "" or self.day <= row["until"])', "True"),
    "markers": ("if found[4] is not None:", "if False:"),
    "marker_not": ("wanted |= not self.here(words[1])", "wanted |= self.here(words[1])"),
    "relisted": (
        'table[order(entry["version"])] = entry',
        'table.setdefault(order(entry["version"]), entry)',
    ),
    "unlisted_lock": ("if order(version) in self.listed.get(now, {}):", "if True:"),
    "downgrade": ("self.downgrade if v < old else 1", "1"),
    "downgrade_era": ("DOWNGRADE[self.day >= DOWNGRADE_DAY]", "DOWNGRADE[1]"),
    "yank_slip": ("> YANK_DAYS", "> YANK_DAYS + 6"),
    "advisory_slip": ("grace = ADVISORY_DAYS if", "grace = ADVISORY_DAYS + 4 if"),
    "stale": (
        "return (rank, moved) if self.refresh else (moved, rank)",
        "return (0, moved) if self.refresh else (moved, 0)",
    ),
    "names": ('return name.lower().replace("_", "-")', "return name"),
    "blocked": ("world.roots[count - 1][2]", "world.roots[-1][2]"),
    "tilde": ("v >= b and v[0][0] == b[0][0]", "v >= b"),
}
"""Text of the program and its replacement, by the rule that is missed."""
