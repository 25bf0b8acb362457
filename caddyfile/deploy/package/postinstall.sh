#!/bin/sh
# Runs behind an installation or an upgrade. An upgrade restarts a gateway that runs: its
# running answers have the grace_period of the Caddyfile to end.
set -e
getent group caddy >/dev/null || groupadd --system caddy
getent passwd caddy >/dev/null || useradd --system --gid caddy --no-create-home --home-dir /var/lib/caddy \
	--shell "$(command -v nologin || echo /bin/false)" --comment "Caddy web server" caddy
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart caddy.service
fi
