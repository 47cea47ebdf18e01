"""Stand-ins for package installers while an image is built; they record the requested packages.

The build has no network. Afterwards the packages must be in the base, or the task is unsupported.
"""

from collections.abc import Mapping

from hexathlon.envs.sandbox.image import Entry

__all__ = ["ASKED", "OFFLINE", "TOOLS_SETTING", "build_tools"]

_FOLDER = "/tmp/.hexathlon-build"
ASKED = f"{_FOLDER}/asked"
"""Lines with `debian` or `python` and the name of a package."""

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
OFFLINE = (
    "CARGO_NET_OFFLINE=true GOPROXY=off PIP_NO_INDEX=1 UV_OFFLINE=1 npm_config_fetch_retries=0 "
    "npm_config_offline=true"
)
"""Variables by which package managers fail at once instead of waiting for a network."""

TOOLS_SETTING = f'PATH={_FOLDER}/bin:"${{PATH:-{_PATH}}}" {OFFLINE} DEBIAN_FRONTEND=noninteractive'
"""Variables of a step's command; expanded by the shell."""

_APT = f"""#!/bin/bash
install=
while [ $# -gt 0 ]; do
  case "$1" in
    install) install=1 ;;
    -o|-t|--option|--target-release) shift ;;
    -*) ;;
    *) [ -n "$install" ] && echo "debian $1" >> {ASKED} ;;
  esac
  shift
done
exit 0
"""
_PIP = f"""#!/bin/bash
[ "$1" = --version ] || [ "$1" = -V ] && {{ echo "pip 24.0 from {_FOLDER} (python 3)"; exit 0; }}
[ "$1" = install ] || exit 0
shift
while [ $# -gt 0 ]; do
  case "$1" in
    -r|--requirement) sed -E 's/[[:space:]]*(#.*)?$//; /^(-|$)/d; s/^/python /' "$2" >> {ASKED} \\
      || exit 1; shift ;;
    -i|--*-url|-c|--constraint|-t|--target|--timeout) shift ;;
    -e|--editable) python3 -m pip install --no-index --no-deps --no-build-isolation \\
      --break-system-packages -e "$2" || exit 1; shift ;;
    -*) ;;
    ./*|../*|/*|.|*.whl) python3 -m pip install --no-index --no-deps --no-build-isolation \\
      --break-system-packages "$1" || exit 1 ;;
    *) echo "python $1" >> {ASKED} ;;
  esac
  shift
done
exit 0
"""
_NOTHING = "#!/bin/sh\nexit 0\n"
_COMMANDS = {
    **dict.fromkeys(("apt", "apt-get", "aptitude"), _APT),
    **dict.fromkeys(("pip", "pip3"), _PIP),
    **dict.fromkeys(("add-apt-repository", "apt-key", "apt-cache"), _NOTHING),
}


def build_tools() -> Mapping[str, Entry]:
    """Return the stand-ins, by path."""
    files = {f"{_FOLDER}/bin/{name}": Entry(t.encode(), 0o755) for name, t in _COMMANDS.items()}
    return {_FOLDER: Entry(folder=True, mode=0o777), **files}
