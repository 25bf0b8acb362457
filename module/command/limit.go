package command

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// checkLimit returns an error unless the selected configuration defines a limit, or a team has
// its name. A key with another one would be refused. Without a configuration, every limit passes.
func checkLimit(cmd *cobra.Command, a admin, name string) error {
	if name == "" {
		return nil
	}
	config, err := selectedConfig(cmd)
	if err != nil || config == nil {
		return err
	}
	limits, err := limitsOf(config)
	if err == nil {
		err = aigateway.CheckLimitDefined(name, limits)
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

// limitsOf returns the sorted names of the limits of a configuration, those of all its
// sites included.
func limitsOf(config []byte) (names []string, err error) {
	var root struct {
		Apps struct {
			Gateway any `json:"ai_gateway"`
			HTTP    any
		}
	}
	if err := json.Unmarshal(config, &root); err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	gateways := sites(root.Apps.HTTP)
	if global, ok := root.Apps.Gateway.(map[string]any); ok {
		gateways = append(gateways, global)
	}
	for _, gateway := range gateways {
		limits, _ := gateway["limits"].([]any)
		for _, item := range limits {
			limit, _ := item.(map[string]any)
			names = append(names, fmt.Sprint(limit["name"]))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
