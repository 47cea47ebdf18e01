"""The cost model: shapes against transformers' own models, formulas against brute force."""

import dataclasses
import json

import numpy as np
import pytest

pytest.importorskip("torch")
from transformers import AutoConfig, AutoModelForCausalLM

from hexathlon.baselines.sizing.devices import Efficiency, device, device_names
from hexathlon.baselines.sizing.estimate import (
    GpuCluster,
    GpuLayout,
    StepPlan,
    best_by_mode,
    estimate,
    estimates,
)
from hexathlon.baselines.sizing.footprint import Experts, ModelSize, engine_memory, learner_memory
from hexathlon.baselines.sizing.workload import MachineRates, MeasuredStep, StepWorkload
from support.events import TOY
from support.registered_parts import tiny_recipe

SIZE = ModelSize(28, 1024, 16, 8, 128, 3072, 151_936, tied=True)  # the shape of a 0.6 B model
WORK = StepWorkload(rollouts=512, turns=10, sampled=2_000, tokens=12_000, env_seconds=20)
PLAN = StepPlan(SIZE, WORK, slots=256, forward_tokens=32_768, checkpointing=True)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3", "mistral"])
def test_parameters_are_counted_as_transformers_counts_them(kind, tied):
    config = AutoConfig.for_model(
        kind, hidden_size=64, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
        head_dim=16, intermediate_size=160, vocab_size=512, tie_word_embeddings=tied,
    )  # fmt: skip
    model = AutoModelForCausalLM.from_config(config)
    counted = ModelSize.of(config.to_dict()).parameters
    real = sum(parameter.numel() for parameter in model.parameters())
    assert counted <= real <= counted * 1.01  # biases and the norms of heads are left out


MIXTURES = {
    "mixtral": {"num_local_experts": 8, "num_experts_per_tok": 2},
    "qwen2_moe": {
        "num_experts": 8, "num_experts_per_tok": 3, "moe_intermediate_size": 48,
        "shared_expert_intermediate_size": 96,
    },
    "qwen3_moe": {
        "num_experts": 8, "num_experts_per_tok": 3, "moe_intermediate_size": 48,
        "mlp_only_layers": [0],
    },
    "olmoe": {"num_experts": 8, "num_experts_per_tok": 2},
    "glm4_moe": {
        "n_routed_experts": 8, "n_shared_experts": 2, "num_experts_per_tok": 3,
        "moe_intermediate_size": 48, "first_k_dense_replace": 1,
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", list(MIXTURES))
def test_parameters_of_mixtures_are_counted_as_transformers_counts_them(kind):
    config = AutoConfig.for_model(
        kind, hidden_size=64, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
        head_dim=16, intermediate_size=160, vocab_size=512, tie_word_embeddings=False,
        **MIXTURES[kind],
    )  # fmt: skip
    size = ModelSize.of(config.to_dict())
    real = sum(
        parameter.numel() for parameter in AutoModelForCausalLM.from_config(config).parameters()
    )
    assert size.parameters <= real <= size.parameters * 1.01
    assert size.experts is not None
    # A token uses its own experts, many tokens use all of them.
    spared = size.experts.count - size.experts.chosen
    sparse = 3 - size.experts.dense_layers
    unused = sparse * spared * 3 * 64 * size.experts.width
    assert size.used_parameters(1) == pytest.approx(size.parameters - unused)
    assert size.used_parameters(1_000) == pytest.approx(size.parameters)


def test_a_mixture_learns_as_fast_as_its_active_parameters_and_needs_memory_for_all():
    mixture = dataclasses.replace(SIZE, experts=Experts(64, 4, SIZE.feed_forward // 4))
    assert mixture.used_parameters(1) == pytest.approx(SIZE.parameters, rel=0.01)
    cluster, layout = GpuCluster(device("h200"), 2), GpuLayout("asynchronous", 1, 1)
    dense, sparse = (
        estimate(PLAN._replace(model=model), cluster, layout) for model in (SIZE, mixture)
    )
    assert sparse.learn == pytest.approx(dense.learn, rel=0.01)
    assert sparse.collect > dense.collect  # a batch reads nearly all experts
    assert sparse.learner_memory - dense.learner_memory > 16 * SIZE.parameters
    assert learner_memory(mixture, 1, 1, checkpointing=True).weights == 4 * mixture.parameters


def test_keys_and_values_are_counted_as_in_a_cache():
    config = AutoConfig.for_model(
        "llama", hidden_size=64, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
        intermediate_size=160, vocab_size=512,
    )  # fmt: skip
    import torch

    model = AutoModelForCausalLM.from_config(config)
    cache = model(torch.zeros(1, 7, dtype=torch.long), use_cache=True).past_key_values
    numbers = sum(layer.keys.numel() + layer.values.numel() for layer in cache.layers)
    assert ModelSize.of(config.to_dict()).kv_bytes * 7 == 2 * numbers


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"hidden_size": 64}, "has no num_attention_heads"),
        ({"kv_lora_rank": 512}, "latent attention"),
        (
            {
                "hidden_size": 64,
                "num_attention_heads": 4,
                "num_experts": 8,
                "intermediate_size": 64,
            },
            "has no num_experts_per_tok",
        ),
        (
            {
                "hidden_size": 64,
                "num_attention_heads": 4,
                "num_experts": 8,
                "decoder_sparse_step": 2,
            },
            "consecutive layers",
        ),
    ],
)
def test_unsupported_models_are_rejected_by_name(config, told):
    with pytest.raises(ValueError, match=told):
        ModelSize.of(config)


def test_states_are_divided_among_ranks_and_activations_are_not():
    one = learner_memory(SIZE, 1, 4_096, checkpointing=True)
    four = learner_memory(SIZE, 4, 4_096, checkpointing=True)
    assert one.weights + one.optimiser + one.gradients == 16 * SIZE.parameters
    assert four.optimiser * 4 == one.optimiser and four.weights * 4 == one.weights
    assert four.activations == one.activations
    assert learner_memory(SIZE, 1, 4_096, checkpointing=False).total > one.total
    assert engine_memory(SIZE, 2, 100) - engine_memory(SIZE, 1, 100) == 100 * SIZE.kv_bytes


def test_the_longest_of_several_rollouts_is_the_mean_maximum_of_log_normal_durations():
    work = WORK._replace(spread=1.0)
    draws = np.random.default_rng(0).lognormal(-0.5, 1.0, size=(20_000, 64))
    assert abs(draws.mean() - 1) < 0.01
    assert work.longest(64) == pytest.approx(draws.max(axis=1).mean(), rel=0.12)
    assert WORK.longest(64) == 1.0 and work.longest(1) == 1.0


def test_waiting_environments_bound_the_collection():
    slow = PLAN._replace(workload=WORK._replace(env_seconds=10_000.0))
    found = estimate(slow, GpuCluster(device("h100"), 2), GpuLayout("asynchronous", 1, 1))
    assert found.collect == pytest.approx(512 / 256 * 10_000, rel=0.02)
    assert found.step == found.collect + found.sync


def test_engines_bound_the_collection_of_quick_environments():
    quick = PLAN._replace(workload=WORK._replace(env_seconds=0.0))
    cluster = GpuCluster(device("h100"), 4)
    one = estimate(quick, cluster, GpuLayout("asynchronous", 1, 1))
    two = estimate(quick, cluster, GpuLayout("asynchronous", 2, 2))
    assert one.learn == pytest.approx(2 * two.learn)
    assert one.collect > 1.3 * two.collect  # less than twice: each batch reads the weights again
    # Every sampled token of a batch of 256 costs at least its share of reading the weights.
    least = 512 * 2_000 * 2 * SIZE.parameters / (256 * 3_350e9 * 0.5)
    assert one.collect > least


def test_an_asynchronous_step_overlaps_collection_and_learning():
    cluster = GpuCluster(device("h100"), 8)
    work = PLAN._replace(workload=WORK._replace(spread=1.0))
    apart = estimate(work, cluster, GpuLayout("apart", 5, 3))
    free = estimate(work, cluster, GpuLayout("asynchronous", 5, 3))
    assert apart.step == apart.collect + apart.learn + apart.sync
    assert free.step == max(free.collect, free.learn) + free.sync
    assert free.collect < apart.collect  # nobody waits for the longest rollout


def test_the_fastest_layout_that_fits_comes_first():
    cluster = GpuCluster(device("rtx4090"), 4)
    large = PLAN._replace(model=ModelSize(36, 4096, 32, 8, 128, 12_288, 151_936))
    found = estimates(large, cluster)
    fitting = [one.fits for one in found]
    assert fitting == sorted(fitting, reverse=True)
    steps = [one.step for one in found if one.fits == found[0].fits]
    assert steps == sorted(steps)
    assert len(found) == 7 and {one.layout.mode for one in best_by_mode(found)} == {
        "shared", "apart", "asynchronous",
    }  # fmt: skip
    assert not estimates(large, cluster._replace(gpus=1))[0].fits


def test_a_slow_network_slows_the_sync_only():
    cluster = GpuCluster(device("h100"), 16)
    near, far = (
        estimate(PLAN, cluster._replace(network=rate), GpuLayout("apart", 8, 8))
        for rate in (0.0, 5.0)
    )
    assert far.sync == pytest.approx(near.sync * 450 / 5)
    assert (far.collect, far.learn) == (near.collect, near.learn)


def test_rates_of_a_run_predict_other_sizes():
    steps = [MeasuredStep(n, 8.0, 4.0, 100.0, 500.0) for n in (1, 2)]
    rates = MachineRates.of(steps, rollouts=64, ranks=2)
    same = StepWorkload(64, 3, 100, 500)
    assert rates.step(same, 2) == pytest.approx((8.0, 4.0))
    assert rates.step(same._replace(rollouts=128, tokens=250), 1) == pytest.approx((32.0, 8.0))


def test_efficiencies_of_devices_are_at_most_one():
    assert {"h100", "h200", "a100"} <= set(device_names())
    with pytest.raises(ValueError, match="less than or equal to 1"):
        Efficiency(learn=1.5)


def test_the_command_reads_a_run(tmp_path, capsys):
    from hexathlon.baselines.training.run import train
    from hexathlon_cli.app import run

    recipe = tiny_recipe(steps=2, tasks={"env": TOY, "source": "toy", "turns": 5})
    train(recipe, tmp_path / "run", lambda *args: None)
    config = tmp_path / "config.json"
    config.write_text(json.dumps({
        "hidden_size": 1024, "num_hidden_layers": 28, "num_attention_heads": 16, "head_dim": 128,
        "num_key_value_heads": 8, "intermediate_size": 3072, "vocab_size": 151_936,
    }))  # fmt: skip
    flags = ["--from", str(tmp_path / "run"), "--model", str(config), "--gpus", "4"]
    assert run(["plan", "sql-tiny", *flags, "--price", "2"]) == 0
    shown = capsys.readouterr().out
    assert "measured in" in shown and "The machine of the run" in shown and "$ per step" in shown
    assert run(["plan", "sql-tiny", *flags, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert len(data["layouts"]) == 7 and data["workload"]["env_seconds"] > 0
    assert data["parameters"] == pytest.approx(0.75e9, rel=0.02)


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--device", "h1000"], "h100"),
        (["--from", "nowhere"], "nowhere"),
        (["--model", "nowhere"], "nowhere"),
        (["--efficiency", "learn=2"], "learn"),
        (["--sampled", "900", "--tokens", "800"], "expected more tokens"),
    ],
)
def test_wrong_flags_are_explained(flags, told, capsys):
    from hexathlon_cli.app import run

    assert run(["plan", "sql-tiny", *flags]) == 1
    assert told in capsys.readouterr().err
