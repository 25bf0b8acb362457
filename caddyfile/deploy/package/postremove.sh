#!/bin/sh
# Runs behind a removal. Data and configuration stay; `apt purge` removes the configuration.
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
