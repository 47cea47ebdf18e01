"""The vector entry point of the toy environment."""

from hexathlon.envs.vector import vectorised
from support.toy import ToyEnv

make_vector = vectorised(ToyEnv)
