"""Example command lines, shown at the end of each command's help."""

__all__ = ["EXAMPLES", "examples"]

EXAMPLES = {
    "list": ("hexathlon list", "hexathlon list --json"),
    "show": ("hexathlon show SQL", "hexathlon show sql/filter_rows/tiny/test/00000"),
    "play": (
        "hexathlon play SQL",
        "hexathlon play Shopping --level tiny --template dialogue",
        "hexathlon play RolePlay --language zh --seed 7",
        "hexathlon play SQL --jsonl --tasks 5 --verdicts verdicts.jsonl",
    ),
    "eval": (
        "hexathlon eval agent:oracle --envs SQL --tasks 20 --out runs/oracle",
        "hexathlon eval endpoint:http://127.0.0.1:8000/v1#name --envs SQL,Shopping --out runs/mine",
        "hexathlon eval runs/first/policy --envs SQL --level tiny --with-anchors --out runs/tiny",
        "hexathlon eval agent:noop --envs SQL --taskset chinook --tasks 0 --dry-run",
    ),
    "harness": (
        "hexathlon harness --envs Terminal --tasks 20 --model runs/first/policy --keep-tokens "
        "--out runs/mine -- python3 agent.py {prompt}",
        "hexathlon harness --envs Shopping --model endpoint:URL#NAME --mount ~/agents --out runs/a "
        "-- node ~/agents/agent.js",
    ),
    "resume": (
        "hexathlon resume runs/mine",
        "hexathlon resume runs/mine --retry-infra --concurrency 4",
        "hexathlon resume runs/first/after --with-anchors",
    ),
    "rescore": ("hexathlon rescore runs/mine --out runs/mine-rescored",),
    "verify": (
        "hexathlon verify runs/mine",
        "hexathlon verify runs/unfinished --allow-incomplete",
    ),
    "compare": (
        "hexathlon compare runs/oracle runs/noisy",
        "hexathlon compare runs/oracle runs/noisy --json",
    ),
    "arena": (
        "hexathlon arena agent:oracle agent:noisy:0.2 agent:random --scenes 40 --out runs/arena",
        "hexathlon arena runs/a runs/b --judge endpoint:http://127.0.0.1:8000/v1#judge --out "
        "runs/arena",
    ),
    "report": (
        "hexathlon report runs/mine",
        "hexathlon report runs/mine --format markdown --out report.md",
        "hexathlon report runs/mine --anchor runs/oracle",
    ),
    "export": (
        "hexathlon export runs/mine --format openai --min-reward 1 --out finetuning.jsonl",
        "hexathlon export runs/mine --format every-eval-ever --out records",
        "hexathlon export runs/terminal --format asciicast --out recordings",
        "hexathlon export SQL --format datasets --count 1000 --out sql-tasks",
        "hexathlon export Terminal --format harbor --level easy --out tasks",
    ),
    "import": (
        "hexathlon import traces.jsonl --format verifiers --out transcripts.jsonl",
        "hexathlon import logs/sql.eval --format inspect --replay --out transcripts.jsonl",
    ),
    "cache": ("hexathlon cache info",),
    "cache info": ("hexathlon cache info", "hexathlon cache info --json"),
    "cache clear": ("hexathlon cache clear",),
    "data": ("hexathlon data list", "hexathlon data add spider downloads/spider_data.zip"),
    "data list": ("hexathlon data list", "hexathlon data list --json"),
    "data add": (
        "hexathlon data add spider downloads/spider_data.zip",
        "hexathlon data add tau2-retail tau2-bench/data/tau2/domains/retail --replace",
    ),
    "data check": ("hexathlon data check spider",),
    "leaderboard build": (
        "hexathlon leaderboard build runs/oracle runs/noisy --out site",
        "hexathlon leaderboard build runs --verify",
        "hexathlon leaderboard build runs --verify --plan HASH --salt-file SECRET",
    ),
    "submit prepare": (
        "hexathlon submit prepare runs/mine --organisation Mine --trained-on none",
        "hexathlon submit prepare runs/mine --organisation Mine --trained-on train --key mine.key",
    ),
    "submit key": ("hexathlon submit key mine.key",),
    "submit sign": ("hexathlon submit sign submissions/mine-0123456789 --key us.key --name Us",),
    "submit schema": ("hexathlon submit schema",),
    "leaderboard add": (
        "hexathlon leaderboard add board submissions/mine-0123456789 --by maintainers",
    ),
    "leaderboard verify": (
        "hexathlon leaderboard verify board",
        "hexathlon leaderboard verify board --no-replay --head 3f2a90",
    ),
    "leaderboard remove": (
        'hexathlon leaderboard remove board mine-0123456789 --why "withdrawn" --by maintainers',
    ),
    "leaderboard rerun": (
        "hexathlon leaderboard rerun board mine-0123456789 --by maintainers --out runs/again",
    ),
    "leaderboard commit": (
        "hexathlon leaderboard commit board --salt-file round.salt --by maintainers",
    ),
    "leaderboard reveal": (
        "hexathlon leaderboard reveal board --salt-file round.salt --by maintainers",
    ),
    "leaderboard ledger": ("hexathlon leaderboard ledger board",),
    "leaderboard serve": ("hexathlon leaderboard serve site --base /hexathlon/",),
    "leaderboard unpack": (
        "hexathlon leaderboard unpack site/runs/mine-0123456789 --out runs/mine",
    ),
    "train": (
        "hexathlon train",
        "hexathlon train sql-tiny --print-config",
        "hexathlon train sql-tiny --out runs/first",
        "hexathlon train --watch runs/first",
    ),
    "train run": (
        "hexathlon train sql-tiny --out runs/first",
        "hexathlon train sql-tiny --set seed=1 --set rollout.groups=8 --out runs/second",
        "hexathlon train sql-tiny --print-config",
    ),
    "train init": (
        "hexathlon train init --env SQL --level tiny --out policies/fresh",
        "hexathlon train init --env RolePlay --clone 200 --width 128 --out policies/cloned",
    ),
    "terminal check": (
        "hexathlon terminal check data/harbor",
        "hexathlon terminal check data/harbor --sample 20 --out checked.jsonl",
    ),
    "terminal prefetch": (
        "hexathlon terminal prefetch data/harbor --list",
        "hexathlon terminal prefetch data/harbor --only pandas,scipy",
    ),
    "terminal run": (
        "hexathlon terminal run tasks/fix-build",
        "hexathlon terminal run tasks/fix-build --agent noop --sandbox namespaces",
    ),
    "serve envs": (
        "hexathlon serve envs SQL --level tiny --port 8000",
        "hexathlon serve envs Shopping --dialect hermes --sessions 128",
    ),
    "serve ors": (
        "hexathlon serve ors SQL --level tiny --port 8080",
        "hexathlon serve ors Shopping --deadline 60",
    ),
    "serve policy": (
        "hexathlon serve policy runs/first/policy",
        "hexathlon serve policy runs/first/policy --port 8001 --name mine",
    ),
    "serve tinker": (
        "hexathlon serve tinker runs/first/policy --port 8002",
        "hexathlon serve tinker runs/first/policy --out runs/tinker",
    ),
    "serve mcp": (
        "hexathlon serve mcp Shopping --level easy --seed 7 --verdicts verdicts.jsonl",
        "hexathlon serve mcp SQL --task sql/filter_rows/tiny/test/00000",
    ),
    "judge": (
        "hexathlon judge audit --model endpoint:http://127.0.0.1:8000/v1#judge",
        "hexathlon judge runs/mine --model endpoint:http://127.0.0.1:8000/v1#judge",
    ),
    "judge run": (
        "hexathlon judge runs/mine --model endpoint:http://127.0.0.1:8000/v1#judge",
        "hexathlon judge runs/mine --model endpoint:URL#a --model endpoint:URL#b --audit a.json",
    ),
    "judge audit": (
        "hexathlon judge audit --model endpoint:http://127.0.0.1:8000/v1#judge --out audit.json",
        "hexathlon judge audit --model endpoint:URL#judge --labels labels.jsonl --rubric mine.toml",
    ),
    "judge criteria": (
        "hexathlon judge criteria --model endpoint:http://127.0.0.1:8000/v1#judge "
        "--question question.txt --out written.toml",
    ),
    "judge gap": (
        "hexathlon judge gap runs/step-0 runs/step-10 runs/step-20 runs/step-30 --reward small "
        "--held-out large",
    ),
    "judge shift": ("hexathlon judge shift runs/shift --scorer checkpoints/reference",),
    "judge label": ("hexathlon judge label runs/mine --labels mine.jsonl --annotator kim",),
    "judge labels": ("hexathlon judge labels --out labels.jsonl --items 600",),
    "judge lint": ("hexathlon judge lint shopkeeper", "hexathlon judge lint mine.toml"),
    "selftest": (
        "hexathlon selftest --env SQL --tasks 20",
        "hexathlon selftest --env Terminal --tasks 20 --sandbox namespaces --sandbox docker",
        "hexathlon selftest --env Shopping --kind oracle --workers 2",
    ),
    "plan": (
        "hexathlon plan sql-tiny --gpus 1",
        "hexathlon plan sql-tiny --from runs/first --model config.json --gpus 8 --price 2.5",
        "hexathlon plan sql-tiny --gpus 8 --machines 4 --device h200 --env-seconds 40",
    ),
    "doctor": ("hexathlon doctor", "hexathlon doctor --json"),
}
"""Command lines by command. Tests parse all of them and run those that are quick."""


def examples(command: str) -> str:
    """Return the end of a command's help."""
    # The first line keeps the help formatter from joining the others.
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in EXAMPLES[command])])
