package redisclient

import (
	"context"
	"fmt"

	"github.com/caddyserver/caddy/v2"
	goredis "github.com/redis/go-redis/v9"
)

// By default, the client writes a line for each failure to the standard error.
func init() { goredis.SetLogger(debugLog{}) }

// debugLog writes the messages of the client to Caddy's log, at the level DEBUG.
type debugLog struct{}

func (debugLog) Printf(_ context.Context, format string, values ...any) {
	caddy.Log().Named("redis").Debug(fmt.Sprintf(format, values...))
}
