"""A vector environment that answers in completion order.

`step` and `reset` work in lock-step like Gymnasium's. In addition, `send` dispatches actions and
`recv` returns whatever has completed, so that a slow environment does not block the others.
Environments in this process are stepped in place, without threads; coroutine environments and
those in worker processes are awaited together on one event loop. A vector may mix both.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Tuple
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from hexathlon.envs.forking import AnyEnv
from hexathlon.envs.loops import LoopLease
from hexathlon.envs.vector import batching
from hexathlon.envs.vector.batching import OnFault, VectorFault
from hexathlon.envs.vector.dispatch import Dispatcher, PendingCall
from hexathlon.envs.vector.infos import LazyInfos, lazy_infos
from hexathlon.envs.vector.inplace import InPlace
from hexathlon.envs.vector.lanes import Arrival, Lane

__all__ = ["VectorEnvironment", "make_vector", "vectorised"]

Batch = tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class VectorEnvironment(VectorEnv[Any, Any, Any]):
    """Several environments of one kind, side by side.

    Args:
        env_fns: One constructor per environment.
        autoreset_mode: One of Gymnasium's three modes. Disabled by default: rollouts reset
            selected environments with `options={"reset_mask": …}` or `send_reset`.
        on_fault: How lock-step calls handle faults; `recv` always reports them.

    Raises:
        ValueError: If there is no environment, or their spaces differ.
    """

    def __init__(
        self,
        env_fns: Iterable[Callable[[], AnyEnv]],
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
        batching.require_equal_spaces(self.envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._as_tuple = isinstance(self.observation_space, Tuple)
        self._lanes = [
            Lane(number, env, self.autoreset_mode) for number, env in enumerate(self.envs)
        ]
        self._in_place = InPlace(self._lanes)
        self._numbers = range(self.num_envs)
        self._in_step = False  # whether all episodes run in this process with no answer pending
        self._goes_on = False  # whether all episodes continue after the last `send`
        self._latest = [lane.blank for lane in self._lanes]
        inline = not any(lane.awaits for lane in self._lanes)
        self._lease = None if inline else LoopLease(self)
        self._dispatcher = Dispatcher(self._lease)

    # Lock-step ---------------------------------------------------------------------------------

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | Sequence[dict[str, Any]] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Reset all environments, or those selected by `options["reset_mask"]`.

        Args:
            seed: One number, incremented per environment, or one for each.
            options: For all, or one for each.
        """
        indices, options = batching.unmasked(options, self.num_envs)
        self.send_reset(indices, seed=seed, options=options)
        arrivals = self._all(len(indices))
        numbers = [arrival.number for arrival in arrivals]
        infos = lazy_infos(self, numbers, [arrival.info for arrival in arrivals])
        observations = self._batched_observations()
        self._raise_faults(arrivals, (observations, infos))
        return observations, infos

    def step(self, actions: Any) -> Batch:
        """Step all environments and wait for all of them.

        Raises:
            VectorFault: If some failed and `on_fault` is `raise`; the results are in its `batch`.
            ResetNeeded: If an episode has ended and autoreset is disabled.
        """
        if not isinstance(actions, (list, tuple)) or len(actions) != self.num_envs:
            actions = batching.actions_for(actions, self.action_space, self.num_envs)
        if not self._in_step:
            self.send(actions)
            arrivals = sorted(self._all(self.num_envs), key=_number)
            return self._batch([arrival.info for arrival in arrivals], arrivals)
        self._latest, infos, eventful = self._in_place.step(actions)
        if eventful or not self._as_tuple:
            self._in_step = not any(lane.done for lane in self._lanes)
            return self._batch(infos, eventful)
        count = self.num_envs
        merged = LazyInfos()  # as in `_batch`, without the calls
        merged.source = self, self._numbers, infos
        rewards, terminations, truncations = (
            _zeros(count),
            _zeros(count, _BOOL),
            _zeros(count, _BOOL),
        )
        return tuple(self._latest), rewards, terminations, truncations, merged

    def _batch(self, infos: list[Any], eventful: Sequence[Arrival]) -> Batch:
        """Assemble the batch of a step; answers not in `eventful` have no reward and no end."""
        count = self.num_envs
        batch: Batch = (
            tuple(self._latest) if self._as_tuple else self._batched_observations(),
            _zeros(count),
            _zeros(count, _BOOL),
            _zeros(count, _BOOL),
            lazy_infos(self, self._numbers, infos),
        )
        if eventful:
            _, rewards, terminations, truncations, _ = batch
            for arrival in eventful:
                rewards[arrival.number] = arrival.reward
                terminations[arrival.number] = arrival.terminated
                truncations[arrival.number] = arrival.truncated
            self._raise_faults(eventful, batch)
        return batch

    # Completion order --------------------------------------------------------------------------

    def send(self, actions: Iterable[Any], indices: Sequence[int] | None = None) -> None:
        """Dispatch actions and return at once; in-process environments are stepped in place.

        Args:
            actions: One for each index.
            indices: Which environments; all by default.

        Raises:
            ValueError: If the counts differ, or an environment has a pending answer.
        """
        listed = actions if isinstance(actions, list) else list(actions)
        if self._in_step and indices is None and len(listed) == self.num_envs:
            self._in_step = False
            self._goes_on = self._in_place.send(listed, self._dispatcher.arrive, self._latest)
            return
        chosen = self._numbers if indices is None else indices
        if len(listed) != len(chosen):
            raise ValueError(f"got {len(listed)} actions for {len(chosen)} environments")
        for index in chosen:
            self._require_idle(index)
            self._lanes[index].require_episode()
        self._in_step = self._goes_on = False
        self._dispatcher.launch(
            [
                PendingCall(self._lanes[index], "step", (action,))
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
        """Start episodes without waiting; `recv` returns the openings, with reward 0.

        Args:
            indices: Which environments; all by default.
            seed: One number, incremented by index, or one for each environment of the vector.
            options: For all, or one for each environment of the vector.
        """
        chosen = self._numbers if indices is None else indices
        seeds = batching.seeds_for(seed, self.num_envs)
        each = batching.options_for(options, self.num_envs)
        for index in chosen:
            self._require_idle(index)
        self._in_step = self._goes_on = False
        self._dispatcher.launch(
            [
                PendingCall(self._lanes[index], "reset", (seeds[index], each[index]))
                for index in chosen
            ]
        )

    def recv(self, min_ready: int = 1, timeout: float | None = None) -> list[Arrival]:
        """Return at least `min_ready` answers, in order of completion.

        Args:
            min_ready: Minimum number of answers; at most the number pending.
            timeout: Seconds after which to return the available answers, possibly none.

        Raises:
            ValueError: If fewer answers are pending than requested.
        """
        arrivals = self._dispatcher.collect(min_ready, timeout)
        if self._goes_on:
            self._in_step = True
            return arrivals
        for arrival in arrivals:
            self._latest[arrival.number] = arrival.observation
        if self._lease is None:  # no answers are pending from here on
            self._in_step = not any(lane.done for lane in self._lanes)
        return arrivals

    @property
    def pending(self) -> int:
        """Number of answers that `recv` has yet to return."""
        return self._dispatcher.pending

    # The rest of gymnasium's interface -----------------------------------------------------------

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method of every environment, or read an attribute, and return the results."""
        attributes = [env.get_wrapper_attr(name) for env in self.envs]
        return tuple(item(*args, **kwargs) if callable(item) else item for item in attributes)

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
        """Cancel pending calls, close the environments and end the lease on the event loop."""
        self._dispatcher.cancel()
        for env in self.envs:
            env.close()
        if self._lease is not None:
            self._lease.end()

    # Internals ---------------------------------------------------------------------------------

    def _all(self, count: int) -> list[Arrival]:
        arrivals: list[Arrival] = []
        while len(arrivals) < count:
            arrivals += self.recv(min(count - len(arrivals), self.pending))
        return arrivals

    def _require_idle(self, index: int) -> None:
        if not 0 <= index < self.num_envs:
            raise ValueError(f"there is no environment {index} among {self.num_envs}")
        if self._dispatcher.in_flight(index):
            raise ValueError(f"environment {index} has a pending answer; call recv() first")

    def _batched_observations(self) -> Any:
        if self._as_tuple:
            return tuple(self._latest)
        return batching.stacked(self.single_observation_space, self._latest)

    def _raise_faults(self, arrivals: Iterable[Arrival], batch: Any) -> None:
        faults = {one.number: one.fault for one in arrivals if one.fault is not None}
        if faults and self.on_fault == "raise":
            raise VectorFault(faults, batch)

    def __iter__(self) -> Iterator[AnyEnv]:
        return iter(self.envs)


def make_vector(env: str | Callable[..., AnyEnv], num_envs: int, **kwargs: Any) -> Any:
    """Make a vector of `num_envs` environments.

    Args:
        env: A registered id, or a constructor.
        num_envs: Number of environments.
        **kwargs: `autoreset_mode` and `on_fault` for the vector, the rest for each environment.
    """
    own = {name: kwargs.pop(name) for name in ("autoreset_mode", "on_fault") if name in kwargs}
    maker: Callable[..., Any] = gymnasium.make if isinstance(env, str) else env
    first = (env,) if isinstance(env, str) else ()
    return VectorEnvironment([lambda: maker(*first, **kwargs)] * num_envs, **own)


def vectorised(env: Callable[..., AnyEnv]) -> Callable[..., Any]:
    """Return a function that makes vectors of one class, for use as `vector_entry_point`."""

    def make(num_envs: int, **kwargs: Any) -> Any:
        return make_vector(env, num_envs, **kwargs)

    return make


_number = attrgetter("number")
_zeros = np.zeros
_BOOL = np.dtype(bool)  # a dtype is faster to look up than a type
