"""The served engine: token sampling by a vLLM server over HTTP.

It starts servers, requests continuations of token ids, updates weights and verifies the updates.
Producing the weights is left to the learner.
"""
