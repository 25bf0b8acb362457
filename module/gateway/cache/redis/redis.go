// Package redis contains the cache "redis": several gateways keep their cached answers in a Redis
// server.
//
// The cache is an aid: while the server does not answer, requests are served without it, and wait for
// it only until its circuit prevents further calls. The server bounds the memory of answers (maxmemory),
// and makes room as it is configured (maxmemory-policy).
package redis

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	goredis "github.com/redis/go-redis/v9"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/redisclient"
)

func init() { caddy.RegisterModule(Redis{}) }

// tag begins the names of all values in the server, which other programs may use, too.
const tag = "ai_gateway:answers:"

// Redis keeps cached answers in a Redis server, version 5 or newer.
type Redis struct {
	redisclient.Connection

	server *server
}

// server is the connection to a server, which survives reloads.
type server struct {
	goredis.UniversalClient
	circuit redisclient.Circuit
}

// Destruct implements caddy.Destructor.
func (s *server) Destruct() error { return s.Close() }

// pool contains the servers in use, by their connections.
var pool = caddy.NewUsagePool()

// CaddyModule returns the Caddy module information.
func (Redis) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "ai_gateway.caches.redis", New: func() caddy.Module { return new(Redis) }}
}

// UnmarshalCaddyfile reads the module. Syntax:
//
//	redis <address> {
//		username <name>
//		password <reference>
//		tls
//		timeout  <duration>
//	}
func (r *Redis) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the name of the module
	return r.Unmarshal(d, "cache redis", nil)
}

// Provision checks the configuration. It does not connect.
func (r *Redis) Provision(ctx caddy.Context) error {
	password, err := r.Connection.Provision()
	if err != nil {
		return err
	}
	loaded, _, err := pool.LoadOrNew(r.Connection, func() (caddy.Destructor, error) {
		return &server{r.Client(password, 0), redisclient.Circuit{Server: "cached answers", Logger: ctx.Logger()}}, nil
	})
	if err != nil {
		return err
	}
	r.server = loaded.(*server)
	return nil
}

// Cleanup releases the server.
func (r *Redis) Cleanup() error {
	if r.server == nil {
		return nil
	}
	_, err := pool.Delete(r.Connection)
	return err
}

var errResting = errors.New("the Redis server did not answer; it gets no calls for a second, and no writes before it answers")

// do calls the server, unless its circuit is open. The call is not cancelled when the client of a
// request leaves: that would count as a failure of the server.
func (r *Redis) do(call func(context.Context) error) error {
	if !r.server.circuit.Closed() {
		return errResting
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.Timeout))
	defer cancel()
	err := call(ctx)
	r.server.circuit.Record(err)
	if err != nil {
		return fmt.Errorf("calling the Redis server: %w", err)
	}
	return nil
}

// Get implements aigateway.AnswerCache.
func (r *Redis) Get(name string) (value []byte, err error) {
	err = r.do(func(ctx context.Context) (err error) {
		if value, err = r.server.Get(ctx, tag+name).Bytes(); errors.Is(err, goredis.Nil) {
			value, err = nil, nil
		}
		return err
	})
	return value, err
}

// Put implements aigateway.AnswerCache. It does not try a server whose latest call has failed: the request
// has waited for that already, and the next one reads before it writes.
func (r *Redis) Put(name string, value []byte, ttl time.Duration) error {
	if r.server.circuit.Fails() {
		return errResting
	}
	return r.do(func(ctx context.Context) error {
		return putScript.Run(ctx, r.server, []string{tag + name}, value, max(ttl.Milliseconds(), 1)).Err()
	})
}

// putScript sets a value that remains until the later of two ends: its own, and that of the value in its place.
var putScript = goredis.NewScript(`
local left = redis.call("PTTL", KEYS[1])
return redis.call("SET", KEYS[1], ARGV[1], "PX", math.max(left, tonumber(ARGV[2])))`)

// pageSize is about how many names the server looks at for a page of them.
const pageSize = 1000

// Remove implements aigateway.AnswerCache. Values that are put meanwhile may remain.
func (r *Redis) Remove(prefix string) (int, error) {
	var removed atomic.Int64
	each := func(ctx context.Context, node *goredis.Client) error {
		n, err := removeFrom(ctx, node, tag+prefix+"*")
		removed.Add(n)
		return err
	}
	var err error
	if cluster, ok := r.server.UniversalClient.(*goredis.ClusterClient); ok {
		err = cluster.ForEachMaster(context.Background(), each)
	} else {
		err = each(context.Background(), r.server.UniversalClient.(*goredis.Client))
	}
	if err != nil {
		err = fmt.Errorf("removing answers of the Redis server: %w", err)
	}
	return int(removed.Load()), err
}

// removeFrom removes the values of a node whose names match. The names of a page may belong to
// several slots of a cluster, and a command may not.
func removeFrom(ctx context.Context, node *goredis.Client, match string) (removed int64, err error) {
	for cursor := uint64(0); ; {
		names, next, err := node.Scan(ctx, cursor, match, pageSize).Result()
		if err != nil {
			return removed, err
		}
		results, err := node.Pipelined(ctx, func(p goredis.Pipeliner) error {
			for _, name := range names {
				p.Unlink(ctx, name)
			}
			return nil
		})
		if err != nil {
			return removed, err
		}
		for _, result := range results {
			removed += result.(*goredis.IntCmd).Val()
		}
		if cursor = next; next == 0 {
			return removed, nil
		}
	}
}

// Degraded implements aigateway.Degradable.
func (r *Redis) Degraded() error { return r.server.circuit.Problem() }

// Interface guards
var (
	_ caddy.Provisioner     = (*Redis)(nil)
	_ caddy.CleanerUpper    = (*Redis)(nil)
	_ caddyfile.Unmarshaler = (*Redis)(nil)
	_ aigateway.AnswerCache = (*Redis)(nil)
	_ aigateway.Degradable  = (*Redis)(nil)
)
