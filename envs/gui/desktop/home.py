"""Files of a desktop: settings of the toolkit, the window manager and the buses.

Independent of the programs and of the tasks, which add their own files.
"""

from collections.abc import Mapping

from hexathlon.envs.gui.desktop.confined import LAUNCHER
from hexathlon.envs.sandbox.image import Entry, SandboxImage

__all__ = ["DOUBLE_CLICK_MS", "HOME", "LOOKS", "SCREEN", "desktop_image"]

HOME = "/home/user"
SCREEN = (1280, 800)
"""Width and height in pixels."""

LOOKS: dict[str, tuple[str, int, int]] = {
    "light": ("Adwaita", 10, 0),
    "dark": ("Adwaita", 10, 1),
    "large": ("Adwaita", 13, 0),
    "contrast": ("HighContrast", 11, 0),
}
"""Name → toolkit theme, font size in points, whether its dark variant is used."""

_FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
<dir>/usr/share/fonts/truetype/dejavu</dir>
<cachedir>/var/cache/fontconfig</cachedir>
<alias><family>Monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
<alias><family>Sans</family><prefer><family>DejaVu Sans</family></prefer></alias>
</fontconfig>
"""
_BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
<type>session</type>
<listen>unix:path=/run/user/bus</listen>
<auth>EXTERNAL</auth>
<policy context="default">
<allow send_destination="*" eavesdrop="true"/>
<allow eavesdrop="true"/>
<allow own="*"/>
</policy>
<limit name="max_replies_per_connection">5000</limit>
<limit name="reply_timeout">300000</limit>
</busconfig>
"""
"""A bus that starts no services: there are none to start."""

_WINDOW_MANAGER = """<?xml version="1.0" encoding="UTF-8"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
<theme><name>Clearlooks</name><titleLayout>NLIMC</titleLayout>
<font place="ActiveWindow"><name>DejaVu Sans</name><size>{size}</size></font>
<font place="InactiveWindow"><name>DejaVu Sans</name><size>{size}</size></font></theme>
<desktops><number>1</number><popupTime>0</popupTime></desktops>
<focus><focusNew>yes</focusNew><followMouse>no</followMouse></focus>
<placement><policy>Smart</policy><center>yes</center></placement>
<keyboard>
<keybind key="A-Tab"><action name="NextWindow"><dialog>none</dialog></action></keybind>
<keybind key="A-F4"><action name="Close"/></keybind>
</keyboard>
<mouse>
<context name="Titlebar">
<mousebind button="Left" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
<mousebind button="Left" action="Drag"><action name="Move"/></mousebind>
</context>
<context name="Client">
<mousebind button="Left" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
<mousebind button="Right" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
</context>
<context name="Close">
<mousebind button="Left" action="Click"><action name="Close"/></mousebind>
</context>
<context name="Maximize">
<mousebind button="Left" action="Click"><action name="ToggleMaximize"/></mousebind>
</context>
</mouse>
<applications>
<application type="normal"><maximized>yes</maximized></application>
</applications>
</openbox_config>
"""
"""No menu on the background, no action that runs a program, no minimising."""

DOUBLE_CLICK_MS = 600
"""Milliseconds within which two clicks at nearly the same point are a double click."""

_TOOLKIT = """[Settings]
gtk-theme-name={theme}
gtk-double-click-time={double_click}
gtk-application-prefer-dark-theme={dark}
gtk-font-name=DejaVu Sans {size}
gtk-enable-animations=0
gtk-cursor-blink=0
gtk-recent-files-enabled=0
gtk-tooltip-timeout=60000
gtk-icon-theme-name=Adwaita
"""
_STYLE = """#root-warning, #root-warning * {
 font-size: 0; min-height: 0; padding: 0; margin: 0; border: none;
}
"""
"""Hides an editor's notice about user 0, which is the only user of a sandbox."""

_VARIABLES = {
    "AT_SPI_BUS_ADDRESS": "unix:path=/run/user/access",
    "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/user/bus",
    "DISPLAY": ":1",
    "GIO_USE_VFS": "local",
    "GSETTINGS_BACKEND": "memory",
    "GTK_MODULES": "gail:atk-bridge",
    "HOME": HOME,
    "LC_ALL": "C.UTF-8",
    "LOGNAME": "user",
    "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
    "SHELL": "/usr/sbin/nologin",
    "USER": "user",
    "XDG_CONFIG_HOME": f"{HOME}/.config",
    "XDG_DATA_DIRS": "/usr/share",
    "XDG_RUNTIME_DIR": "/run/user",
}


def desktop_image(files: Mapping[str, Entry], look: str) -> SandboxImage:
    """Return the initial content of a desktop's sandbox.

    Args:
        files: Absolute path → entry: what programs and tasks add.
        look: A key of `LOOKS`.
    """
    theme, size, dark = LOOKS[look]
    folder = Entry(folder=True, mode=0o755)
    own = {
        "/etc/desktop/bus.conf": _fixed(_BUS),
        "/etc/desktop/openbox.xml": _fixed(_WINDOW_MANAGER.format(size=size)),
        "/etc/fonts/fonts.conf": _fixed(_FONTS),
        "/etc/machine-id": _fixed("0123456789abcdef0123456789abcdef\n"),
        "/run/user": Entry(folder=True, mode=0o700),
        "/tmp/.X11-unix": Entry(folder=True, mode=0o1777),
        "/usr/local/lib/desktop/launch.py": _fixed(LAUNCHER),
        HOME: folder,
        f"{HOME}/.config/gtk-3.0/gtk.css": _fixed(_STYLE),
        f"{HOME}/.config/gtk-3.0/settings.ini": _fixed(
            _TOOLKIT.format(theme=theme, size=size, dark=dark, double_click=DOUBLE_CLICK_MS)
        ),
        f"{HOME}/.gtkrc-2.0": _fixed(f"gtk-double-click-time = {DOUBLE_CLICK_MS}\n"),
    }
    locked = Entry(folder=True, mode=0o555)
    for path in ("/etc/desktop", "/usr/local/lib/desktop"):
        own[path] = locked
    return SandboxImage(
        files=dict(sorted({**own, **files}.items())), workdir=HOME, environment=_VARIABLES
    )


def _fixed(text: str) -> Entry:
    return Entry(text.encode(), mode=0o444)
