package command

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// checkLimitFlag returns an error unless the selected configuration defines the limit of the flag,
// or a team has its name. A key with another one would be refused. Without a configuration, every
// limit passes.
func checkLimitFlag(cmd *cobra.Command, a admin) error {
	name, _ := cmd.Flags().GetString("limit")
	if name == "" {
		return nil
	}
	config, err := selectedConfig(cmd)
	if err != nil || config == nil {
		return err
	}
	limits, err := limitsOf(config)
	if err == nil {
		err = aigateway.CheckLimitDefined(name, limits.LimitNames())
	}
	if err != nil && call(a, http.MethodGet, teamPath(name, ""), nil, nil) == nil {
		return nil
	}
	return err
}

// selectedConfig returns the configuration of --config or of the running Caddy at
// --address, as JSON; nil without both.
func selectedConfig(cmd *cobra.Command) ([]byte, error) {
	address, _ := cmd.Flags().GetString("address")
	path, _ := cmd.Flags().GetString("config")
	adapter, _ := cmd.Flags().GetString("adapter")
	switch {
	case address != "":
		return remote{address}.send(http.MethodGet, "/config/", nil)
	case path != "":
		if _, err := newContext(); err != nil { // otherwise, Caddy logs what it loads
			return nil, err
		}
		config, _, _, err := caddycmd.LoadConfig(path, adapter)
		return config, err
	}
	return nil, nil
}

// configLimits implements aigateway.LimitReader with the limits of a configuration that no
// process runs: for each site, its limits by their names.
type configLimits []map[string]*configLimit

// configLimit is a limit as a configuration has it.
type configLimit struct {
	aigateway.Limit
	Parent string `json:"within"`
}

// limitsOf returns the limits of a configuration.
func limitsOf(config []byte) (all configLimits, err error) {
	var root struct {
		Apps struct {
			Gateway json.RawMessage `json:"ai_gateway"`
			HTTP    any
		}
	}
	if err := json.Unmarshal(config, &root); err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	limits := sites(root.Apps.HTTP)
	if len(limits) == 0 {
		limits = append(limits, nil) // the limits of the global option alone
	}
	for _, site := range limits {
		own, _ := json.Marshal(site) // no error, because the value was decoded from JSON
		limits := make(map[string]*configLimit)
		for _, part := range [...]json.RawMessage{root.Apps.Gateway, own} {
			var words struct{ Limits []*configLimit }
			if len(part) == 0 {
				continue
			}
			if err := json.Unmarshal(part, &words); err != nil {
				return nil, fmt.Errorf("reading the limits of the configuration: %w", err)
			}
			for _, limit := range words.Limits {
				limits[limit.Name] = limit
			}
		}
		all = append(all, limits)
	}
	return all, nil
}

// LimitNames implements aigateway.LimitReader.
func (c configLimits) LimitNames() (names []string) {
	for _, site := range c {
		for name := range site {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// CheckTeam implements aigateway.LimitReader. It checks the limits with the name of the team;
// what the rules of a team need is only known to a running gateway.
func (c configLimits) CheckTeam(t *aigateway.Team) error {
	for _, site := range c {
		var chain []*aigateway.Limit
		for limit := site[t.Name]; limit != nil && len(chain) < len(site); limit = site[limit.Parent] {
			chain = append(chain, &limit.Limit)
		}
		if len(chain) == 0 {
			continue
		}
		for _, limit := range site {
			if limit.Per == aigateway.PerGateway {
				chain = append(chain, &limit.Limit)
			}
		}
		if err := aigateway.CheckChosen(chain); err != nil {
			return err
		}
	}
	return nil
}

// Unusable implements aigateway.LimitReader. Only a running gateway knows the keys in use.
func (configLimits) Unusable(string) error { return nil }

// CheckKey implements aigateway.LimitReader. Only a running gateway knows what own rules need.
func (configLimits) CheckKey(*aigateway.Key) error { return nil }

// CheckUser implements aigateway.LimitReader. Only a running gateway knows what own rules need.
func (configLimits) CheckUser(string, *aigateway.Limit) error { return nil }

// Limits implements aigateway.LimitReader. Only a running gateway knows the states.
func (configLimits) Limits(context.Context, aigateway.LimitQuery) (aigateway.LimitPage, error) {
	return aigateway.LimitPage{}, fmt.Errorf("%w: no gateway is running here", aigateway.ErrUnavailable)
}
