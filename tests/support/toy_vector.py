"""The vector entry point of the toy environment."""

from support.toy import ToyEnv

from hexathlon.envs.vector import vectorised

make_vector = vectorised(ToyEnv)
