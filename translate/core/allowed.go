package core

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// AllowedTools are the tools that may be used, where some may not. A nil list allows
// all tools.
type AllowedTools struct {
	names []string        // in the order of the client
	found map[string]bool // by name: the request has the tool
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

// Has reports whether a tool of that raw name may be used, and notes that there is
// one.
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

// Check reports, by a row, the tools of the list that are not there. The list stands at
// a path of the body.
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
