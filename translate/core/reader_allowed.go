package core

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// AllowedTools are the tools that may be used, where some may not. A nil list allows
// all tools.
type AllowedTools struct {
	names []string        // in the order of the client
	found map[string]bool // by name: whether the request has the tool
}

// NewAllowedTools returns an empty list.
func NewAllowedTools() *AllowedTools { return &AllowedTools{found: make(map[string]bool)} }

// Empty reports whether the list allows no tool.
func (a *AllowedTools) Empty() bool { return len(a.names) == 0 }

// Allow adds a tool.
func (a *AllowedTools) Allow(name string) {
	a.names = append(a.names, name)
	a.found[name] = false
}

// Has reports whether the tool with a raw name may be used, and notes for Check that
// the request has the tool.
func (a *AllowedTools) Has(raw []byte) bool {
	if a == nil {
		return true
	}
	name := jsonscan.TextOf(raw)
	if _, ok := a.found[name]; !ok {
		return false
	}
	a.found[name] = true
	return true
}

// Check reports a loss by the row missing for each tool of the list that the request
// does not have. path is the path of the list in the body.
func (a *AllowedTools) Check(x *Translation, path string, missing *Row) {
	if a == nil {
		return
	}
	x.At.Enter(path)
	for _, name := range a.names {
		if x.At.Next(); !a.found[name] {
			x.Lose(missing, nil)
		}
	}
	x.At.Leave()
}
