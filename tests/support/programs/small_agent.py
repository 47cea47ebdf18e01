"""A program as others write them, with the standard library only: chat completions and tools.

With HEXATHLON_MCP it calls the tools of that server, else commands in the shell around it.
"""

import json
import os
import subprocess
import sys
import urllib.request


def post(url, body):
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request) as reply:
        return json.loads(reply.read())


def rpc(method, **given):
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": given}
    return post(os.environ["HEXATHLON_MCP"], body)["result"]


def bash(command):
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    return done.stdout + done.stderr


def tools():
    if "HEXATHLON_MCP" not in os.environ:
        parameters = {"type": "object", "properties": {"command": {"type": "string"}}}
        return [{"name": "bash", "description": "Run.", "parameters": parameters}]
    rpc("initialize", protocolVersion="2025-06-18", capabilities={})
    return [
        {
            "name": f"mcp_{t['name']}",
            "description": t["description"],
            "parameters": t["inputSchema"],
        }
        for t in rpc("tools/list")["tools"]
    ]


def run(call):
    arguments = json.loads(call["function"]["arguments"])
    name = call["function"]["name"]
    if name == "bash":
        return bash(arguments["command"])
    result = rpc("tools/call", name=name.removeprefix("mcp_"), arguments=arguments)
    return "\n".join(part.get("text", "") for part in result["content"])


def main(prompt):
    offered = [{"type": "function", "function": tool} for tool in tools()]
    messages = [{"role": "user", "content": prompt}]
    for _ in range(int(os.environ.get("STEPS", "40"))):
        body = {"model": os.environ["OPENAI_MODEL"], "messages": messages, "tools": offered}
        url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
        message = post(url, body)["choices"][0]["message"]
        messages.append(message)
        if not message.get("tool_calls"):
            print(message["content"])
            return
        for call in message["tool_calls"]:
            result = run(call)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


main(sys.argv[1])
