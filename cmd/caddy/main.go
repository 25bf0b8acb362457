// Command caddy is Caddy with its standard modules and the AI gateway, as xcaddy
// builds it.
package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module"
)

func main() { caddycmd.Main() }
