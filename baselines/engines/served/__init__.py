"""The served engine: a vLLM server that draws the tokens, over HTTP."""
