"""A hard task on the mail site: which of many conflicting figures is valid."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import ClassVar, NamedTuple

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.draft import (
    ExpectedAnswer,
    Solver,
    WebDraft,
    WebScene,
    WebTemplate,
)
from hexathlon.tasks.web.templates.mailbox import Mailbox
from hexathlon.tasks.web.world.people import Person

__all__ = ["TEMPLATES"]


_DESKS = ("North|北区", "South|南区", "Coast|沿海", "Hills|山区", "Islands|岛屿", "Valley|河谷")
_FAIRS = ("Autumn fair|秋季展会", "Spring fair|春季展会", "Trade days|商贸日", "Open house|开放日")


class _Figure(NamedTuple):
    """An email that states a figure for a desk."""

    at: datetime
    author: str
    """`head`, `next` (the head from a later day on), `finance` or `member`."""

    amount: int
    """0 withdraws the author's last figure."""


class BudgetFigures(WebTemplate):
    """Determine which of many conflicting figures is valid, for each of several desks."""

    name: ClassVar[str] = "mail_budget_figures"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw desks with heads, a change of head, figures, cuts and withdrawals."""
        box = Mailbox(scene, scene.plan("mail"))
        zh = scene.language == "zh"
        fair = scene.pick(_FAIRS).split("|")[zh]
        desks = [each.split("|")[zh] for each in scene.sample(_DESKS, 4)]
        people = box.colleagues(4 + 4 + 4 + 2)
        heads, nexts, members = people[:4], people[4:8], people[8:12]
        finance, office = people[12:14]
        changed_desks = set(scene.sample(range(4), 2))
        handover = box.ago(days=30).replace(hour=8, minute=0)
        lines = [
            scene.say(f"Desk {desk}: {head.name}", f"{desk}：{head.name}")
            for desk, head in zip(desks, heads, strict=True)
        ]
        rules = scene.say(
            "The budget of a desk for a fair is the last figure that the head of the desk has "
            "sent by mail. Only figures count that somebody sent while being head.\n"
            f"{finance.name} of finance may lower a head's figure by a later mail, never raise "
            "it. A lowered figure holds until the head sends another one.\n"
            "Who withdraws a mail is treated as if it had never been sent. Figures of other "
            "people do not count.\nHeads at present:\n",
            "某区的展会预算以该区负责人最后一封邮件中的数字为准，且只计其在任期间发出的数字。\n"
            f"财务{finance.name}可以用之后的邮件调低负责人的数字，但不能调高；调低后的数字在负责"
            "人再次发信之前有效。\n"
            "撤回的邮件视同从未发出。其他人的数字无效。\n现任负责人：\n",
        )
        box.handbook(
            "fairs",
            scene.say("Fairs: who decides on budgets", "展会预算由谁决定"),
            rules + "\n".join(lines),
            box.ago(days=120),
        )
        for index in sorted(changed_desks):
            box.add(
                office,
                scene.say(f"Desk {desks[index]}", f"{desks[index]}人事"),
                scene.say(
                    f"From {handover:%Y-%m-%d} on, {nexts[index].name} is head of the desk "
                    f"{desks[index]} instead of {heads[index].name}.",
                    f"自{handover:%Y-%m-%d}起，{desks[index]}负责人由{heads[index].name}改为"
                    f"{nexts[index].name}。",
                ),
                handover - timedelta(days=6),
            )
        answers, naive, threads = [], [], []
        for index, desk in enumerate(desks):
            figures = _figures(scene, box, handover, index in changed_desks)
            right, other = (
                _settled(figures, handover, index in changed_desks),
                _backwards(figures, handover, index in changed_desks),
            )
            if right != other or right == 0:
                return None
            answers.append(right)
            naive.append(figures[-1].amount or figures[-2].amount)
            who: dict[str, Person] = {
                "head": heads[index],
                "next": nexts[index],
                "finance": finance,
                "member": members[index],
            }
            subject = f"{fair}: {desk}"
            thread = 0
            for figure in figures:
                number = box.add(
                    who[figure.author],
                    subject if not thread else scene.say(f"Re: {subject}", f"回复：{subject}"),
                    _wording(scene, figure, figures),
                    figure.at,
                    thread=thread,
                )
                thread = thread or number
            threads.append(thread)
        if sum(a != b for a, b in zip(answers, naive, strict=True)) < 3:
            return None
        total = sum(answers)
        order = ", ".join(desks) if not zh else "、".join(desks)
        instruction = scene.say(
            f"What are the budgets for the {fair} that hold now, by the rules of the office "
            f"handbook, for the desks {order}? Answer with five whole numbers of euros: the "
            "four budgets in this order, then their sum.",
            f"按办公手册的规定，{fair}目前有效的预算各是多少？依次回答{order}的预算及总和，共五个"
            "整数（欧元）。",
        )
        evidence = (
            r"mail\.hexathlon\.test/handbook/fairs$",
            *(rf"mail\.hexathlon\.test/threads/{each}$" for each in threads),
        )

        def solver(values: Sequence[int], *, look: bool = True, search: bool = False) -> Solver:
            def solve(pilot: Pilot) -> Script:
                if look:
                    yield from pilot.goto("mail", "/handbook/fairs")
                    if search:
                        yield from pilot.goto("mail", f'/search?q=subject:"{fair}"')
                    for thread in threads:
                        yield from pilot.goto("mail", f"/threads/{thread}")
                yield from pilot.finish("RETRIEVE", [*values, sum(values)])

            return solve

        off = [answers[0] + 100, *answers[1:]]
        return WebDraft(
            box.plan,
            instruction,
            solver(answers),
            answer=ExpectedAnswer(data=(*answers, total)),
            evidence=evidence,
            alternatives={"by_search": solver(answers, search=True)},
            mutants={
                "last_figures": solver(naive),
                "not_looked": solver(answers, look=False),
                "one_off": solver(off),
            },
            turns=35,
        )


def _figures(scene: WebScene, box: Mailbox, handover: datetime, moves: bool) -> list[_Figure]:
    """Draw the figures of one desk, oldest first."""
    count = int(scene.rng.integers(5, 8))
    ages = sorted((int(each) for each in scene.sample(range(4, 70), count)), reverse=True)
    figures: list[_Figure] = []
    for age in ages:
        at = box.ago(days=age, hours=float(scene.rng.integers(0, 9)))
        authors = ["head", "head", "finance", "member"] + (["next", "next"] if moves else [])
        author = scene.pick(authors)
        mine = [each for each in figures if each.author == author]
        amount = 100 * int(scene.rng.integers(40, 160))
        if mine and mine[-1].amount and scene.rng.random() < 0.2:
            amount = 0
        figures.append(_Figure(at, author, amount))
    return figures


def _standing(figures: Sequence[_Figure]) -> list[_Figure]:
    """Return the figures that were not withdrawn."""
    left: list[_Figure] = []
    for figure in figures:
        if figure.amount:
            left.append(figure)
            continue
        own = [each for each in left if each.author == figure.author]
        left.remove(own[-1])
    return left


def _settled(figures: Sequence[_Figure], handover: datetime, moves: bool) -> int:
    """Return the valid figure, going forward in time."""
    value = 0
    for figure in _standing(figures):
        head = "next" if moves and figure.at >= handover else "head"
        if figure.author == head:
            value = figure.amount
        elif figure.author == "finance" and value:
            value = min(value, figure.amount)
    return value


def _backwards(figures: Sequence[_Figure], handover: datetime, moves: bool) -> int:
    """Return the valid figure, going backward in time."""
    skip = dict.fromkeys(("head", "next", "finance", "member"), 0)
    cuts: list[int] = []
    for figure in reversed(figures):
        if not figure.amount:
            skip[figure.author] += 1
        elif skip[figure.author]:
            skip[figure.author] -= 1
        elif figure.author == "finance":
            cuts.append(figure.amount)
        elif figure.author == ("next" if moves and figure.at >= handover else "head"):
            return min([figure.amount, *cuts])
    return 0


def _wording(scene: WebScene, figure: _Figure, figures: Sequence[_Figure]) -> str:
    if not figure.amount:
        before = [each for each in figures if each.at < figure.at]
        standing = [each for each in _standing(before) if each.author == figure.author]
        day = f"{standing[-1].at:%Y-%m-%d %H:%M}"
        return scene.say(
            f"I withdraw my mail of {day}; the figure was a mistake.",
            f"我撤回{day}的邮件，那个数字有误。",
        )
    amount = f"€{figure.amount:,}"
    if figure.author == "finance":
        return scene.say(
            f"Finance can cover {amount} for this desk.", f"财务可为该区承担{amount}。"
        )
    return scene.say(
        scene.pick(
            (
                f"We plan with {amount}.",
                f"Please note {amount} for us.",
                f"After the talks with the builder it is {amount}.",
            )
        ),
        scene.pick(
            (f"我们按{amount}计划。", f"请为我们记{amount}。", f"与搭建商商谈后为{amount}。")
        ),
    )


TEMPLATES: tuple[WebTemplate, ...] = (BudgetFigures(),)
