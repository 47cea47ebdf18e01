"""Several processes, and the way of the weights from the learner to an engine.

Collectives over torch.distributed, the launch of further rank processes, and weight transports. The
protocols that they implement stand with those who use them: `learner.ranks` and, for executors of
rollouts, `rollout.executor`. It knows no recipe, no task and no algorithm: a rank process is given
the name of a function to run.
"""
