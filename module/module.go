// Package module is the single import of the AI gateway. It registers all Caddy modules, the
// Caddyfile directive and the subcommand of the gateway. It is the path for xcaddy:
//
//	xcaddy build --with github.com/caddy-ai-gateway/caddy-ai-gateway/module
package module

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/version"

	// The Caddy modules.
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/caddyfile"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/compat"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/postgres"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/sqlite"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/command"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/counters"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/counters/redis"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/cache/redis"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/guards"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/keys"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/keys/jwt"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/azure"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/bedrock"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/vertex"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/alerts/delivery"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/balance"
)

// Version returns the version and the commit of the gateway in the running build for people,
// such as "v1.4.0 (3048ce562e48)".
func Version() string { return version.Full(version.Running()) }
