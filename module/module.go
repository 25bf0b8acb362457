// Package module is the AI gateway as one import: it registers every Caddy
// module, the Caddyfile directive and the subcommand of the gateway, and holds
// nothing else. It is the path to give to xcaddy:
//
//	xcaddy build --with github.com/caddy-ai-gateway/caddy-ai-gateway/module
package module

import (
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/caddyfile"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/balance"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/command"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/keys"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/limits"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/limits/redis"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/postgres"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/sqlite"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport"
)
