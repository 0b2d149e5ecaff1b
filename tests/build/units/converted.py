"""A service and an init script that units are made of in tests."""

from bootlab.build.units.unit_text import Converted

SERVICE = """[Unit]
Description=Web server
After=network.target db.service
Requires=db.service
Wants=cache.service
Before=nss-lookup.target other.service

[Service]
Type=notify
# joined
ExecStartPre=-/bin/mkdir -p "/run/a b"
ExecStart=/usr/sbin/web \\
  --name %n $WEB_OPTS ${WEB_ONE} "say \\"%%\\""
Environment="A=1 2" B=3
EnvironmentFile=-/etc/default/web
Restart=on-abort
TimeoutStopSec=1min 30s
TimeoutStartSec=0
RestartSec=250ms
RuntimeDirectory=web
PrivateTmp=yes
ExecReload=/bin/kill -HUP $MAINPID

[Install]
WantedBy=multi-user.target
Alias=httpd.service
"""


SCRIPT = """#!/bin/sh
### BEGIN INIT INFO
# Provides:          web httpd
# Required-Start:    $remote_fs $network +db
# Should-Start:      cache
# Required-Stop:     $remote_fs syslogd
# Default-Start:     2 3 4 5
# Default-Stop:      0 1 6
# X-Start-Before:    proxy
# X-Interactive:     true
# Short-Description: Web server
# Speed: high
### END INIT INFO
"""


def lines_of(unit: Converted) -> list[str]:
    assert unit.text is not None, unit.problems
    return unit.text.splitlines()[1:]
