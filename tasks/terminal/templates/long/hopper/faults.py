"""Promises to every user of the server, and what the program looks like without one of them."""

__all__ = ["FAULTS"]

FAULTS: dict[str, tuple[str, str]] = {
    "nothing_written": (
        "        self.file.flush()\n        self.pending = []",
        "        self.pending = []",
    ),
    "done_forgotten": ('["gone", job["id"]], ["finished", token])', '["gone", job["id"]])'),
    "keys_forgotten": (
        'facts += [["keys", [queue, known]] for queue, known in self.keys.items()]',
        "pass",
    ),
    "key_for_ever": ("            del keys[:-KEYS]\n", ""),
    "key_of_another_body": ("if body != text:", "if False:"),
    "full_counts_dead": (
        '"resting", "waiting"))\n        if',
        '"resting", "waiting", "dead"))\n        if',
    ),
    "full_forgets_held": (
        '"ready", "held", "resting", "waiting"))',
        '"ready", "resting", "waiting"))',
    ),
    "one_more": (">= LIMIT", "> LIMIT"),
    "numbers_again": ("self.last, self.tokens, self.places = value", "pass"),
    "never_dead": ('(event[2] == "held" and job["takes"] >= TAKES)', "False"),
    "fails_for_ever": (
        '        if job["takes"] >= TAKES:\n            self.bury(job)\n        else:',
        "        if True:",
    ),
    "no_rank": ('(-j["rank"], j["place"])', 'j["place"]'),
    "no_lock": ("        sys.exit(4)", "        pass"),
    "grows": ("if self.file.tell() > max(COMPACT, 2 * self.floor):", "if False:"),
    "torn_counts": (
        '.split(b"\\n")[:-1]\n        except FileNotFoundError',
        '.split(b"\\n")\n        except FileNotFoundError',
    ),
    "twice_listed": ("if number not in known:", "if True:"),
    "old_takes": ('self.jobs[number]["takes"] += 1', "pass"),
    "long_ends": (
        '            self.data, self.skipping = b"", True',
        "            raise ConnectionError",
    ),
}
"""Text of the program and its replacement, by the broken promise."""
