package aigateway

import (
	"fmt"
	"strings"
)

// ServerPrefix is what the names of the servers of the Model Context Protocol begin with where they are
// among the names of models: mcp/github/search_issues is a tool of the server github.
const ServerPrefix = "mcp/"

// WithServers adds servers to the models that a key may use: "github" for all that the server offers, and
// "github/search_*" for some of its tools. A key without models may go on to use all.
func WithServers(models []Pattern, servers []string) ([]Pattern, error) {
	if len(servers) > 0 && len(models) == 0 {
		models = []Pattern{anyName}
	}
	for _, server := range servers {
		name, tools, some := strings.Cut(server, "/")
		if !some {
			tools = string(anyName)
		}
		pattern, err := ParsePattern(ServerPrefix + name + "/" + tools)
		if err != nil || name == "" || tools == "" {
			return nil, fmt.Errorf("'%s' is no name of a server, with a slash and a pattern of its tools behind it for some of them", server)
		}
		models = append(models, pattern)
	}
	return models, nil
}

// anyName matches all names.
const anyName Pattern = "*"

// AllowsServer reports whether k may use anything that a server of the Model Context Protocol offers.
func (k *Key) AllowsServer(server string) bool {
	all := Pattern(ServerPrefix + server + "/*")
	return k.grants(func(p Pattern) bool { return p.Overlaps(all) })
}

// AllowsTool reports whether k may use a tool of a server of the Model Context Protocol, or what else the
// server offers: mcp/github/search_issues.
func (k *Key) AllowsTool(name string) bool {
	return k.grants(func(p Pattern) bool { return p.Match(name) })
}

// grants reports whether a pattern of k permits the use of a server. Only patterns that begin with
// ServerPrefix do: a key for all models is not one for all tools, which act. Users choose the models of
// their keys, so a stored key needs the permission of its team, which its own patterns can only narrow.
func (k *Key) grants(permits func(Pattern) bool) bool {
	own, named := granted(k.Models, permits)
	if k.Team != nil {
		ofTeam, _ := granted(k.Team.Models, permits)
		return ofTeam && (own || !named)
	}
	return own && !IsStoredKeyID(k.ID)
}

// granted reports whether one of the patterns of servers permits something, and whether there are any.
func granted(patterns []Pattern, permits func(Pattern) bool) (permitted, some bool) {
	for _, p := range patterns {
		if strings.HasPrefix(string(p), ServerPrefix) {
			permitted, some = permitted || permits(p), true
		}
	}
	return permitted, some
}
