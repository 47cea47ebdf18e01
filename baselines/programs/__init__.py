"""Programs of other makers as agents: run in a sandbox, their calls answered and recorded.

`command` plays trials, `confined` runs a program outside the terminal event, `tool_server` offers
the event's tools, `policies` puts a checkpoint behind the program. Nothing here knows how a program
works: it speaks a chat API and, for tools, the Model Context Protocol.
"""
