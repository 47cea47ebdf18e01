"""Bash scripts that run in a container beside the agent's shell.

Their answers are no more trustworthy than the agent's own; facts that must hold, such as that no
process is left alive, are read from the engine.
"""

__all__ = ["KEEP", "KILL_ALL", "READ", "STOP", "UNPACK", "WAIT_THEN_SHELL", "WRITE"]

KEEP = "trap '' CHLD; : & wait; exec sleep infinity"
"""Process 1: idle, and cannot be killed from inside. It ignores the ends of children, so that
the kernel reaps its orphans (bash sets this once it has had a child, and a program that replaces
it by exec keeps it). The engine's own init would end with the program that it started, which an
agent could kill."""

WAIT_THEN_SHELL = "read -r _; exec /bin/bash --noprofile --norc --noediting -i"
"""Silent until it receives input, so that no frame is lost while the connection is made."""

STOP = """
shell=$1 since=$2 signal=$3 self=$4
declare -A parent started
for file in /proc/[0-9]*/stat; do
  { read -r line < "$file"; } 2>/dev/null || continue
  pid=${file//[^0-9]/}; rest=${line##*) }; set -- $rest
  parent[$pid]=$2; started[$pid]=${20}
done
for pid in "${!parent[@]}"; do
  (( started[$pid] >= since )) || continue
  above=${parent[$pid]}
  while (( above > 1 && above != shell )); do above=${parent[$above]:-0}; done
  if (( above == shell )); then kill -"$signal" "$pid" 2>/dev/null; fi
done
if [ "$self" = yes ]; then kill -"$signal" "$shell" 2>/dev/null; fi
exit 0
"""
"""Signals processes that the shell started since a time (clock ticks), and the shell if asked."""

KILL_ALL = """
for round in 1 2 3 4 5 6 7 8; do
  kill -STOP -1 2>/dev/null
  left=0
  for folder in /proc/[0-9]*; do
    pid=${folder#/proc/}
    if (( pid != 1 && pid != $$ )); then kill -KILL "$pid" 2>/dev/null && left=1; fi
  done
  (( left )) || exit 0
done
exit 0
"""

READ = """
[ -e "$1" ] || exit 2
[ -f "$1" ] || exit 22
exec head -c "$2" -- "$1"
"""

WRITE = """
mkdir -p -- "$(dirname -- "$1")" || exit 1
[ ! -e "$1" ] || [ -f "$1" ] || exit 22
head -c "$2" > "$1" && chmod "$3" -- "$1"
"""

UNPACK = """
if (( $1 )); then head -c "$1" | xargs -0 rm -rf --; fi
head -c "$2" | tar -xp --no-same-owner -C / -f - 2>&1
"""
