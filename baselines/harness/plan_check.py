"""Verification of a plan: its trials and task sets, derived again from its configuration.

The stored keys are a claim: they must be exactly the trials that the configuration selects from the
task sets of this installation, each once.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hexathlon.baselines.agents.spec import PROVIDERS, SpecError, parse_model
from hexathlon.baselines.harness.config import EvalConfig
from hexathlon.baselines.harness.errors import UsageError
from hexathlon.baselines.harness.finding import Finding, abridged, key_text
from hexathlon.baselines.harness.plan import check_salt, env_row, keys_of, slices_of
from hexathlon.evaluators.records.plan import TrialKey, plan_keys

__all__ = ["CheckedPlan", "check_plan"]

_MOST_LEFT_OUT = 1_000_000
"""If a configuration selects this many more trials than are planned, they are not listed."""


class CheckedPlan(NamedTuple):
    """The trials that a plan should contain, and its findings."""

    keys: tuple[TrialKey, ...]
    """The trials that the configuration selects; the stored ones if it selects none."""

    findings: tuple[Finding, ...]


def check_plan(plan: Mapping[str, Any], config: EvalConfig, salt: str | None) -> CheckedPlan:
    """Derive a plan's trials from its configuration and compare.

    Args:
        plan: The stored plan.
        config: The configuration in it.
        salt: The secret of a held-out round.

    Raises:
        UsageError: If the salt is missing, or not the one that the plan committed to.
        EnvironmentUnavailable: If an environment of the plan is not available on this machine.
    """
    stored = plan_keys(plan)
    rounds = tuple(_round_findings(plan["envs"], config))
    if rounds:
        return CheckedPlan(tuple(stored), rounds)
    for row in plan["envs"]:
        check_salt(row, salt)
    try:
        slices = slices_of(config, salt)
        rows = [env_row(part, config, salt) for part in slices]
    except UsageError as error:
        return CheckedPlan(tuple(stored), (Finding("plan", "config", str(error)),))
    findings = [*_row_findings(plan["envs"], rows), *_model_findings(plan, config)]
    selected = sum(len(part.ids) for part in slices) * config.seeds * config.trials
    if selected > len(stored) + _MOST_LEFT_OUT:
        count = f"the configuration selects {selected} trials, the plan has {len(stored)}"
        return CheckedPlan(tuple(stored), (Finding("plan", "keys", count), *findings))
    keys = tuple(keys_of(slices, config))
    return CheckedPlan(keys, (*_key_findings(stored, keys), *findings))


def _round_findings(rows: Sequence[Mapping[str, Any]], config: EvalConfig) -> Iterator[Finding]:
    """Compare task sets with the split: a held-out round, which needs a secret, or none at all."""
    secret = config.split == "heldout"
    if config.task:
        secret = any(row.get("split") == "heldout" for row in rows)
    for index, row in enumerate(rows):
        if (row.get("split") == "heldout") != secret:
            split = f"is {abridged(row.get('split'))}, unlike the configuration or other task sets"
            yield Finding("plan", f"envs[{index}].split", split)
        elif (row.get("salt_commitment") is not None) != secret:
            message = "only task sets of a held-out round have a secret, and all of them"
            yield Finding("plan", f"envs[{index}].salt_commitment", message)


def _row_findings(
    stored: Sequence[Mapping[str, Any]], derived: Sequence[Mapping[str, Any]]
) -> Iterator[Finding]:
    if len(stored) != len(derived):
        counts = f"the plan has {len(stored)} task sets, its configuration gives {len(derived)}"
        yield Finding("plan", "envs", counts)
    for index, (old, new) in enumerate(zip(stored, derived, strict=False)):
        for name, value in new.items():
            if old.get(name) != value:
                yield Finding(
                    "plan",
                    f"envs[{index}].{name}",
                    f"the plan has {abridged(old.get(name))}, its configuration gives "
                    f"{abridged(value)} in this installation",
                )


def _key_findings(stored: Sequence[TrialKey], derived: Sequence[TrialKey]) -> Iterator[Finding]:
    if list(stored) == list(derived):
        return
    planned, selected = set(stored), set(derived)
    left_out = [key for key in derived if key not in planned]
    added = [key for key in stored if key not in selected]
    for keys, fault in ((left_out, "left out"), (added, "not among them")):
        if keys:
            yield Finding(
                "plan",
                "keys",
                f"the configuration selects {len(derived)} trials; {len(keys)} {fault}, "
                f"first {key_text(keys[0])}",
            )
    if not left_out and not added:
        yield Finding("plan", "keys", "trials are repeated, or not in the order of the task sets")


def _model_findings(plan: Mapping[str, Any], config: EvalConfig) -> Iterator[Finding]:
    """Compare the plan's model with the configured one; what actually answered is unknown."""
    stored = plan.get("model", {})
    for name, value in _model_of(config).items():
        if stored.get(name) != value:
            yield Finding(
                "plan",
                f"model.{name}",
                f"the plan has {abridged(stored.get(name))}, its configuration {abridged(value)}",
            )


def _model_of(config: EvalConfig) -> dict[str, Any]:
    kind, colon, name = config.model.partition(":")
    if colon and kind == "custom":
        return {"kind": kind, "name": name}
    if not (
        colon and kind in ("agent", "endpoint", *PROVIDERS)
    ):  # its directory need not be on this machine
        return {"kind": "checkpoint", "place": config.model} | _drawn_as(config)
    try:
        spec = parse_model(config.model)
    except SpecError as error:
        return {"kind": str(error)}
    if kind == "agent":
        return dict(spec.as_json())
    named = {"name": spec.name} if spec.name else {}
    provided = {"provider": spec.provider} if spec.provider else {}
    return {"kind": spec.kind, "place": spec.place} | named | provided | _drawn_as(config)


def _drawn_as(config: EvalConfig) -> dict[str, Any]:
    dialect = {} if config.dialect == "auto" else {"dialect": config.dialect}
    return {"sampling": config.sampling.model_dump(mode="json")} | dialect
