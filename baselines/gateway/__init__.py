"""A model behind the chat APIs that other programs speak, over HTTP.

A request in any of the APIs is answered by an engine: a model on a server, or a checkpoint, whose
tokens are kept. Nothing here knows environments, rewards or training.
"""
