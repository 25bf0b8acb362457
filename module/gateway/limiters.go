package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// limiters are the limits that keys may name.
type limiters map[string]aigateway.Limiter

// defaultCounters are the counters of a configuration without counters.
const defaultCounters = `{"counters":"memory"}`

// addLimiters provisions the limits of c.
func (r *resolved) addLimiters(ctx caddy.Context, c *Config) error {
	if len(c.KeyLimits) == 0 {
		return nil
	}
	counters, err := c.loadCounters(ctx)
	if err != nil {
		return fmt.Errorf("loading counters: %w", err)
	}
	for _, config := range c.KeyLimits {
		if err := r.limiters.add(counters, config); err != nil {
			return fmt.Errorf("limit '%s': %w", config.Name, err)
		}
	}
	return nil
}

func (c *Config) loadCounters(ctx caddy.Context) (aigateway.Counters, error) {
	own := *c // a copy: loading empties the raw field, which sites inherit
	if own.CountersRaw == nil {
		own.CountersRaw = json.RawMessage(defaultCounters)
	}
	mod, err := ctx.LoadModule(&own, "CountersRaw")
	if err != nil {
		return nil, err
	}
	return mod.(aigateway.Counters), nil
}

func (l limiters) add(counters aigateway.Counters, config *KeyLimit) (err error) {
	if err := aigateway.CheckLimitName(config.Name); err != nil {
		return err
	}
	if l[config.Name] != nil {
		return errors.New("is defined twice")
	}
	if err := config.Check(); err != nil {
		return err
	}
	l[config.Name], err = counters.Limiter(config.Name, config.LimitRules)
	return err
}

// checkAccounts refuses accounts whose keys have a limit that is not defined.
func (l limiters) checkAccounts(accounts aigateway.Accounts) error {
	if accounts == nil {
		return nil
	}
	if name := accounts.LimitOfKeys(); name != "" && l[name] == nil {
		return fmt.Errorf("accounts: the limit '%s' is not defined", name)
	}
	return nil
}

// check refuses keys whose limit is not defined: without it they would be unlimited.
func (l limiters) check(keys iter.Seq[*aigateway.Key]) error {
	for key := range keys {
		if key.Limit != "" && l[key.Limit] == nil {
			return &aigateway.KeyError{ID: key.ID, Problem: "names the limit '" + key.Limit + "', which is not defined"}
		}
	}
	return nil
}
