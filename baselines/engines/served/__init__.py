"""The served engine: token sampling by a vLLM server over HTTP.

It starts servers, asks for continuations by token ids, updates weights and verifies updates. Which
weights to publish is left to the learner.
"""
