// Package redisclient connects to Redis servers: the words of a connection in the configuration, its
// client, and the circuit that prevents calls while a server does not answer.
package redisclient

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/suggest"
)

// Connection is the configuration of the connection to a server. Equal ones can share a client.
type Connection struct {
	// Address is the host and the port of the server. A Redis Cluster needs the addresses
	// of some of its nodes, separated by commas.
	Address string `json:"address"`

	// Username and Password log in to the server. Password is a reference: {env.NAME} or
	// {file./absolute/path}. Default: none.
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty"`

	// TLS encrypts the connection. Default: false.
	TLS bool `json:"tls,omitempty"`

	// Timeout is the longest time that a request waits for the server. Default: 250ms.
	Timeout caddy.Duration `json:"timeout,omitempty"`
}

const defaultTimeout = 250 * time.Millisecond

var (
	errAddress = errors.New("needs the address of a server, host:port, or several addresses of a cluster, separated by commas")
	errTimeout = errors.New("timeout must be 1ms to 10s")
)

// Unmarshal reads a connection behind the name of a module, which errors repeat with its word. own
// are the words of the module itself, whose values are texts. Syntax:
//
//	<address> {
//		username <name>
//		password <reference>
//		tls
//		timeout  <duration>
//	}
func (c *Connection) Unmarshal(d *caddyfile.Dispenser, name string, own map[string]*string) error {
	if !d.Args(&c.Address) || d.NextArg() {
		return d.Errf("%s %w", name, errAddress)
	}
	if err := checkAddresses(c.Address); err != nil {
		return d.Errf("%s %w", name, err)
	}
	texts := map[string]*string{"username": &c.Username, "password": &c.Password}
	known := []string{"password", "timeout", "tls", "username"}
	for word, text := range own {
		texts[word], known = text, append(known, word)
	}
	slices.Sort(known)
	for d.NextBlock(0) {
		var err error
		switch word := d.Val(); {
		case texts[word] != nil && !d.AllArgs(texts[word]):
			err = d.ArgErr()
		case texts[word] != nil:
		case word == "tls" && d.NextArg():
			err = d.Err("tls has no value")
		case word == "tls":
			c.TLS = true
		case word == "timeout":
			err = c.unmarshalTimeout(d)
		default:
			err = d.Err(suggest.Unrecognized(name, word, known))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *Connection) unmarshalTimeout(d *caddyfile.Dispenser) error {
	var value string
	if !d.AllArgs(&value) {
		return d.ArgErr()
	}
	timeout, err := caddy.ParseDuration(value)
	if err != nil {
		return d.Errf("timeout: %w", err)
	}
	c.Timeout = caddy.Duration(timeout)
	return nil
}

// checkAddresses returns an error for a list of addresses that no connection can use.
func checkAddresses(list string) error {
	for address := range strings.SplitSeq(list, ",") {
		_, port, err := net.SplitHostPort(address)
		if _, invalid := strconv.ParseUint(port, 10, 16); err != nil || invalid != nil {
			return fmt.Errorf("%w, not '%s'", errAddress, address)
		}
	}
	return nil
}

// Provision sets the defaults of the connection, and checks it. It returns the password, and does not
// connect.
func (c *Connection) Provision() (password aigateway.Secret, err error) {
	if c.Timeout == 0 {
		c.Timeout = caddy.Duration(defaultTimeout)
	}
	if timeout := time.Duration(c.Timeout); timeout < time.Millisecond || timeout > 10*time.Second {
		return "", errTimeout
	}
	if err := checkAddresses(c.Address); err != nil {
		return "", fmt.Errorf("redis %w", err)
	}
	if c.Password == "" {
		return "", nil
	}
	if password, err = aigateway.ResolveSecret(c.Password); err != nil {
		return "", fmt.Errorf("password: %w", err)
	}
	return password, nil
}

// Client returns a client of the server, or of the Redis Cluster if there are several
// addresses. It does not connect. No call takes longer than the timeout of the connection, and than
// patience if that is longer: the contexts of calls for which a request waits end earlier.
func (c *Connection) Client(password aigateway.Secret, patience time.Duration) goredis.UniversalClient {
	timeout := max(time.Duration(c.Timeout), patience)
	options := &goredis.UniversalOptions{
		Addrs: strings.Split(c.Address, ","), Username: c.Username, Password: string(password), MaxRetries: -1,
		DialTimeout: timeout, ReadTimeout: timeout, WriteTimeout: timeout, PoolTimeout: timeout,
		ContextTimeoutEnabled:    true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	if c.TLS {
		options.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if len(options.Addrs) == 1 {
		return newClient(options.Simple())
	}
	cluster := options.Cluster()
	cluster.NewClient = newClient
	return goredis.NewClusterClient(cluster)
}

// newClient returns a client that does not repeat a failed attempt to connect. A circuit
// decides when to try again.
func newClient(options *goredis.Options) *goredis.Client {
	options.DialerRetries, options.DialerRetryTimeout = 1, time.Millisecond
	return goredis.NewClient(options)
}
