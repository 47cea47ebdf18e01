"""Trajectories, results and task sets in the formats of other tools.

`ChatTranscript` is the common form: messages and tools as in OpenAI chat completions, and the
verdict. Each module reads or writes one format. Playing and scoring are left to `harness`, live
episodes in other tools to `bridges`.
"""
