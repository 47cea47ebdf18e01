"""An environment that cannot fork."""

from support.toy import ToyEnv


class RigidEnv(ToyEnv):
    supports_fork = False
    fork_obstacle = "a reason"
