"""Records of runs: plans, trials, hash chains, and the media that messages name.

A run directory contains ``plan.json`` and ``records.jsonl``. Each line has the hash of the line
before it (the first one that of the plan), so changing, removing or reordering lines is detected.
Canonical form, plan, trial, chain, media, reader and writer have separate modules; the names
that most callers need are exported here. Playing and scoring trials is left to others.
"""

from hexathlon.evaluators.records.chain import ChainFault, check_chain
from hexathlon.evaluators.records.media import MEDIA_FOLDER, MediaStore, read_content, stored_media
from hexathlon.evaluators.records.plan import TrialKey, plan_hash
from hexathlon.evaluators.records.reader import (
    RECORDS_FILE,
    TornLineWarning,
    completed_keys,
    read_records,
    records_file,
)
from hexathlon.evaluators.records.trial import (
    RECORD_SCHEMA,
    RecordError,
    TrialRecord,
    record_hash,
    record_key,
)
from hexathlon.evaluators.records.writer import RecordWriter, RunLocked, recover_torn_line

__all__ = [
    "MEDIA_FOLDER",
    "RECORDS_FILE",
    "RECORD_SCHEMA",
    "ChainFault",
    "MediaStore",
    "RecordError",
    "RecordWriter",
    "RunLocked",
    "TornLineWarning",
    "TrialKey",
    "TrialRecord",
    "check_chain",
    "completed_keys",
    "plan_hash",
    "read_content",
    "read_records",
    "record_hash",
    "record_key",
    "records_file",
    "recover_torn_line",
    "stored_media",
]
