"""Inference engines: chat servers, the torch engine in this process, and vLLM servers.

An engine continues messages or tokens and reports usage, log-probabilities and versions. It knows
no environment, no dialect of tool calls and no training step.
"""
