"""The four chat APIs in use: OpenAI chat, OpenAI responses, Anthropic messages and Gemini.

Each module translates between one API and requests and replies of engines, in both directions:
clients build bodies and read replies, servers read bodies and write replies. Nothing here
accesses the network.
"""
