#!/bin/sh
# Runs before a removal, and on an upgrade, which keeps the gateway running.
set -e
case $1 in upgrade | failed-upgrade | [1-9]*) exit 0 ;; esac
if [ -d /run/systemd/system ]; then
	systemctl disable --now caddy.service
fi
