// Command caddy is Caddy with its standard modules and the AI gateway, as xcaddy
// builds it. `caddy version` begins with the version of the gateway.
package main

import (
	"github.com/caddyserver/caddy/v2"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	_ "github.com/caddyserver/caddy/v2/modules/standard"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module"
)

func main() {
	caddy.CustomVersion = "ai-gateway " + module.Version() + ", Caddy"
	caddycmd.Main()
}
