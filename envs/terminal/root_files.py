"""Files of a small Debian that the machine's own `/usr` lacks: accounts and settings.

Added for tasks of other makers, whose scripts create users, give files away and call `su`.
"""

import stat
from collections.abc import Mapping
from pathlib import Path

from hexathlon.envs.sandbox.image import Entry

__all__ = ["account_files"]

_USERS = {
    "root": (0, "/root", "/bin/bash"), "daemon": (1, "/usr/sbin", ""), "bin": (2, "/bin", ""),
    "sys": (3, "/dev", ""), "games": (5, "/usr/games", ""), "man": (6, "/var/cache/man", ""),
    "mail": (8, "/var/mail", ""), "www-data": (33, "/var/www", ""),
    "backup": (34, "/var/backups", ""), "nobody": (65534, "/nonexistent", ""),
}  # fmt: skip
_GROUPS = {
    "adm": 4, "tty": 5, "disk": 6, "dialout": 20, "sudo": 27, "shadow": 42, "staff": 50,
    "users": 100, "nogroup": 65534,
}  # fmt: skip
_NO_LOGIN = "/usr/sbin/nologin"


def account_files() -> Mapping[str, Entry]:
    """Return the files, by path."""
    passwd, shadow, group = [], [], []
    for name, (number, home, shell) in _USERS.items():
        own = 65534 if name == "nobody" else number
        passwd.append(f"{name}:x:{number}:{own}:{name}:{home}:{shell or _NO_LOGIN}")
        shadow.append(f"{name}:*:20000:0:99999:7:::")
        group += [] if name == "nobody" else [f"{name}:x:{number}:"]
    group += [f"{name}:x:{number}:" for name, number in _GROUPS.items()]
    texts = {
        "/etc/passwd": (passwd, 0o644),
        "/etc/shadow": (shadow, 0o640),
        "/etc/group": (group, 0o644),
        "/etc/gshadow": ([f"{line.split(':')[0]}:*::" for line in group], 0o640),
        "/etc/login.defs": (
            ["UID_MIN 1000", "UID_MAX 60000", "GID_MIN 1000", "GID_MAX 60000", "SYS_UID_MIN 100",
             "SYS_UID_MAX 999", "SYS_GID_MIN 100", "SYS_GID_MAX 999", "UMASK 022",
             "HOME_MODE 0755", "USERGROUPS_ENAB yes", "ENCRYPT_METHOD SHA512"],
            0o644,
        ),
        "/etc/default/useradd": (["SHELL=/bin/sh"], 0o644),
        "/etc/pam.d/other": (
            ["auth sufficient pam_rootok.so", "auth required pam_unix.so",
             "account sufficient pam_permit.so", "password required pam_unix.so sha512",
             "session required pam_permit.so"],
            0o644,
        ),
    }  # fmt: skip
    files = {path: Entry("".join(f"{line}\n" for line in lines).encode(), mode)
             for path, (lines, mode) in texts.items()}  # fmt: skip
    folders = ("/etc/skel", "/var/lib/dpkg/alternatives", "/var/lib/dpkg/info",
               "/var/lib/dpkg/updates", "/var/mail", "/var/www")  # fmt: skip
    files |= {path: Entry(folder=True, mode=0o755) for path in folders}
    files["/var/lib/dpkg/status"] = Entry(b"")
    return {**_settings(), **files}


_SETTINGS = ("ImageMagick-*", "R", "fonts", "java-*", "maven")
"""Directories of `/etc` into which programs of `/usr` link; they hold no secrets."""
_LONGEST = 1 << 20


def _settings() -> Mapping[str, Entry]:
    """Return the machine's own settings of programs that do not start without them."""
    files = {}
    for pattern in _SETTINGS:
        for path in sorted(Path("/etc").glob(f"{pattern}/**/*")):
            found = path.lstat()
            if stat.S_ISLNK(found.st_mode):
                files[str(path)] = Entry(link=str(path.readlink()))
            elif stat.S_ISREG(found.st_mode) and found.st_mode & 0o004:
                if found.st_size <= _LONGEST:
                    files[str(path)] = Entry(path.read_bytes(), 0o644)
    return files
