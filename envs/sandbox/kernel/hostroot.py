"""Root tree around a machine's own `/usr`: synthetic files, and the public part of `/etc`."""

import os
import shutil

from hexathlon.envs.sandbox.image import Entry

__all__ = ["make_host_root"]

_FROM_ETC = (
    "alternatives",
    "ca-certificates.conf",
    "debian_version",
    "inputrc",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "magic",
    "mime.types",
    "perl",
    "profile.d",
    "protocols",
    "python3",
    "python3.11",
    "python3.12",
    "python3.13",
    "services",
    "ssl/openssl.cnf",
    "terminfo",
)
_MADE_UP = {
    "etc/group": "root:x:0:\ntty:x:5:\nusers:x:100:\nnogroup:x:65534:\n",
    "etc/hostname": "sandbox\n",
    "etc/hosts": "127.0.0.1\tlocalhost sandbox\n::1\tlocalhost\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    "etc/passwd": "root:x:0:0:root:/root:/bin/bash\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    "etc/profile": "",
    # An address reserved for documentation: name lookups are counted as network attempts.
    "etc/resolv.conf": "nameserver 192.0.2.1\noptions timeout:1 attempts:1\n",
    "etc/shells": "/bin/sh\n/bin/bash\n",
}
_SUDO = """\
#!/bin/sh
# Whoever works here is root already: run the command, as another user if one is named.
user=
while [ $# -gt 0 ]; do
    case $1 in
    -u | --user) user=$2; shift ;;
    -u?*) user=${1#-u} ;;
    --user=*) user=${1#*=} ;;
    -g | -h | -p | -C | -T | -D | -r | -t) shift ;;
    -i | -s) [ $# -gt 1 ] || set -- "$1" "${SHELL:-/bin/bash}" ;;
    -v | -k | -K) [ $# -gt 1 ] || exit 0 ;;
    -l) echo "User root may run the following commands:"
        echo "    (ALL : ALL) NOPASSWD: ALL"; exit 0 ;;
    --) shift; break ;;
    -*) ;;
    *=*) export "$1" ;;
    *) break ;;
    esac
    shift
done
if [ $# -eq 0 ]; then echo "usage: sudo [-u user] command [argument ...]" >&2; exit 1; fi
export SUDO_USER=root SUDO_UID=0 SUDO_GID=0 SUDO_COMMAND="$*"
if [ -n "$user" ] && [ "$user" != root ]; then
    exec setpriv --reuid "$user" --regid "$(id -g "$user")" --init-groups -- "$@"
fi
exec "$@"
"""
_PROGRAMS = {"usr/local/bin/sudo": _SUDO}
_FOLDERS = {
    "dev": 0o755, "etc": 0o755, "home": 0o755, "media": 0o755, "mnt": 0o755, "opt": 0o755,
    "proc": 0o555, "root": 0o700, "run": 0o755, "srv": 0o755, "sys": 0o555, "tmp": 0o1777,
    "usr": 0o755, "usr/local": 0o755, "usr/local/bin": 0o755, "usr/local/lib": 0o755,
    "usr/local/sbin": 0o755, "usr/local/share": 0o755, "usr/local/etc": 0o755,
    "usr/local/include": 0o755, "var": 0o755, "var/cache": 0o755, "var/lib": 0o755,
    "var/log": 0o755, "var/spool": 0o755, "var/tmp": 0o1777,
}  # fmt: skip


_TIME = Entry().mtime


def make_host_root(root: str) -> None:
    """Create the directories, links and files of a small system in an empty directory."""
    for path, mode in _FOLDERS.items():
        os.mkdir(f"{root}/{path}")
        os.chmod(f"{root}/{path}", mode)
    for name in ("bin", "lib", "lib32", "lib64", "libx32", "sbin"):
        if os.path.isdir(f"/usr/{name}"):
            os.symlink(f"usr/{name}", f"{root}/{name}")
    for path in _FROM_ETC:
        _copy(f"/etc/{path}", f"{root}/etc/{path}")
    for path, text in _MADE_UP.items():
        with open(f"{root}/{path}", "w") as file:
            file.write(text)
    for path, text in _PROGRAMS.items():
        with open(f"{root}/{path}", "w") as file:
            file.write(text)
        os.chmod(f"{root}/{path}", 0o755)
    os.symlink("/usr/share/zoneinfo/UTC", f"{root}/etc/localtime")
    os.symlink("/usr/lib/os-release", f"{root}/etc/os-release")
    os.symlink("/proc/mounts", f"{root}/etc/mtab")
    for folder, folders, files in os.walk(root):
        for name in [*folders, *files]:
            os.utime(f"{folder}/{name}", (_TIME, _TIME), follow_symlinks=False)


def _copy(source: str, target: str) -> None:
    """Copy world-readable content; links stay links."""
    if not os.path.lexists(source):
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.isdir(source) and not os.path.islink(source):
        shutil.copytree(source, target, symlinks=True)
    else:
        shutil.copy2(source, target, follow_symlinks=False)
