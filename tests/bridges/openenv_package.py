"""An event as a package for `openenv validate`, and a provider that starts it without Docker.

The provider runs the server as a process of this machine; it enforces neither limits nor a network
policy, so checks that need these are skipped, and the report says so.
"""

import hashlib
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
from bridges.contract import EVENT, gold
from openenv.validation import run_validation

_MANIFEST = {
    "spec_version": 1,
    "name": "hexathlon-sql",
    "version": "0.1.0",
    "validation": {
        "reward": {"range": [0.0, 1.0], "oracle_tolerance": 0.0, "floor_margin": 1.0},
        "resources": {"cpu": 1.0, "memory_mb": 1024, "disk_mb": 1024, "episode_timeout_s": 600.0},
        "capabilities": {"verifier": {"kind": "reward_channel"}, "task_api": True},
        "types": {"tags": ["tool-use", "database"]},
        "network": {"mode": "public"},
        "execution": {"kind": "openenv_ws", "probe_path": "validation/runtime.json"},
    },
}
_DOCKERFILE = f"""FROM python:3.11-slim
RUN pip install 'hexathlon[openenv]==0.1.0'
CMD ["hexathlon", "serve", "envs", "{EVENT}", "--host", "0.0.0.0", "--port", "8000"]
"""
SERVE = (sys.executable, "-c", "from hexathlon_cli import main; main()", "serve", "envs", EVENT)


def write_package(folder: Path) -> Path:
    """Write the package: a manifest, a Dockerfile, and the oracle's episode as the runtime plan."""
    played = gold()[0]
    chosen = {"task": played.task}
    plan = {
        "plan_schema_version": "1",
        "reset": {"episode_id": "validation", "seed": played.seed, "options": chosen},
        "actions": [{"text": action} for action in played.actions],
    }  # fmt: skip
    (folder / "validation").mkdir(parents=True)
    (folder / "openenv.yaml").write_text(json.dumps(_MANIFEST, indent=2))  # YAML contains JSON
    (folder / "Dockerfile").write_text(_DOCKERFILE)
    (folder / "validation" / "runtime.json").write_text(json.dumps(plan))
    return folder


class ProcessProvider:
    """Starts `hexathlon serve envs` on loopback."""

    name = "process"
    capabilities: frozenset[Any]
    supported_network_modes = frozenset(["public"])

    def __init__(self) -> None:
        from openenv.validation import ProviderCapability

        self.capabilities = frozenset([ProviderCapability.IMAGE_BUILD])

    def build(self, root: Path, execution: Any) -> str:
        """Return the hash of the package; there is no image."""
        files = sorted(path for path in root.rglob("*") if path.is_file())
        return f"sha256:{hashlib.sha256(b''.join(path.read_bytes() for path in files)).hexdigest()}"

    def start(self, spec: Any) -> "_Process":
        """Start the server and wait until it is healthy."""
        return _Process(spec.startup_timeout_s)


class _Process:
    def __init__(self, seconds: float) -> None:
        command = [*SERVE, "--port", "0"]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self._process.stderr
        said = next(line for line in self._process.stderr if "is served on" in line)
        self.base_url = said.split("served on ")[1].split()[0]
        until = time.monotonic() + max(seconds, 120.0)
        with httpx.Client() as client:
            while not _healthy(client, self.base_url):
                assert time.monotonic() < until, "the server did not become healthy"

    def inspect(self) -> dict[str, Any]:
        return {"command": "hexathlon serve envs SQL", "isolation": "none"}

    def logs(self, max_bytes: int = 65536) -> str:
        return ""

    def exec(self, argv: list[str], timeout_s: float) -> Any:
        raise NotImplementedError

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(60)


def _healthy(client: httpx.Client, url: str) -> bool:
    try:
        return client.get(f"{url}/health").status_code == 200
    except httpx.TransportError:
        return False


def validated(folder: Path) -> dict[str, Any]:
    """Validate the package up to the semantic level and return OpenEnv's report."""
    report = run_validation(write_package(folder), provider=ProcessProvider())
    data: dict[str, Any] = json.loads(report.model_dump_json())
    return data
