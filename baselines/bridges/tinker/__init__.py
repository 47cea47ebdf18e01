"""A service in the form of the Tinker API, over a checkpoint on this machine.

The package `tinker` and the recipes of its cookbook train and sample through it: `wire` translates
messages, `losses` has the API's loss functions, `models` trains, `service` keeps models and
samplers, `app` serves. Nothing here knows tasks or rewards.
"""
