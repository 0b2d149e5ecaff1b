"""A systemd .service file -> a unit of bootlab-init. What has no counterpart is said, with its line."""

import re
from collections.abc import Callable

from bootlab.build.units.service_lines import NotWritten, Setting, commands_of, fill_in, read_settings, split_words
from bootlab.build.units.unit_text import Converted, UnitText

_TARGETS = {
    "network.target": "$network",
    "network-online.target": "$network",
    "local-fs.target": "$local_fs",
    "remote-fs.target": "$remote_fs",
    "nss-lookup.target": "$named",
    "time-sync.target": "$time",
    "rpcbind.target": "$portmap",
    "syslog.target": "$syslog",
    "syslog.socket": "$syslog",
}
"""As bootlab-init reads a service itself (guest/init/units/service_file.c)."""
_BASICS = frozenset(
    "sysinit.target basic.target local-fs-pre.target sockets.target paths.target timers.target slices.target "
    "shutdown.target umount.target system.slice -.mount".split()
)
"""What is before every unit anyway, or no more than a name at shutdown."""
_DEFAULTS = ("$local_fs", "sysctl", "modules", "hostname", "folders", "limits", "seed")
"""What every service comes after unless it says DefaultDependencies=no: all built-in units but the network."""
_BOOT = frozenset({"multi-user.target", "graphical.target", "default.target", "sysinit.target", "basic.target"})
_READY = {
    "simple": "exec",
    "exec": "exec",
    "idle": "exec",
    "oneshot": "exit",
    "forking": "fork",
    "notify": "notify",
    "notify-reload": "notify",
}
_RESTART = {
    "no": "no",
    "always": "always",
    "on-success": "no",
    "on-failure": "on-failure",
    "on-abnormal": "on-failure",
    "on-abort": "on-failure",
    "on-watchdog": "no",
}
_KILL_MODES = {"control-group": "all", "mixed": "mixed", "process": "main"}
_OUTPUTS = {"null": "null", "tty": "console", "journal+console": "console", "kmsg+console": "console"}
_LOGGED = frozenset({"inherit", "journal", "syslog", "kmsg", "socket"})
_SILENT = frozenset(
    "Documentation RemainAfterExit SyslogIdentifier SyslogFacility SyslogLevel SyslogLevelPrefix NotifyAccess Also "
    "RequiredBy GuessMainPID TTYReset TTYVHangup TTYVTDisallocate StandardError DefaultInstance".split()
)
_BRACED = re.compile(r"(\$\$|\$\{[A-Za-z_][A-Za-z0-9_]*\})")
_ALONE = re.compile(r"\$[A-Za-z_][A-Za-z0-9_]*")
_TIME = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)")
_LONGEST_S = 1_000_000
_SECONDS = {
    "": 1.0, "s": 1.0, "sec": 1.0, "second": 1.0, "seconds": 1.0, "ms": 1e-3, "msec": 1e-3, "us": 1e-6, "usec": 1e-6,
    "m": 60.0, "min": 60.0, "minute": 60.0, "minutes": 60.0, "h": 3600.0, "hr": 3600.0, "hour": 3600.0, "hours": 3600.0,
    "d": 86400.0, "day": 86400.0, "days": 86400.0, "w": 604800.0,
}  # fmt: skip


class _Service:
    """One file on its way."""

    def __init__(self, name: str, path: str) -> None:
        self.unit = UnitText(name, path)
        self.type: str | None = None
        self.defaults = True
        self.is_started = False
        self.ignores_pipe = True
        self.environment: list[str] = []
        self.environment_line = 0
        self.commands: dict[str, list[Setting]] = {}
        self.capabilities: dict[str, list[str]] = {}
        self.tty: str | None = None
        self.pulled: dict[str, tuple[bool, Setting]] = {}

    def take(self, setting: Setting) -> None:
        unit, key = self.unit, setting.key
        try:
            if key in _COMMANDS:
                # An empty value takes back what was said before.
                kept = self.commands.setdefault(key, [])
                kept.append(setting) if setting.value else kept.clear()
            elif key in _READERS:
                _READERS[key](self, setting.value, setting)
            elif key in _TEXTS:
                self._take_text(setting)
            elif key in _DURATIONS:
                value = _duration(setting.value)
                for word in _DURATIONS[key]:
                    # 0 is no limit for systemd.
                    unit.set(word, "infinity" if value == "0s" and word != "restart-delay" else value)
            elif key not in _SILENT and not key.startswith("X-") and setting.value:
                unit.say(setting.line, f"{key} has no counterpart; it is left out")
        except NotWritten as error:
            unit.say(setting.line, f"{key}: {error}")

    def _take_text(self, setting: Setting) -> None:
        key, pattern = _TEXTS[setting.key]
        value = fill_in(setting.value, self.unit.name)
        if setting.key == "WorkingDirectory":
            value = value.removeprefix("-")
        if setting.key == "PIDFile" and not value.startswith("/"):
            value = f"/run/{value}"
        if not re.fullmatch(pattern, value):
            raise NotWritten(f"{value!r} cannot be written into a unit; it is left out")
        self.unit.set(key, value)

    def _refer(self, value: str, setting: Setting) -> None:
        hard = setting.key in ("Requires", "BindsTo", "Requisite")
        for word in value.split():
            name = self._name_of(fill_in(word, self.unit.name), setting)
            if name is None:
                continue
            if setting.key == "Before" and name.startswith("$"):
                # Before a target that stands for a facility: who waits for that waits for this one too.
                self.unit.refer("provides", name)
            elif setting.key in ("After", "Before"):
                self.unit.refer(setting.key.lower(), name)
            elif not name.startswith("$"):
                self.pulled.setdefault(name, (hard, setting))

    def _name_of(self, word: str, setting: Setting) -> str | None:
        if word in _BASICS:
            return None
        if word in _TARGETS:
            return _TARGETS[word]
        if word.endswith(".service") and "@" not in word:
            return word.removesuffix(".service")
        self.unit.say(setting.line, f"{setting.key}={word}: only services, and targets with a facility; left out")
        return None

    def _set_type(self, value: str, setting: Setting) -> None:
        self.type = value
        if value == "notify-reload":
            self.unit.set("reload-signal", "HUP")
        if value not in _READY:
            self.unit.say(setting.line, f"Type={value}: it counts as ready when it is executed")

    def _set_restart(self, value: str, setting: Setting) -> None:
        if value not in _RESTART:
            raise NotWritten(f"{value!r} is no way to restart")
        if _RESTART[value] != value:
            self.unit.say(setting.line, f"Restart={value}: now {_RESTART[value]}")
        self.unit.set("restart", _RESTART[value])

    def _set_number(self, value: str, setting: Setting) -> None:
        key, least, most = _NUMBERS[setting.key]
        if not re.fullmatch(r"-?\d{1,10}", value) or not least <= int(value) <= most:
            raise NotWritten(f"{value!r} is no number from {least} to {most}; it is left out")
        self.unit.set(key, str(int(value)))

    def _add_environment(self, value: str, setting: Setting) -> None:
        self.environment += split_words(fill_in(value, self.unit.name))
        self.environment_line = self.environment_line or setting.line

    def _add_environment_file(self, value: str, setting: Setting) -> None:
        value = fill_in(value, self.unit.name)
        if not re.fullmatch(r"-?/[^\s*?\[]+", value):
            raise NotWritten(f"{value!r} cannot be written into a unit; it is left out")
        self.unit.refer("env-file", value)

    def _set_word(self, value: str, setting: Setting) -> None:
        key, pattern = _WORDS[setting.key]
        if not value:
            self.unit.unset(key)
            return
        if not re.fullmatch(pattern, value):
            raise NotWritten(f"{value!r} has no counterpart; it is left out")
        self.unit.set(key, value)

    def _add_condition(self, value: str, setting: Setting) -> None:
        value = fill_in(value, self.unit.name)
        found = re.fullmatch(r"(!?)\s*(\S+)", value)
        if not value:
            self.unit.unset("condition")
        elif found is None or value.startswith("|"):
            raise NotWritten(f"{value!r} has no counterpart; it is left out")
        else:
            self.unit.add("condition", f"{'not ' if found[1] else ''}{_CONDITIONS[setting.key]} {found[2]}")

    def _set_capabilities(self, value: str, setting: Setting) -> None:
        # An empty value leaves none; names on several lines are one set; ~ takes names out of it, or of all.
        key, names = _CAPABILITIES[setting.key], value.removeprefix("~").lower().split()
        before = self.capabilities.get(key)
        if not value:
            self.capabilities[key] = []
        elif not value.startswith("~"):
            if before and before[0] == "all-but":
                raise NotWritten("names behind a line with ~ have no counterpart; the line is left out")
            self.capabilities[key] = list(dict.fromkeys([*(before or ()), *names]))
        elif before is None and key == "capabilities":
            self.capabilities[key] = ["all-but", *names]
        elif before and before[0] == "all-but":
            self.capabilities[key] = [*before, *names]
        else:
            self.capabilities[key] = [name for name in before or () if name not in names]
        self.unit.set(key, " ".join(self.capabilities[key]) or "none")

    def _set_kill_mode(self, value: str, setting: Setting) -> None:
        if value not in _KILL_MODES:
            raise NotWritten(f"{value!r} has no counterpart; all of it is stopped")
        self.unit.set("kill", _KILL_MODES[value])

    def _set_folders(self, value: str, setting: Setting) -> None:
        folders = fill_in(value, self.unit.name).split()
        if any(not re.fullmatch(r"[A-Za-z0-9._@-]+(/[A-Za-z0-9._@-]+)*", one) or ".." in one for one in folders):
            raise NotWritten("a folder that cannot be written into a unit; it is left out")
        self.unit.set("run-folder", " ".join(folders))

    def _set_output(self, value: str, setting: Setting) -> None:
        if value in _OUTPUTS:
            self.unit.set("output", _OUTPUTS[value])
        elif value not in _LOGGED:
            self.unit.say(setting.line, f"{setting.key}={value}: kept in bootlab-init's log instead")

    def _set_tty(self, value: str, setting: Setting) -> None:
        if setting.key == "TTYPath":
            self.tty = value
        elif value.startswith("tty"):
            self.tty = self.tty or "/dev/console"
        elif value != "null":
            self.unit.say(setting.line, f"StandardInput={value} has no counterpart; it is left out")

    def _install(self, value: str, setting: Setting) -> None:
        self.is_started |= bool(_BOOT & set(value.split()))
        for word in sorted(set(value.split()) - _BOOT):
            self.unit.say(
                setting.line, f"WantedBy={word}: a unit is started at boot, or by one that names it; left out"
            )

    def _set_defaults(self, value: str, setting: Setting) -> None:
        self.defaults = value.lower() not in ("no", "false", "off", "0")

    def _set_pipe(self, value: str, setting: Setting) -> None:
        self.ignores_pipe = value.lower() not in ("no", "false", "off", "0")

    def finish(self) -> Converted:
        unit = self.unit
        starts = self.commands.get("ExecStart", [])
        # Without a type a service with a command is simple, and one without is for its ExecStop.
        ready = _READY.get(self.type or ("simple" if starts else "oneshot"), "exec")
        for key, word in _COMMANDS.items():
            for setting in self.commands.get(key, []):
                if word is None:
                    unit.say(setting.line, f"{key} has no counterpart; it is left out")
                else:
                    self._write_command(word, setting)
        if not starts:
            unit.say(0, "no ExecStart: nothing to start")
            unit.broken = True
        unit.set("ready", ready)
        if self.tty is not None:
            unit.set("tty", self.tty)
        if self.environment:
            wrong = [word for word in self.environment if not re.match(r"[A-Za-z_][A-Za-z0-9_]*=", word)]
            words = unit.words([word for word in self.environment if word not in wrong], self.environment_line)
            for word in wrong:
                unit.say(self.environment_line, f"Environment={word}: not NAME=VALUE; left out")
            if words:
                unit.set("env", words)
        if self.ignores_pipe:
            unit.set("ignore-sigpipe", "yes")
        if not self.is_started:
            unit.set("enable", "no")
        for name, (hard, setting) in self.pulled.items():
            # Requires= and Wants= alone are no order.
            ordered = name in unit.names("after")
            unit.refer("brings" if not ordered else "needs" if hard else "wants", name)
            if hard and not ordered:
                unit.say(setting.line, f"{setting.key}={name}: brought along, but this one is started without it, too")
        if self.defaults:
            unit.refer("after", *_DEFAULTS)
        else:
            unit.set("defaults", "no")
        return unit.converted()

    def _write_command(self, word: str, setting: Setting) -> None:
        unit = self.unit
        prefix = re.match(r"[-+!:@|]*", setting.value)
        marks = prefix[0] if prefix else ""
        try:
            commands = list(commands_of(split_words(fill_in(setting.value[len(marks) :], unit.name))))
        except NotWritten as error:
            unit.say(setting.line, f"{setting.key}: {error}")
            unit.broken |= word == "exec"
            return
        if set(marks) & set("+!|"):
            unit.say(setting.line, f"{setting.key}={marks}: it is run as `user` says, like the others")
        for words in commands:
            if "@" in marks and len(words) > 1:
                unit.say(setting.line, f"{setting.key}=@: its name for itself, {words[1]!r}, is left out")
                del words[1]
            unit.add_command(word, _runnable(words, expand=":" not in marks), setting.line, may_fail="-" in marks)


def _runnable(words: list[str], *, expand: bool) -> list[str]:
    """Return the words of a command that a unit can run: through a shell where systemd would fill in variables."""
    if expand and any(_ALONE.fullmatch(word) or "${" in word for word in words):
        return ["/bin/sh", "-c", "exec " + " ".join(_for_shell(word) for word in words)]
    words = [word.replace("$$", "$") if expand else word for word in words]
    return words if words[0].startswith("/") else ["/usr/bin/env", *words]


def _for_shell(word: str) -> str:
    # $NAME alone becomes as many words as it has, ${NAME} is one: a shell does the same outside and inside of quotes.
    if _ALONE.fullmatch(word) or re.fullmatch(r"[A-Za-z0-9/._=:,+-]+", word):
        return word
    parts = (
        ("\\$" if part == "$$" else part) if index % 2 else re.sub(r'([\\"`$])', r"\\\1", part)
        for index, part in enumerate(_BRACED.split(word))
    )
    return f'"{"".join(parts)}"'


def _duration(value: str) -> str:
    if value == "infinity":
        return "infinity"
    at, total_s = 0, 0.0
    while at < len(value):
        found = _TIME.match(value, at)
        if found is None or found[2] not in _SECONDS:
            raise NotWritten(f"{value!r} is no time; it is left out")
        total_s += float(found[1]) * _SECONDS[found[2]]
        at = found.end()
    if total_s > _LONGEST_S:
        raise NotWritten(f"{value!r} is too long; it is left out")
    return f"{round(total_s)}s" if total_s.is_integer() else f"{round(total_s * 1000)}ms"


_COMMANDS: dict[str, str | None] = {
    "ExecStartPre": "pre",
    "ExecStart": "exec",
    "ExecStartPost": "post",
    "ExecStop": "stop",
    "ExecReload": "reload",
    "ExecStopPost": None,
    "ExecCondition": None,
}
_DURATIONS = {
    "RestartSec": ("restart-delay",),
    "TimeoutStartSec": ("timeout",),
    "TimeoutStopSec": ("stop-timeout",),
    "WatchdogSec": ("watchdog",),
    "TimeoutSec": ("timeout", "stop-timeout"),
}
_TEXTS = {
    "Description": ("description", r".+"),
    "User": ("user", r"\S+"),
    "Group": ("group", r"\S+"),
    "WorkingDirectory": ("directory", r"/.*"),
    "UMask": ("umask", r"[0-7]{1,4}"),
    "PIDFile": ("pidfile", r"/\S+"),
}
_NUMBERS = {
    "Nice": ("nice", -20, 19),
    "OOMScoreAdjust": ("oom", -1000, 1000),
}
_RESOURCES = (
    "CPU FSIZE DATA STACK CORE RSS NPROC NOFILE MEMLOCK AS LOCKS SIGPENDING MSGQUEUE NICE RTPRIO RTTIME".split()
)
_LIMITS = {f"Limit{name}": f"limit-{name.lower()}" for name in _RESOURCES}
_CONDITIONS = {
    "ConditionPathExists": "path",
    "ConditionKernelCommandLine": "kernel-word",
    "ConditionArchitecture": "architecture",
}
_CAPABILITIES = {"CapabilityBoundingSet": "capabilities", "AmbientCapabilities": "ambient-capabilities"}
_WORDS = {
    "KillSignal": ("stop-signal", r"(SIG)?[A-Z0-9+]+"),
    "ReloadSignal": ("reload-signal", r"(SIG)?[A-Z0-9+]+"),
    "MemoryMax": ("memory-max", r"\d+[KMGT]?|\d+%|infinity"),
    "CPUWeight": ("cpu-weight", r"\d+"),
    "TasksMax": ("pids-max", r"\d+|infinity"),
    "NoNewPrivileges": ("no-new-privileges", r"yes|no|true|false|on|off|0|1"),
    **{key: (word, r"[^\s%]+") for key, word in _LIMITS.items()},
}
"""Values that a unit takes as they are."""
_READERS: dict[str, Callable[[_Service, str, Setting], None]] = {
    **dict.fromkeys(("After", "Before", "Requires", "BindsTo", "Requisite", "Wants"), _Service._refer),
    **dict.fromkeys(_NUMBERS, _Service._set_number),
    **dict.fromkeys(_WORDS, _Service._set_word),
    **dict.fromkeys(_CAPABILITIES, _Service._set_capabilities),
    **dict.fromkeys(_CONDITIONS, _Service._add_condition),
    "Type": _Service._set_type,
    "Restart": _Service._set_restart,
    "Environment": _Service._add_environment,
    "RuntimeDirectory": _Service._set_folders,
    "StandardOutput": _Service._set_output,
    "StandardInput": _Service._set_tty,
    "TTYPath": _Service._set_tty,
    "EnvironmentFile": _Service._add_environment_file,
    "KillMode": _Service._set_kill_mode,
    "WantedBy": _Service._install,
    "IgnoreSIGPIPE": _Service._set_pipe,
    "DefaultDependencies": _Service._set_defaults,
}


def convert_service(name: str, path: str, text: str) -> Converted:
    """Return the unit of the service `name` (without .service). `path` is what a problem is said about."""
    service = _Service(name, path)
    if "@" in name:
        service.unit.say(0, "a template is not converted: write its NAME@.unit by hand, %i is the word behind the @")
        service.unit.broken = True
        return service.unit.converted()
    for setting in read_settings(text):
        if setting.key == "Alias":
            service.unit.refer("provides", *(word.removesuffix(".service") for word in setting.value.split()))
        else:
            service.take(setting)
    return service.finish()
