"""Every registered id, and a hosted environment, pass the whole kit."""

import contextlib

import gymnasium
import pytest

import support.toy
from hexathlon.envs.errors import BackendMissing
from hexathlon.envs.registry import ENVIRONMENTS, missing_extra
from hexathlon.envs.testing import assert_conforms, check_environment
from hexathlon.envs.workers import HostedEnvironment

OURS = sorted(env_id for env_id in ENVIRONMENTS if env_id.startswith("hexathlon/"))


def require(env_id: str) -> None:
    install = missing_extra(ENVIRONMENTS[env_id])
    if install:
        pytest.skip(f"{env_id} is not installed: {install}")
    with contextlib.closing(gymnasium.make(env_id)) as env:
        try:
            env.reset(seed=0)
        except BackendMissing as error:
            pytest.skip(f"{env_id} cannot run on this machine: {error}")


@pytest.mark.parametrize("env_id", OURS)
def test_registered_ids_conform(env_id):
    require(env_id)
    assert_conforms(env_id, fuzz=100, tasks=2, sample=2)


def test_ids_and_splits_of_the_role_play_event_reveal_nothing():
    only = ["oracle_scores_one", "numbers_tell_nothing", "names_tell_nothing", "splits_apart"]
    report = check_environment("hexathlon/RolePlay-v1", only=only, tasks=240)
    assert [result.status for result in report.results] == ["passed"] * 4, str(report)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", OURS)
def test_registered_ids_conform_at_full_size(env_id):
    require(env_id)
    report = check_environment(env_id)
    assert report.passed, str(report)


@pytest.mark.slow
def test_a_hosted_environment_conforms():
    hosted = f"{support.toy.__name__}:ToyEnv"
    report = check_environment(HostedEnvironment, hosted=hosted, fuzz=1_000, tasks=10)
    assert report.passed, str(report)
