package redis

import (
	"context"
	"crypto/tls"
	"fmt"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// By default, the client writes a line for each failure to the standard error.
func init() { goredis.SetLogger(debugLog{}) }

// debugLog writes the messages of the client to Caddy's log, at the level DEBUG.
type debugLog struct{}

func (debugLog) Printf(_ context.Context, format string, values ...any) {
	caddy.Log().Named("redis").Debug(fmt.Sprintf(format, values...))
}

// secret resolves the reference to the password.
func (r *Redis) secret() (string, error) {
	if r.Password == "" {
		return "", nil
	}
	password, err := aigateway.ResolveSecret(r.Password)
	return string(password), err
}

// client returns a client of the server, or of the Redis Cluster if there are several
// addresses. It does not connect.
func (r *Redis) client(password string) goredis.UniversalClient {
	timeout := max(time.Duration(r.Timeout), backgroundTimeout) // the contexts of requests end earlier
	options := &goredis.UniversalOptions{
		Addrs: strings.Split(r.Address, ","), Username: r.Username, Password: password, MaxRetries: -1,
		DialTimeout: timeout, ReadTimeout: timeout, WriteTimeout: timeout, PoolTimeout: timeout,
		ContextTimeoutEnabled:    true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	if r.TLS {
		options.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if len(options.Addrs) == 1 {
		return newClient(options.Simple())
	}
	cluster := options.Cluster()
	cluster.NewClient = newClient
	return goredis.NewClusterClient(cluster)
}

// newClient returns a client that does not repeat a failed attempt to connect. The circuit
// of the server decides when to try again.
func newClient(options *goredis.Options) *goredis.Client {
	options.DialerRetries, options.DialerRetryTimeout = 1, time.Millisecond
	return goredis.NewClient(options)
}
