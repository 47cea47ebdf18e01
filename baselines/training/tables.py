"""The tables of a recipe that configure the policy and its learning."""

from typing import Literal

from pydantic import Field, model_validator

from hexathlon.baselines.algorithms.objectives import Objective
from hexathlon.baselines.learner.optimiser import OptimiserConfig
from hexathlon.baselines.pipeline.tables import PartTable, RecipeTable
from hexathlon.baselines.rollout.pools import WorkersTable
from hexathlon.baselines.warmstart.cloning import CloneConfig
from hexathlon.baselines.warmstart.demonstrations import Noise
from hexathlon.baselines.warmstart.initial import ModelShape

__all__ = [
    "CloneTable",
    "ClusterTable",
    "CreditTable",
    "EnginePoolTable",
    "EngineTable",
    "EvaluationTable",
    "LearnTable",
    "LearnerTable",
    "PlaceTable",
    "PolicyTable",
    "RolloutTable",
]


class PolicyTable(RecipeTable):
    """The policy: a checkpoint, or the shape of a new model."""

    checkpoint: str = ""
    """A Hugging Face checkpoint directory; empty creates a small policy from scratch."""

    shape: ModelShape = Field(default_factory=ModelShape)
    dialect: str = "compact"
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"
    lora_rank: int = Field(default=0, ge=0)
    """Rank of low-rank adapters; 0 trains all parameters."""


class CloneTable(RecipeTable):
    """Behaviour cloning before reinforcement learning; skipped without demonstrations."""

    demonstrations: int = Field(default=0, ge=0)
    noise: Noise = Field(default_factory=Noise)
    thoughts: bool = False
    """Whether demonstrations contain thoughts, if their source has any."""

    renamed: float = Field(default=0.0, ge=0, le=1)
    """Fraction of the demonstrations in which names are replaced by made-up ones."""

    quoted: float = Field(default=0.0, ge=0, le=1)
    """Words quoted in thoughts also count as names if at most this fraction of the demonstrations
    contains them; 0 takes names only from actions."""

    rare: float = Field(default=0.15, ge=0, le=1)
    """Words of actions in more than this fraction of the demonstrations are not names."""

    capitals: float = Field(default=0.0, ge=0, le=1)
    """Fraction of the made-up names that begin with a capital wherever they stand."""

    labels: bool = False
    """Whether words in quotes on screens also count as names, so that the policy finds elements by
    their place."""

    renumber: bool = False
    """Whether demonstrations with made-up names also get random element numbers, so that the policy
    learns to copy numbers instead of guessing them."""

    copies: int = Field(default=1, ge=1)
    """Copies of each demonstration, with different made-up names; useful if playing is slow."""

    settings: CloneConfig = Field(default_factory=CloneConfig)


class RolloutTable(RecipeTable):
    """Rollouts of a training step."""

    groups: int = Field(default=16, ge=1)
    """Tasks per step."""

    members: int = Field(default=8, ge=1)
    """Rollouts per task."""

    temperature: float = Field(default=1.0, gt=0)
    heat: float = Field(default=0.0, ge=0, lt=1)
    """Range of a temperature by entropy, such as 0.05 (HAPO): uncertain tokens are sampled at up to
    1 + heat times the temperature, certain ones at down to 1 - heat times. Entropies of the last
    step's trained tokens set the scale; the first step has none."""

    max_tokens: int = Field(default=128, ge=1)
    """Maximum number of tokens per turn."""

    concurrency: int = Field(default=64, ge=1)
    tries: int = Field(default=4, ge=1)
    """Maximum number of batches per step, if filters drop groups."""

    rewards: Literal["played", "rescored"] = "played"
    """Source of the rewards: the episodes, or their rescored records."""

    keep_tokens: bool = False
    """Whether `rollouts/` contains tokens and log-probabilities in addition to the records, and
    evaluations a `tokens.jsonl`, which leaderboard pages show."""


class SwarmTable(RecipeTable):
    """Rollouts shared with other runs, as text (SAPO)."""

    share: bool = False
    """Whether `rollouts/` contains prompts and tools besides the records, so that peers can render
    the rollouts for their own policies."""

    peers: tuple[str, ...] = ()
    """Folders of the runs to take rollouts from."""

    groups: int = Field(default=8, ge=1)
    """Shared groups per step, in addition to one's own; only those whose rewards differ count."""

    newest: int = Field(default=4, ge=1)
    """Number of each peer's newest batches to draw from."""


class CreditTable(RecipeTable):
    """Credit assignment."""

    estimator: PartTable = PartTable(name="grpo")
    per_event: bool = False
    """Whether to scale each event's advantages to a root mean square of 1 over its sampled tokens,
    so that no event of a mixture outweighs another because its rewards vary more."""

    shapings: tuple[PartTable, ...] = ()
    filters: tuple[PartTable, ...] = ()
    tokens: tuple[PartTable, ...] = ()
    """Rules that change the advantages and weights of single tokens, after the estimator."""


class LearnTable(RecipeTable):
    """Parameter updates."""

    objective: Objective = Field(default_factory=Objective)
    optimiser: OptimiserConfig = Field(default_factory=OptimiserConfig)
    bounds: PartTable = PartTable(name="clip")
    token_budget: int = Field(default=4_096, ge=1)
    """Tokens per forward pass, including padding: 4,096 keeps a small model's activations in a
    core's cache; a GPU needs many more."""

    minibatches: int = Field(default=1, ge=1)
    epochs: int = Field(default=1, ge=1)
    checkpointing: bool = False
    precision: Literal["float32", "bfloat16"] = "float32"


class LearnerTable(RecipeTable):
    """The learner's use of its ranks and their memory."""

    kind: Literal["replicated", "sharded"] = "replicated"
    """`replicated` keeps parameters, gradients and optimiser states on every rank, `sharded` a part
    of them on each (FSDP2)."""

    reshard: bool = True
    """Whether a sharded learner frees gathered parameters between a layer's forward and backward
    pass: less memory, one more exchange."""

    packing: bool = False
    """Whether the examples of a forward pass are one row without padding, with attention within
    each example; `learn.token_budget` then counts no padding."""

    @model_validator(mode="after")
    def _fits(self) -> "LearnerTable":
        if self.kind == "replicated" and not self.reshard:
            raise ValueError('reshard is for a sharded learner: set kind = "sharded"')
        return self


class EngineTable(RecipeTable):
    """The engine that samples rollouts.

    The evaluations before and after training always sample in this process.
    """

    kind: Literal["local", "vllm", "tinker"] = "local"
    """`local` samples in this process, `vllm` on a server; a `tinker` endpoint samples and learns.
    """

    urls: tuple[str, ...] = ()
    """URLs of running vLLM servers, replicas of one model, or of one Tinker endpoint; empty starts
    `replicas` servers on the policy's checkpoint for the run."""

    model: str = ""
    """Name of the model at `urls`; empty if the servers have only one."""

    replicas: int = Field(default=1, ge=1, le=64)
    """Servers to start, each with the whole model."""

    more: tuple[str, ...] = ()
    """Further arguments for the servers to start, such as "--tensor-parallel-size=2"."""

    transfer: Literal["folder", "gloo", "nccl", "adapter"] = "folder"
    """How servers get new weights: from a folder with the same path on both sides, over vLLM's
    transfer API with gloo (any device) or NCCL (GPUs; vLLM in the learner's environment), or as
    low-rank adapters from a folder."""

    host: str = "127.0.0.1"
    """Address at which servers reach the learner, with `gloo` and `nccl`; on a cluster, that of its
    node is used."""

    sleep: bool = False
    """Whether servers release their GPU's memory while the learner uses the GPU."""

    restarts: int = Field(default=3, ge=0)
    """Maximum number of restarts of a started server that died."""

    tolerance: float = Field(default=0.0, ge=0)
    """Maximum difference of a log-probability between engine and learner after an update; 0 means
    1e-3 in float32 and 0.3 in lower precision."""

    invariant: bool = False
    """Whether a local engine's replies are independent of the rest of the batch, bit for bit:
    slower, and required for identical policies in one process and on a cluster."""

    speculate: int = Field(default=0, ge=0, le=32)
    """Maximum number of tokens that a local engine proposes and checks in one pass, where this is
    measured to be faster; 0 means none. Replies are the same (bit for bit with `invariant`)."""

    context: int = Field(default=0, ge=0)
    """Maximum number of tokens of a prompt and its reply; 0 means the model's limit."""

    cache_gib: int = Field(default=1, ge=1)
    """Memory for keys and values of a server started on a CPU, in GiB."""

    deadline: float = Field(default=600.0, gt=0)
    """Timeout for a server's reply in seconds, including retries."""

    ready_within: float = Field(default=240.0, gt=0)
    """Timeout for a server's start, in seconds."""

    @model_validator(mode="after")
    def _fits(self) -> "EngineTable":
        sent = self.transfer if self.transfer != "folder" else ""
        served: dict[str, object] = {"urls": self.urls, "model": self.model, "more": self.more}
        served |= {"transfer": sent, "sleep": self.sleep}
        if self.kind == "tinker" and (len(self.urls) != 1 or not self.model):
            raise ValueError('kind = "tinker" needs one of urls, and model: the base model\'s name')
        if self.kind == "local" and (any(served.values()) or self.replicas > 1):
            names = [name for name, value in served.items() if value] or ["replicas"]
            raise ValueError(f'{names[0]} needs a server: set kind = "vllm"')
        if self.kind != "local" and self.speculate:
            raise ValueError('speculate is for kind = "local"; pass it to a server through `more`')
        for url in self.urls:
            if not url.startswith(("http://", "https://")):
                raise ValueError(f"urls must begin with http:// or https://, got {url!r}")
        if len(set(self.urls)) < len(self.urls):
            raise ValueError(f"urls names a server twice: {', '.join(self.urls)}")
        if self.model and not self.urls:
            raise ValueError("model is a name at urls, which is empty: set urls")
        if self.urls and (self.more or self.replicas > 1):
            raise ValueError(
                "replicas and more configure servers to start: remove them, or remove urls"
            )
        return self


class EvaluationTable(RecipeTable):
    """Evaluations on dev tasks."""

    every: int = Field(default=0, ge=0)
    """Steps between evaluations; 0 evaluates only at the start and the end."""

    tasks: int = Field(default=100, ge=1)
    temperature: float = Field(default=1.0, ge=0)


class PlaceTable(RecipeTable):
    """Resources that a cluster reserves for one process."""

    cpus: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    gpus: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """GPUs; two processes with 0.5 each share one."""

    resources: dict[str, float] = Field(default_factory=dict)
    """Named resources, such as `{ learner = 1 }`, as the nodes declare them."""

    def bundle(self) -> dict[str, float]:
        """Return the reservation by resource name."""
        amounts = {"CPU": self.cpus, "GPU": self.gpus, **self.resources}
        bundle = {name: amount for name, amount in amounts.items() if amount}
        return bundle or {"CPU": 0.001}  # Ray rejects empty bundles


class EnginePoolTable(RecipeTable):
    """Engine replicas for some environment families.

    Families with long observations and short replies spend their time on prefill, those with long
    replies on decoding; pools give each its own kind of GPU and its own settings.
    """

    families: tuple[str, ...] = Field(min_length=1)
    """Families, such as `web`, whose rollouts these replicas serve."""

    engines: int = Field(default=1, ge=1, le=1_024)
    """Number of replicas."""

    place: PlaceTable = PlaceTable()
    """Resources of each replica."""

    more: tuple[str, ...] = ()
    """Further arguments for the servers, such as "--max-num-batched-tokens=16384"."""


class ClusterTable(WorkersTable):
    """The processes of a run on a cluster; has no effect without `--cluster`.

    Rank 0 plays the rollouts of all ranks, using the engine replicas and the environment workers.
    """

    engines: int = Field(default=1, ge=1, le=1_024)
    """Engine replicas. With `[engine] kind = "vllm"`, each is a server on its own node."""

    workers: int = Field(default=2, ge=0, le=65_536)
    """Environment workers; 0 plays the environments in the process of rank 0."""

    engine_pools: dict[str, EnginePoolTable] = Field(default_factory=dict)
    """Further replicas by the name of their pool, for the families that it lists; the `engines`
    serve all other families."""

    rank: PlaceTable = PlaceTable()
    """Resources of each learner rank."""

    engine: PlaceTable = PlaceTable()
    """Resources of each engine replica."""

    restarts: int = Field(default=3, ge=0)
    """Maximum number of restarts of each engine replica, and of the learner ranks together, after
    lost processes; then the run stops."""

    reply_within: float = Field(default=900.0, gt=0, allow_inf_nan=False)
    """Timeout for a reply of an engine replica in seconds, including restarts."""

    def cpus_in_all(self, ranks: int) -> float:
        """Return the cores that a run reserves.

        Args:
            ranks: Learner ranks.
        """
        pools = self.all_pools().values() if self.workers else ()
        playing = sum(pool.workers * pool.cpus for pool in pools)
        sampling = sum(count * place.cpus for count, place in self._engine_places())
        return playing + ranks * self.rank.cpus + sampling

    def _engine_places(self) -> list[tuple[int, PlaceTable]]:
        """Return the number of replicas of each pool, and their resources."""
        pools = [(pool.engines, pool.place) for pool in self.engine_pools.values()]
        return [(self.engines, self.engine), *pools]

    @model_validator(mode="after")
    def _engine_families_once(self) -> "ClusterTable":
        named = [name for pool in self.engine_pools.values() for name in pool.families]
        twice = sorted({name for name in named if named.count(name) > 1})
        if twice:
            raise ValueError(f"the family {twice[0]!r} is in two engine pools: list it in one")
        return self

    def resources_in_all(self, ranks: int) -> dict[str, float]:
        """Return the named resources that a run reserves.

        Args:
            ranks: Learner ranks.
        """
        pools = self.all_pools().values() if self.workers else ()
        wanted = [(pool.workers, pool.resources) for pool in pools]
        wanted += [(ranks, self.rank.resources)]
        wanted += [(count, place.resources) for count, place in self._engine_places()]
        total: dict[str, float] = {}
        for count, resources in wanted:
            for name, amount in resources.items():
                total[name] = total.get(name, 0.0) + count * amount
        return total
