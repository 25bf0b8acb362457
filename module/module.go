// Package module is the single import of the AI gateway. It registers all Caddy modules, the
// Caddyfile directive and the subcommand of the gateway, and contains nothing else. It is
// the path for xcaddy:
//
//	xcaddy build --with github.com/caddy-ai-gateway/caddy-ai-gateway/module
package module

import (
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/caddyfile"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/compat"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/alerts"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/balance"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/command"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/guards"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/keys"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/keys/jwt"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/limits"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/limits/redis"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/azure"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/bedrock"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/vertex"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/postgres"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/sqlite"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport"
)
