module github.com/caddy-ai-gateway/caddy-ai-gateway

go 1.26.0

require (
	github.com/andybalholm/brotli v1.2.0
	github.com/caddyserver/caddy/v2 v2.11.9
	github.com/dustin/go-humanize v1.1.0
	github.com/klauspost/compress v1.20.1
	github.com/spf13/cobra v1.10.2
	github.com/stretchr/testify v1.12.1
	go.uber.org/zap v1.28.0
)
