"""What is promised to the server's users: protocol, decisions, incidents and mail."""

from hexathlon.tasks.terminal.templates.long.hopper.model import Promise

__all__ = ["documents"]

_PROTOCOL = """# The protocol

`python3 serve.py DATA PORT` listens on 127.0.0.1. Clients send lines in UTF-8, and every command gets
one line in reply, in the order of the commands. A client need not wait for a reply before it sends
the next command, and a line may arrive in pieces. Jobs have ids 1, 2, 3, ... across all queues.

| command | reply | |
|---|---|---|
| `PUT QUEUE [OPTIONS] BODY` | `OK ID` | options are `key=K`, `rank=N`, `delay=SECONDS`, in any order; the body begins at the first word that is not an option and is kept as it is, spaces included |
| `BATCH N`, then N lines `PUT …` | `OK ID ID …` | all of the puts or none; if any fails, the reply is the error of the first that does |
| `TAKE QUEUE SECONDS` | `JOB ID TOKEN TAKES BODY` or `NONE` | holds a job for that long; the highest rank first (0 unless given), then the lowest id; TAKES counts this one |
| `DONE ID TOKEN` | `OK` or `STALE` | the job is finished |
| `FAIL ID TOKEN` | `OK` or `STALE` | the job could not be done |
| `STATS QUEUE` | `STATS READY HELD WAITING DEAD` | numbers of jobs |
| `REVIVE QUEUE` | `OK N` | makes the dead jobs of a queue ready, as if they had never been taken, in their places by id |
| `PING` | `PONG` | |

Anything else gets `ERR command`. A token is a word, and is new for every take. A command with a
token that no longer holds the job gets `STALE` and changes nothing.
"""

_FORMAT = """# Folders of the first server

The first server kept its jobs in DATA/jobs.v1, with tabs between the fields:

    +  ID  QUEUE  RANK  BODY      a job was put
    t  ID                         a job was taken
    -  ID                         a job was finished

When it was killed, its last line could be left without a line end. Such a line was never answered and
does not count. Sometimes the server wrote a job a second time, with a body that was already damaged. The
first line counts.

Nobody holds a job from such a folder any longer, and all are in their places by id. Takes count as they do
now: a job that has none left is dead. Ids that were ever given in the folder are not given again.
"""


def documents(promise: Promise, names: list[str]) -> dict[str, str]:
    """Return the documents by path."""
    return {
        "docs/protocol.md": _PROTOCOL,
        "docs/first-format.md": _FORMAT,
        "decisions/README.md": (
            "# Decisions\n\nDecisions are numbered by date. A later decision replaces what it "
            "contradicts in earlier ones and in docs/, and nothing else. Proposals do not count. "
            "In the mail, what the owner of the server writes counts as a decision of that day.\n"
        ),
        **_decisions(promise),
        **_incidents(),
        **_mails(promise, names),
    }


def _decisions(promise: Promise) -> dict[str, str]:
    made = {
        "2024-02-06-takes": (
            f"A job may be taken {promise.takes + 2} times. If it fails or its time runs out after "
            "that, it is dead and stays so until somebody revives it. A job that failed before "
            "waits for 10 seconds. A job whose time has run out is ready at once."
        ),
        "2024-03-19-keys": (
            "Producers repeat a PUT when they do not know whether it worked. A PUT with a key that "
            "the queue remembers adds nothing and gets the id of the first one, even if that job finished "
            "long ago. With another body it gets `ERR key`. Rank and delay do not matter for "
            "this. A queue remembers the last 100 keys."
        ),
        "2024-04-02-full": (
            f"A queue holds {promise.limit} jobs, whether ready, held or waiting. A PUT beyond that "
            "gets `ERR full`. Dead jobs do not take up room."
        ),
        "2024-05-14-long-lines": (
            "Lines of more than 65,536 bytes get `ERR long`. The connection goes on with the next line."
        ),
        "2024-06-25-keys": (
            f"100 keys are too many. From now on a queue remembers its last {promise.keys} keys, in "
            "the order of the PUTs that used them first; repeating a key does not make it newer."
        ),
        "2024-07-09-proposal-full": (
            "Proposal, not decided: dead jobs should take up room as well, so that somebody deals with them."
        ),
        "2024-08-20-takes": (
            f"Jobs may be taken {promise.takes} times, not {promise.takes + 2}, and wait for "
            f"{promise.rest} seconds after a FAIL, not for 10. If the last of these takes fails, "
            "the job is dead at once."
        ),
        "2024-09-03-full": (
            "A repeated PUT adds nothing, so it gets its id from a full queue, too."
        ),
        "2024-10-15-done": (
            "Consumers repeat a DONE as well. A DONE with the token with which the job was finished "
            "gets `OK` again. The last 1,000 are enough."
        ),
    }
    if promise.has("renew"):
        made["2024-11-05-renew"] = (
            "New: `RENEW ID TOKEN SECONDS`. The job is held for that long from now, but at most until "
            f"{promise.longest} seconds after it was taken. The reply is `OK` or "
            "`STALE`. For a TAKE there is no such limit."
        )
    if promise.has("ttl"):
        made["2024-11-12-ttl"] = (
            "New option of PUT: `ttl=SECONDS`. A job that nobody has taken by then is dead, even if "
            "it is still waiting for its delay. Once it has been taken, the time no longer "
            "matters, nor does it after REVIVE."
        )
    if promise.has("any_queue"):
        made["2024-11-19-any-queue"] = (
            "`TAKE * SECONDS` takes a job from any queue that has a ready one: from the queue whose "
            "last take, of either kind, is longest ago. Queues from which nothing was ever taken "
            "come first. Among equals the name decides. Within the queue everything is as usual."
        )
    if promise.has("after"):
        made["2024-11-26-after"] = (
            "New option of PUT: `after=ID`. The job waits until that job is finished, and is ready "
            "then. If that job dies, it dies with it, and so do those that wait for it in turn. If "
            "that job is dead already, it is dead at once. A job that is finished, or that never "
            "existed, is not waited for."
        )
    return {f"decisions/{name}.md": f"{text}\n" for name, text in made.items()}


def _incidents() -> dict[str, str]:
    made = {
        "2024-03-11-lost": (
            "The machine's watchdog killed the server (signal 9). 14 jobs whose PUT had been answered "
            "were gone, and 3 came again although their DONE had been answered. What has been "
            "answered must hold, whenever the server is killed. What has not been answered may hold "
            "or not, but a PUT or a BATCH never holds in part."
        ),
        "2024-04-22-two-servers": (
            "Somebody started a second server on the same folder, on another port. Both wrote. A second server "
            "has to end with status 4 and must not change anything."
        ),
        "2024-05-30-numbers": (
            "After a restart the server gave an id again that a finished job had had. Consumers "
            "mixed them up. Ids must never come back."
        ),
        "2024-07-18-disc": (
            "The folder grew to 40 GB, with 12 jobs in it. A folder with few jobs has to remain "
            "below 400,000 bytes at any time, however many jobs went through it."
        ),
        "2024-08-08-silent-client": (
            "A client sent half a line and went to sleep. Nobody else got an answer until it was cut off."
        ),
        "2024-09-27-stop": (
            "The unit file sends signal 15. The server has to end with status 0 within 2 seconds, and "
            "what is true for a kill holds here as well."
        ),
        "2024-10-30-start": (
            "The server was killed in the middle of its first start on a folder of the first server. On "
            "the next start half of the jobs existed twice. The takeover has to withstand any number of kills."
        ),
    }
    return {f"incidents/{name}.md": f"{text}\n" for name, text in made.items()}


_ANSWERS = {
    "back_of_line": (
        "order after a failure",
        "A job that fails comes back to its old place and blocks those behind it.",
        "A job that comes back after a FAIL, or because its time ran out, goes behind all jobs of "
        "its rank that did not, even later ones. Several come back in the order of their times. "
        "A job that only waited for its delay was never taken, and keeps its place by id.",
    ),
    "restart_voids": (
        "held jobs after a restart",
        "When the server restarts, the consumers are restarted, too. Their jobs are held for an "
        "hour by nobody.",
        "At a start, every job that is held is ready again, in its old place, as if that take had "
        "not been. Its token is worth nothing. If the time had run out by the start, it ran "
        "out, and the take counts.",
    ),
    "dead_frees_key": (
        "keys of dead jobs",
        "A dead job keeps its key. We cannot put the corrected job.",
        "When a job dies, the queue forgets its key. Reviving the job does not bring the key back.",
    ),
    "revive_once": (
        "revived jobs",
        "REVIVE starts all over. Poisonous jobs come back for days.",
        "A revived job may be taken once. If that does not help either, it is dead. TAKES goes on "
        "accordingly, with the largest number that there is.",
    ),
}


def _mails(promise: Promise, names: list[str]) -> dict[str, str]:
    owner, *others = names
    threads = [_ANSWERS[twist] for twist in sorted(promise.twists) if twist in _ANSWERS]
    if not promise.has("restart_voids"):
        threads.append((
            "held jobs after a restart", "What happens to held jobs when the server restarts?",
            "Nothing. Who holds a job holds it for its time, by the clock, over restarts as well.",
        ))  # fmt: skip
    threads.append((
        "order of waiting", "Should a delayed job lose its place?",
        "No. When the delay is over, it is ready in its place by rank and id.",
    ))  # fmt: skip
    opinions = (
        ("keys", "I would let a key be forgotten when its job is finished."),
        ("stale tokens", "It would be friendlier to answer OK to everything that is finished."),
        (
            "batches",
            "I read BATCH so that those that fit are added. That is how my client treats it.",
        ),
    )
    texts = [
        f"From: {others[place % len(others)]}\nTo: {owner}\nSubject: {subject}\n\n{question}\n\n----\n"
        f"From: {owner} (owner of the server)\nSubject: Re: {subject}\n\n{answer}\n"
        for place, (subject, question, answer) in enumerate(threads)
    ] + [
        f"From: {others[place % len(others)]}\nTo: all\nSubject: {subject}\n\n{text}\n"
        for place, (subject, text) in enumerate(opinions)
    ]
    order = sorted(texts, key=lambda text: (len(text) * 7919) % 101)
    return {f"mail/2024-12-{place:02d}.txt": text for place, text in enumerate(order, 2)}
