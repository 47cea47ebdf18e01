"""The house's documents on lock files: adopted policies, drafts, and the registrar's mail."""

from hexathlon.tasks.terminal.templates.long.resolve.house import House
from hexathlon.tasks.terminal.templates.long.resolve.reference import SLIPS

__all__ = ["documents", "format_text"]

_FORMAT = """# Requests and answers

A request is a JSON object on standard input:

    {"day": "2024-05-17", "platform": "linux-arm64",
     "roots": ["bobbin >=1.2,<3", "Hinge ; not windows"],
     "lock": {"bobbin": "1.2"},
     "index": {"bobbin": [{"version": "1.2", "published": "2024-01-30", "needs": ["hinge ~1.4"]}]}}

* `day` is the day for which the lock file is requested. The rules are those in force on that day, and
  the index is read as it was on that day: what was published, yanked or announced later was not
  known. What is dated on the day itself was known.
* `roots` are the requirements of the product. A requirement is a name, bounds with commas between
  them (all have to hold), and after a semicolon a marker. All but the name may be missing.
* `lock` is the previous lock file. It may be missing.
* `index` lists the versions of all packages, unsorted. An entry may also have `platforms`,
  `yanked` (`day`, `reason`), `advisories` (each with `id` and `day`), `closes` (ids of advisories)
  and `licence`.

A lock file contains the packages that the roots need, directly or through others, and no others:
one version of each, such that all requirements that apply hold. A requirement of a package on
itself means nothing. Packages may need each other.

The answer is a JSON object on standard output, with the exit status 0:

    {"lock": {"bobbin": "1.2", "hinge": "1.4.1"}, "changes": 0, "stale": 3}

Versions are spelled as in the index. If there is no lock file for the request, the answer is
`{"blocked_by": ROOT}` with the text of a root, and the exit status is 3. A root that does not have
the form of a requirement, with the signs of policy 0001 in its bounds, cannot be read. For a request
with such a root nothing is printed, and the exit status is 2.

`registers/` belongs to the registrar's office. Its files change daily and are read on every run.

The build farm allows a run 10 seconds of processor time. The largest product has one base
package and @GROUPS@ groups of four packages. A package of a group needs only others of its group and the
base package; the base package needs nothing.
"""


def format_text(groups: int) -> str:
    """Return the description of requests; the largest product has so many groups of packages."""
    return _FORMAT.replace("@GROUPS@", str(groups))


def documents(house: House, registrar: str, others: list[str]) -> dict[str, str]:
    """Return the documents by path."""
    return _policies(house) | _later_policies(house) | _mails(house, registrar, others)


def _policy(number: int, title: str, status: str, since: str, points: list[str]) -> str:
    numbered = "\n".join(f"{place}. {text}" for place, text in enumerate(points, 1))
    return f"# {number:04d} {title}\n\nStatus: {status}\nIn force from: {since}\n\n{numbered}\n"


def _policies(house: House) -> dict[str, str]:
    early = "2023-09-01"
    adopted = "adopted"
    return {
        "policy/README.md": (
            "# Policies\n\nA policy binds if its status is adopted, from its day on, until a later "
            "policy replaces it. A later policy replaces only the points that it names. For a day "
            "before the change, the earlier text still decides.\n\nThe registrar explains the "
            "policies. Where the registrar answers a question in the archive (`mail/`), the answer "
            "is part of the policy that it explains, for all the days on which that policy is in "
            "force. What others write there is opinion.\n\nThe old service followed the policies. "
            "Where they say nothing, what it did (`records/`) is the rule.\n"
        ),
        "policy/0001-versions.md": _policy(
            1,
            "Versions and bounds",
            adopted,
            early,
            [
                "Versions consist of numbers and are compared number by number. Missing numbers are "
                "zeros: `2` and `2.0` are the same version.",
                "A release candidate (`2.4rc1`) comes before its release, a post-release "
                "(`3.0.post1`) after it and before the next release.",
                "Bounds are `>=`, `<=`, `>`, `<`, `==` and `!=`, by that order. `~1.4` allows `1.4` "
                "and everything after it that has the same first number.",
            ],
        ),
        "policy/0002-names.md": _policy(
            2,
            "Names and markers",
            adopted,
            early,
            [
                "Upper and lower case, and `-` and `_`, are the same in names. Lock files have the form "
                "with lower case and `-`.",
                "A marker is a platform, `not` and a platform, or several of these with `or` between "
                "them. A requirement whose marker does not hold does not apply.",
                "A platform without the part after the hyphen stands for all of its kind: `linux` holds on "
                "`linux-arm64`. The same goes for the `platforms` of an entry: on other platforms it "
                "must not be chosen, whether it is locked or not.",
            ],
        ),
        "policy/0003-choice.md": _policy(
            3,
            "What may be chosen",
            adopted,
            early,
            [
                "A new version rests. It may be chosen when it has been published for "
                f"{house.quarantine[0]} days: what was published on the 1st may be chosen on the "
                f"{1 + house.quarantine[0]}th.",
                "A version that is in the lock file does not rest.",
                "Release candidates are not chosen, and do not stay in a lock file.",
            ],
        ),
        "policy/0004-yanked.md": _policy(
            4,
            "Yanked versions",
            adopted,
            early,
            [
                "A yanked version is not chosen.",
                "If it is in the lock file it may stay, unless the reason is `security`.",
            ],
        ),
        "policy/0005-preference.md": _policy(
            5,
            "Which lock file",
            adopted,
            early,
            [
                "Of the possible lock files the one with the fewest changes is written. A package "
                "whose version differs from that in the previous lock file counts as one change if it "
                f"goes up, and as {house.downgrade[0]} if it goes down. A package that is no longer "
                "needed is no change.",
                "Among equals the least stale one is written. The staleness of a package is the number of "
                "newer versions of it that may be chosen under the policies, or may stay, whether or "
                "not the requirements allow them. It is added up over all packages of the lock file.",
                "If that leaves several, the names decide: of two lock files, take the first name, in "
                "alphabetical order, that they do not have in the same version. The one with the newer "
                "version there wins; having the package beats not having it.",
                "`changes` and `stale` in the answer are these two sums.",
            ],
        ),
        "policy/0006-pins.md": _policy(
            6,
            "Pins",
            adopted,
            early,
            [
                "`registers/pins.csv` holds pins: from the first day to the last, both included, only "
                "versions within the bound may be chosen. Without a last day a pin stays.",
                "Pins hold for locked versions as well.",
            ],
        ),
    }


def _later_policies(house: House) -> dict[str, str]:
    adopted = "adopted"
    denied = " and ".join(f"`{name}`" for name in house.denied)
    made = {
        "policy/0007-candidates.md": _policy(7, "Release candidates", adopted, house.candidate_day, [
            "Replaces point 3 of 0003: a release candidate may be chosen if a root that applies "
            "names one of the same package, as in `bobbin >=2.4rc1`. It need not be the same one.",
            "What other packages require is no reason to choose a release candidate. Without a "
                    "reason it does not stay in a lock file either.",
        ]),
        "policy/0008-weighted-rest.md": _policy(8, "Rest by size", "draft", "", [
            "Replaces points 1 and 2 of 0003: large packages rest for 30 days, small ones for 3.",
            "Locked versions rest like others.",
        ]),
        "policy/0009-rest.md": _policy(9, "Longer rest", adopted, house.quarantine_day, [
            f"In point 1 of 0003, {house.quarantine[1]} days replace the {house.quarantine[0]} "
            "days. The rest stands.",
        ]),
        "policy/0010-licences.md": _policy(10, "Licences", adopted, house.licence_day, [
            f"Versions under {denied} are not chosen.",
            "Locked versions may stay.",
        ]),
        "policy/0011-more-licences.md": _policy(
            11, "More licences", "adopted, withdrawn before it came into force", house.refresh_day, [
            "`MIT` and `Apache-2.0` need a note in the product. Versions under them are not chosen "
            "until the note exists.",
        ]),
        "policy/0012-advisories.md": _policy(12, "Advisories", adopted, house.advisory_day, [
            "A version with an advisory is not chosen, and does not stay in a lock file. Until now "
            "advisories were reported and had no effect.",
        ]),
    }  # fmt: skip
    made["policy/0018-going-down.md"] = _policy(18, "Going down", adopted, house.downgrade_day, [
        f"In point 1 of 0005, going down counts as {house.downgrade[1]}.",
    ])  # fmt: skip
    return made | {
        f"policy/{slug}.md": _policy(int(slug[:4]), title, adopted, since, points)
        for twist, (slug, title, since, points) in _drawn_policies(house).items()
        if house.has(twist)
    }


def _drawn_policies(house: House) -> dict[str, tuple[str, str, str, list[str]]]:
    """Return name of the file, title, first day and points of policies, by twist."""
    early = "2023-11-15"
    return {
        "workdays": ("0017-working-days", "Working days", house.workday_day, [
            "The days of rest in 0003 and in what replaces it in part are working days: Mondays to "
            "Fridays, except the days in `registers/closed.csv`. The day on which the version was "
            "published is not counted, the day of the request is.",
        ]),
        "freeze": ("0019-freezes", "Freezes", early, [
            "`registers/freezes.csv` lists freezes, from the first day to the last, both included. "
            "During a freeze, only the locked version of a package in the lock file may be chosen, "
            "if it may stay under the other policies. If it may not, or if no version is locked, "
            "the freeze changes nothing for the package.",
        ]),
        "extras": ("0016-extras", "Extras", early, [
            "A requirement may ask for extras: `bobbin[fast,full] >=1.2`. An entry may say what its "
            "extras need: `\"extras\": {\"fast\": [\"hinge >=2\"], \"full\": []}`.",
            "If a requirement that applies asks for an extra, the version that is chosen has to "
            "have it, and what the extra needs is required as well. Extras that nobody asks "
            "for mean nothing. It does not matter who asks, or how often.",
            "A requirement on the package itself means nothing in extras either.",
        ]),
        "breaks": ("0020-breaks", "What versions break", early, [
            "An entry may have `breaks`, written like requirements: `\"breaks\": [\"hinge <2\"]`. It is "
            "never in one lock file with a version of that package within the bounds, no matter "
            "why that version is there. This is not a requirement: the other package may be missing.",
            "A line whose marker does not hold is void. What a version says of its own package "
            "means nothing.",
        ]),
        "families": ("0013-families", "Families", early, [
            "`registers/families.csv` names packages that move together. In a lock file all "
            "packages of one family have the same first number of the version.",
        ]),
        "renames": ("0014-renames", "Renamed packages", early, [
            "`registers/renames.csv` lists packages that were given a new name. From the day given there, "
            "a requirement on the old name is one on the new name, with the same bounds. New names "
            "may be renamed again.",
            "The same goes for pins and families. A package that is in the lock file under its old "
            "name counts as locked under the new one, if the new one is not in the lock file itself.",
        ]),
        "refresh": ("0015-refresh", "Refresh", house.refresh_day, [
            "A request may contain `\"refresh\": true`. For it, points 1 and 2 of 0005 change "
            "places: the least stale lock file is written, and among equals the one with the "
            "fewest changes. Before this day the word means nothing.",
        ]),
    }  # fmt: skip


_QUESTIONS: dict[str, tuple[str, str, str]] = {
    "added_counts": (
        "changes in 0005",
        "Policy 0005 speaks of packages with another version. What about a package that was not in "
        "the lock file at all?",
        "It is new to the product, so count it as one change. With no lock file before, every "
        "package counts.",
    ),
    "advisory_grace": (
        "advisories in locked versions",
        "0012 throws a locked version out on the day of the advisory. Nobody can work like that.",
        "A locked version may stay for {advisory_days} days after the day of the advisory (day "
        "{advisory_days} included). With several advisories, each has its own days. For versions "
        "that are not locked there are no such days.",
    ),
    "closes_exempt": (
        "rest for fixes",
        "The fix for an advisory rests like everything else under 0003. Is that intended?",
        "No. A version that closes an advisory against the locked version of the same package does "
        "not rest, provided that the advisory is known on the day. This is about 0003 and so holds "
        "on days before 0012, too.",
    ),
    "exact_root_beats_pin": (
        "pins and products that want one version",
        "We ask for `==` one version in our roots and a pin forbids it. Who wins?",
        "The product. If a root that applies names the package with `==`, its pins do not count. "
        "0006 has no other exception.",
    ),
    "house_exempt": (
        "rest for our own packages",
        "Do packages that we publish ourselves rest under 0003?",
        "Packages whose name begins with `{prefix}` do not rest.",
    ),
    "last_pin_only": (
        "two pins for one package",
        "The register of pins has two lines for the same package. Do both hold (0006)?",
        "Of the lines in force on the day, only the last in the file holds. Lines that are not in "
        "force do not matter for this.",
    ),
    "major_counts": (
        "first numbers",
        "A step to another first number is more work than others. Does 0005 know that?",
        "Add one change to those of 0005 if the first number differs, up or down.",
    ),
    "no_licence": (
        "versions without a licence",
        "Some entries have no licence. Does 0010 let them pass?",
        "Only what was published before 0010 came into force. A version published on that day or "
        "later without a licence is treated as one under a licence that 0010 names.",
    ),
    "only_candidates": (
        "packages with nothing but candidates",
        "Some packages have never had a release. Under 0007 nobody gets them unless a root says so.",
        "If all the versions of a package that were published by the day are release candidates, "
        "they may be chosen. That is since 0007; under 0003 there was no way.",
    ),
    "yank_grace": (
        "how long may a yanked version stay",
        "Under 0004 a yanked version stays in our lock file for ever?",
        "For {yank_days} days after the day on which it was yanked (day {yank_days} included). "
        "After that it counts as yanked like any other.",
    ),
    "ceiling": (
        "`<3` gives us 3.0rc2",
        "By 0001 a candidate comes before its release, so `<3` allows `3.0rc2`. We do not want that.",
        "Nor do I. A bound `<` also excludes the release candidates with the same numbers, unless it "
        "names a release candidate itself: `<3` and `<3.0.post1` exclude `3.0rc2`, `<3.0rc2` "
        "allows `3.0rc1`. That holds for pins too. `<=` needs no change.",
    ),
}
"""Subject, question and the registrar's answer, by twist."""

_TALK = (
    ("weekend builds", "Are lock files for a Sunday the same as those for the Monday after?",
     "The day is the day. Nothing moves to another day."),
    ("advisories before 0012", "Can we apply 0012 to the lock files of last year as well?",
     "No. A lock file for a day follows the policies of that day."),
    ("status of 0008", "Is the rest by size decided?", "It is a draft. It does not bind anybody."),
    ("0011", "Our product is full of MIT. What now?", "0011 was withdrawn. Nothing changes."),
)  # fmt: skip

_OPINIONS = (
    (
        "locked versions",
        "I think locked versions should rest like others, and I shall build it so.",
    ),
    ("pins", "In my team we let a pin end on the day before its last day. It is cleaner."),
    ("staleness", "For me only a newer first number makes a package stale."),
    ("candidates", "It seems to me that a candidate should be fine if any package asks for it."),
    ("downgrades", "We count going down like going up. It makes no difference in practice."),
)


def _mails(house: House, registrar: str, others: list[str]) -> dict[str, str]:
    values = {
        "prefix": house.prefix,
        "yank_days": house.yank_days + SLIPS["yank_slip"][1],
        "advisory_days": house.advisory_days + SLIPS["advisory_slip"][1],
    }
    right = {"yank_grace": house.yank_days, "advisory_grace": house.advisory_days}
    threads = [_QUESTIONS[twist] for twist in sorted(house.twists) if twist in _QUESTIONS]
    texts = [
        f"From: {others[place % len(others)]}\nTo: {registrar} (registrar)\nSubject: {subject}\n\n"
        f"{question}\n\n----\nFrom: {registrar} (registrar)\nSubject: Re: {subject}\n\n"
        f"{answer.format(**values)}\n"
        for place, (subject, question, answer) in enumerate([*threads, *_TALK])
    ]
    texts += [
        f"From: {others[place % len(others)]}\nTo: all\nSubject: {subject}\n\n{text}\n"
        for place, (subject, text) in enumerate(_OPINIONS)
    ]
    texts += [
        f"From: {registrar} (registrar)\nTo: all\nSubject: {_QUESTIONS[twist][0]}: correction\n\n"
        f"The number of days in my answer was wrong. It is {days} days, in the brackets as well. "
        "This holds for all days from the policy's first day on.\n"
        for twist, days in right.items()
        if house.has(twist)
    ]
    order = sorted(range(len(texts)), key=lambda place: hash_of(texts[place]))
    return {f"mail/{number:03d}.txt": texts[place] for number, place in enumerate(order, 1)}


def hash_of(text: str) -> int:
    """Return a number by which texts can be put in an arbitrary fixed order."""
    value = 7
    for letter in text:
        value = (value * 131 + ord(letter)) % 1_000_003
    return value
