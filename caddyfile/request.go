package caddyfile

import (
	"slices"
	"strings"

	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/affinity"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/cors"
)

// The functions of this file read what the gateway takes from the headers and fields of requests
// beside the format.

// readCORS reads the origins of web pages whose scripts may call the gateway.
func readCORS(d *cf.Dispenser, c *config) (err error) {
	if c.gateway.CORS, err = readList(d, nil); err != nil {
		return err
	}
	for _, origin := range c.gateway.CORS {
		if err := cors.Check(origin); err != nil {
			return d.Errf("cors: %w, not '%s'", err, origin)
		}
	}
	return nil
}

// readAffinity reads the headers and fields with the session of a request, or off.
func readAffinity(d *cf.Dispenser, c *config) error {
	list, err := readList(d, nil)
	if err != nil {
		return err
	}
	sources := affinity.Sources{}
	if !slices.Equal(list, []string{"off"}) {
		for _, source := range list {
			sources = append(sources, affinity.Source(source))
		}
	}
	if err := sources.Check(); err != nil {
		return d.Errf("affinity: %w", err)
	}
	c.gateway.Affinity = &sources
	return nil
}

// readTags reads the names of tags, and the sources of those that are read from requests: name=source.
func readTags(d *cf.Dispenser, c *config) error {
	list, err := readList(d, nil)
	if err != nil {
		return err
	}
	c.gateway.TagSources = make(map[string]affinity.Source)
	for _, text := range list {
		name, source, isRead := strings.Cut(text, "=")
		c.gateway.Tags = append(c.gateway.Tags, name)
		if isRead {
			c.gateway.TagSources[name] = affinity.Source(source)
		}
	}
	return checkNames(d, c)
}

// readCustomer reads the headers and fields with the customer of a request.
func readCustomer(d *cf.Dispenser, c *config) error {
	list, err := readList(d, nil)
	if err != nil {
		return err
	}
	for _, source := range list {
		c.gateway.Customer = append(c.gateway.Customer, affinity.Source(source))
	}
	return checkNames(d, c)
}

// checkNames returns an error for names of tags, or sources of customers, that are not valid.
func checkNames(d *cf.Dispenser, c *config) error {
	if err := c.gateway.Names.Check(); err != nil {
		return d.WrapErr(err)
	}
	return nil
}
