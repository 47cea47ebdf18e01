"""A vector environment that answers in completion order.

`step` and `reset` work in lock-step as gymnasium's do. Beside them, `send` hands out actions and
`recv` brings back whatever is done, so that one slow environment holds up no other. Environments
in this process are stepped in place, without threads; coroutine environments and those in worker
processes are waited for together on one event loop; a vector may hold both.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, cast

import gymnasium
import numpy as np
from gymnasium.spaces import Tuple
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, iterate
from numpy.typing import NDArray

from hexathlon.envs.dispatch import Call, Dispatcher
from hexathlon.envs.errors import EnvFault
from hexathlon.envs.infos import LazyInfos
from hexathlon.envs.lanes import Arrival, Lane
from hexathlon.envs.loops import LoopLease

__all__ = ["Arrival", "OnFault", "VectorEnvironment", "VectorFault", "make_vector", "vectorised"]

Environment = gymnasium.Env[Any, Any]
Batch = tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]

OnFault = Literal["raise", "mark"]
"""What lock-step calls do about infrastructure faults: raise `VectorFault`, or mark the
environment as truncated with status `error_env`, the cause in `info["fault"]` and a reward of NaN.
"""


class VectorFault(EnvFault):
    """Some environments failed during a lock-step call; the others have their results.

    Attributes:
        faults: What failed, by index.
        batch: What the call would have returned, the failed ones marked.
    """

    def __init__(self, faults: Mapping[int, EnvFault], batch: Any) -> None:
        first = next(iter(faults))
        super().__init__(
            f"{len(faults)} environments failed; number {first}: {faults[first]}",
            cause=faults[first].cause,
        )
        self.faults = dict(faults)
        self.batch = batch


class VectorEnvironment(VectorEnv[Any, Any, Any]):
    """Several environments of one kind, side by side.

    Args:
        env_fns: One constructor for each.
        autoreset_mode: Gymnasium's three modes; by default none, as rollouts reset what they
            choose, with `options={"reset_mask": …}` or `send_reset`.
        on_fault: What lock-step calls do about faults; `recv` always reports them.

    Raises:
        ValueError: There is no environment, or their spaces differ.
    """

    def __init__(
        self,
        env_fns: Iterable[Callable[[], Environment]],
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.DISABLED,
        on_fault: OnFault = "raise",
    ) -> None:
        super().__init__()
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.on_fault: OnFault = on_fault
        self.envs = [env_fn() for env_fn in env_fns]
        if not self.envs:
            raise ValueError("a vector needs at least one environment, got none")
        self.num_envs = len(self.envs)
        first = self.envs[0]
        self.metadata = {**first.metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = first.render_mode
        self.single_action_space = first.action_space
        self.single_observation_space = first.observation_space
        self._require_equal_spaces()
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._as_tuple = isinstance(self.observation_space, Tuple)
        self._lanes = [
            Lane(number, env, self.autoreset_mode) for number, env in enumerate(self.envs)
        ]
        self._steps = [lane.in_place for lane in self._lanes]
        self._numbers = range(self.num_envs)
        self._in_step = False  # whether all run and none owes an answer, in this process
        self._latest = [lane.blank for lane in self._lanes]
        inline = not any(lane.awaits for lane in self._lanes)
        self._lease = None if inline else LoopLease(self)
        self._dispatcher = Dispatcher(self._lease)

    def _require_equal_spaces(self) -> None:
        for index, env in enumerate(self.envs):
            same = (
                env.action_space == self.single_action_space
                and env.observation_space == self.single_observation_space
            )
            if not same:
                raise ValueError(
                    f"environment {index} has other spaces than number 0: "
                    f"{env.action_space}, {env.observation_space}"
                )

    # Lock-step ---------------------------------------------------------------------------------

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | Sequence[dict[str, Any]] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Reset all environments, or those that `options["reset_mask"]` names.

        Args:
            seed: One number, counted up from environment to environment, or one for each.
            options: For all, or one for each.
        """
        indices, options = self._masked(options)
        self.send_reset(indices, seed=seed, options=options)
        arrivals = self._all(len(indices))
        numbers = [arrival.number for arrival in arrivals]
        infos = LazyInfos(self, numbers, [arrival.info for arrival in arrivals])
        observations = self._batched_observations()
        self._raise_faults(arrivals, (observations, infos))
        return observations, infos

    def step(self, actions: Any) -> Batch:
        """Step all environments and wait for all of them.

        Raises:
            VectorFault: Some failed and `on_fault` is `raise`; the results are in its `batch`.
            ResetNeeded: One has ended and autoreset is disabled.
        """
        listed = self._listed(actions)
        if self._in_step:
            return self._step_in_place(listed)
        self.send(listed)
        arrivals = sorted(self._all(self.num_envs), key=_number)
        return self._batch(
            [arrival.reward for arrival in arrivals],
            [arrival.info for arrival in arrivals],
            arrivals,
        )

    def _step_in_place(self, actions: Sequence[Any]) -> Batch:
        """Step one after another, with as little around each step as can be."""
        observations: list[Any] = []
        rewards: list[Any] = []
        infos: list[dict[str, Any]] = []
        ended: list[Arrival] = []
        for step, action in zip(self._steps, actions, strict=True):
            try:
                observation, reward, terminated, truncated, info = step(action)
            except EnvFault as fault:
                arrival = self._lanes[len(observations)].failed(fault)
            else:
                if not (terminated or truncated):
                    observations.append(observation)
                    rewards.append(reward)
                    infos.append(info)
                    continue
                result = observation, reward, terminated, truncated, info
                arrival = self._lanes[len(observations)].ended(result)
            observations.append(arrival.observation)
            rewards.append(arrival.reward)
            infos.append(arrival.info)
            ended.append(arrival)
        self._latest = observations
        if ended:
            self._in_step = not any(lane.done for lane in self._lanes)
        return self._batch(rewards, infos, ended)

    def _batch(
        self, rewards: list[Any], infos: list[dict[str, Any]], ended: Iterable[Arrival]
    ) -> Batch:
        """Put a step together; `ended` holds at least the arrivals that ended or failed."""
        terminations = np.zeros(self.num_envs, np.bool_)
        truncations = np.zeros(self.num_envs, np.bool_)
        paid = np.zeros(self.num_envs)
        if any(rewards):  # before the end there is rarely one, and zeros are cheaper
            paid[:] = rewards
        for arrival in ended:
            terminations[arrival.number] = arrival.terminated
            truncations[arrival.number] = arrival.truncated
        batch: Batch = (
            self._batched_observations(),
            paid,
            terminations,
            truncations,
            LazyInfos(self, self._numbers, infos),
        )
        if ended:
            self._raise_faults(ended, batch)
        return batch

    # Completion order --------------------------------------------------------------------------

    def send(self, actions: Iterable[Any], indices: Sequence[int] | None = None) -> None:
        """Hand out actions and return at once, environments of this process stepped.

        Args:
            actions: One for each index.
            indices: Which environments; all by default.

        Raises:
            ValueError: The numbers differ, or an environment still owes an answer.
        """
        chosen = range(self.num_envs) if indices is None else indices
        listed = list(actions)
        if len(listed) != len(chosen):
            raise ValueError(f"got {len(listed)} actions for {len(chosen)} environments")
        for index in chosen:
            self._require_idle(index)
            self._lanes[index].require_episode()
        self._in_step = False
        self._dispatcher.launch(
            [
                Call(self._lanes[index], "step", (action,))
                for index, action in zip(chosen, listed, strict=True)
            ]
        )

    def send_reset(
        self,
        indices: Sequence[int] | None = None,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | Sequence[dict[str, Any]] | None = None,
    ) -> None:
        """Start episodes and return at once; `recv` brings the openings, with reward 0.

        Args:
            indices: Which environments; all by default.
            seed: One number, counted up by index, or one for each environment of the vector.
            options: For all, or one for each environment of the vector.
        """
        chosen = range(self.num_envs) if indices is None else indices
        seeds = self._seeds(seed)
        each = self._each(options)
        for index in chosen:
            self._require_idle(index)
        self._in_step = False
        self._dispatcher.launch(
            [Call(self._lanes[index], "reset", (seeds[index], each[index])) for index in chosen]
        )

    def recv(self, min_ready: int = 1, timeout: float | None = None) -> list[Arrival]:
        """Return answers in the order in which they came, at least `min_ready` of them.

        Args:
            min_ready: Wait for this many; no more than are owed.
            timeout: Seconds after which to return what is there, perhaps nothing.

        Raises:
            ValueError: Fewer answers are owed than asked for.
        """
        arrivals = self._dispatcher.collect(min_ready, timeout)
        for arrival in arrivals:
            self._latest[arrival.number] = arrival.observation
        self._in_step = (
            self._lease is None and self.owed == 0 and not any(lane.done for lane in self._lanes)
        )
        return arrivals

    @property
    def owed(self) -> int:
        """How many answers `recv` still has to bring."""
        return self._dispatcher.owed

    # The rest of gymnasium's interface -----------------------------------------------------------

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method of every environment, or read an attribute, and return the results."""
        found = [env.get_wrapper_attr(name) for env in self.envs]
        return tuple(item(*args, **kwargs) if callable(item) else item for item in found)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Read an attribute of every environment."""
        return tuple(env.get_wrapper_attr(name) for env in self.envs)

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute of every environment: one value for all, or a list of one for each."""
        each = values if isinstance(values, (list, tuple)) else [values] * self.num_envs
        for env, value in zip(self.envs, each, strict=True):
            env.set_wrapper_attr(name, value)

    def render(self) -> tuple[Any, ...]:
        """Render every environment."""
        return tuple(env.render() for env in self.envs)

    def close_extras(self, **kwargs: Any) -> None:
        """Cancel what is under way, close the environments, give the loop back."""
        self._dispatcher.cancel()
        for env in self.envs:
            env.close()
        if self._lease is not None:
            self._lease.end()

    # Machinery ---------------------------------------------------------------------------------

    def _all(self, count: int) -> list[Arrival]:
        arrivals: list[Arrival] = []
        while len(arrivals) < count:
            arrivals += self.recv(min(count - len(arrivals), self.owed))
        return arrivals

    def _require_idle(self, index: int) -> None:
        if not 0 <= index < self.num_envs:
            raise ValueError(f"there is no environment {index} among {self.num_envs}")
        if self._dispatcher.flying(index):
            raise ValueError(f"environment {index} still owes an answer; recv() it first")

    def _listed(self, actions: Any) -> Sequence[Any]:
        listed = (
            actions
            if isinstance(actions, (list, tuple))
            else list(iterate(self.action_space, actions))
        )
        if len(listed) != self.num_envs:
            raise ValueError(f"got {len(listed)} actions for {self.num_envs} environments")
        return listed

    def _masked(self, options: Any) -> tuple[Sequence[int], Any]:
        if not isinstance(options, dict) or "reset_mask" not in options:
            return range(self.num_envs), options
        mask = options["reset_mask"]
        if (
            not isinstance(mask, np.ndarray)
            or mask.dtype != np.bool_
            or mask.shape != (self.num_envs,)
            or not mask.any()
        ):
            raise ValueError(
                f"reset_mask must be a boolean array of shape ({self.num_envs},) with at least "
                f"one True, got {mask!r}"
            )
        rest = {name: value for name, value in options.items() if name != "reset_mask"}
        return [int(index) for index in np.flatnonzero(mask)], rest or None

    def _seeds(self, seed: int | Sequence[int | None] | None) -> Sequence[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, (int, np.integer)):
            return [int(seed) + index for index in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise ValueError(f"got {len(seed)} seeds for {self.num_envs} environments")
        return seed

    def _each(self, options: Any) -> Sequence[dict[str, Any] | None]:
        if options is None or isinstance(options, dict):
            return [options] * self.num_envs
        if len(options) != self.num_envs:
            raise ValueError(f"got {len(options)} options for {self.num_envs} environments")
        return cast("Sequence[dict[str, Any]]", options)

    def _batched_observations(self) -> Any:
        if self._as_tuple:
            return tuple(self._latest)
        space = self.single_observation_space
        out = create_empty_array(space, n=self.num_envs, fn=np.zeros)
        return concatenate(space, self._latest, cast("Any", out))

    def _raise_faults(self, arrivals: Iterable[Arrival], batch: Any) -> None:
        faults = {one.number: one.fault for one in arrivals if one.fault is not None}
        if faults and self.on_fault == "raise":
            raise VectorFault(faults, batch)

    def __iter__(self) -> Iterator[Environment]:
        return iter(self.envs)


def make_vector(env: str | Callable[..., Environment], num_envs: int, **kwargs: Any) -> Any:
    """Make a vector of `num_envs` environments.

    Args:
        env: A registered id, or a constructor.
        num_envs: How many.
        **kwargs: `autoreset_mode` and `on_fault` for the vector, the rest for each environment.
    """
    own = {name: kwargs.pop(name) for name in ("autoreset_mode", "on_fault") if name in kwargs}
    maker: Callable[..., Any] = gymnasium.make if isinstance(env, str) else env
    first = (env,) if isinstance(env, str) else ()
    return VectorEnvironment([lambda: maker(*first, **kwargs)] * num_envs, **own)


def vectorised(env: Callable[..., Environment]) -> Callable[..., Any]:
    """Return a function that makes vectors of one class, to be named as `vector_entry_point`."""

    def make(num_envs: int, **kwargs: Any) -> Any:
        return make_vector(env, num_envs, **kwargs)

    return make


def _number(arrival: Arrival) -> int:
    return arrival.number
