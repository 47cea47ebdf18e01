"""Programs that every machine has: services, releases, generated configuration."""

from hexathlon.tasks.terminal.templates.shifts.job import Machine

__all__ = ["add_tools"]

_CTL = """#!/bin/bash
# ctl start|stop|status NAME: a service of srv/
cd /app || exit 1
pid=/tmp/$2.pid
[ -f "srv/$2/server.py" ] || { echo "ctl: there is no service $2" >&2; exit 2; }
alive() { [ -f $pid ] && kill -0 "$(cat $pid)" 2>/dev/null; }
case $1 in
start)
  alive && exit 0
  setsid python3 "srv/$2/server.py" </dev/null >"/tmp/$2.out" 2>&1 &
  echo $! >$pid
  for _ in $(seq 400); do
    [ -e "/tmp/$2.ready" ] && [ "$(cat "/tmp/$2.ready")" = "$(cat $pid)" ] && exit 0
    alive || break
    sleep 0.02
  done
  echo "ctl: $2 does not come up; see /tmp/$2.out" >&2
  exit 1 ;;
stop)
  alive && kill -9 "$(cat $pid)"
  rm -f $pid "/tmp/$2.ready" ;;
status)
  alive && echo running || { echo stopped; exit 3; } ;;
*)
  echo "usage: ctl start|stop|status NAME" >&2; exit 2 ;;
esac
"""

_RELEASE = """#!/bin/bash
# release NAME VERSION: installs releases/NAME-VERSION over srv/NAME, its configuration with it
cd /app || exit 1
from="releases/$1-$2"
[ -d "$from" ] || { echo "release: there is no $from" >&2; exit 2; }
for path in "$from"/*; do
  name=$(basename "$path")
  case $name in
  *.in) install -m ETC_MODE "$path" "etc/templates/$name" ;;
  *) install -m 644 "$path" "srv/$1/$name" ;;
  esac
done
bin/cron/render
echo "release: $1 $2 installed"
"""

_RENDER = """#!/usr/bin/env python3
# render: writes etc/NAME from etc/templates/NAME.in, filling in @KEY@ from etc/site.env
import os
os.chdir("/app/etc")
site = dict(line.strip().split("=", 1) for line in open("site.env") if "=" in line)
for name in sorted(os.listdir("templates")):
    if name.endswith(".in"):
        text = open("templates/" + name).read()
        for key, value in site.items():
            text = text.replace(f"@{key}@", value)
        with open(name[:-3], "w") as file:
            file.write(text)
        os.chmod(name[:-3], 0oETC_MODE)
"""


def add_tools(machine: Machine) -> None:
    """Add the platform team's programs."""
    mode = f"{machine.book.etc_mode:o}"
    machine.file("bin/ctl", _CTL)
    machine.file("bin/release", _RELEASE.replace("ETC_MODE", mode))
    machine.timed("bin/cron/render", _RENDER.replace("ETC_MODE", mode))
