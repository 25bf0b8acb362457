package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/events"
)

// The values of Config.Pin.
const (
	Warn  = "warn"
	Block = "block"
)

// storage has the methods of Caddy's storage that pins need.
type storage interface {
	Lock(ctx context.Context, name string) error
	Unlock(ctx context.Context, name string) error
	Load(ctx context.Context, key string) ([]byte, error)
	Store(ctx context.Context, key string, value []byte) error
}

// patience is the longest time for which a request waits for the storage.
const patience = 5 * time.Second

// pins are the definitions of the tools of a server that are accepted, in Caddy's storage, which the machines
// of a cluster share. The first definition of each tool is.
type pins struct {
	mode   string // Warn or Block
	server string
	name   string // in the storage
	store  storage
	logger *zap.Logger

	mu    sync.Mutex // guards all below
	tools map[string]definition
	known bool // tools are, or were, those in the storage
}

// definition is what is known of the definition of a tool: digests.
type definition struct {
	Accepted string `json:"accepted"`
	Changed  string `json:"changed,omitempty"` // of the last one that was seen, if it is another
}

// newPins returns the pins of a server, nil if it has none.
func newPins(c *Config, store storage, logger *zap.Logger) *pins {
	if c.Pin == "" {
		return nil
	}
	// Another address is another server.
	address := sha256.Sum256([]byte(c.Address))
	name := fmt.Sprintf("ai_gateway/mcp/%s-%x.json", c.Name, address[:6]) // a colon is in no name of a file on Windows
	return &pins{mode: c.Pin, server: c.Name, name: name, store: store, logger: logger.With(zap.String("server", c.Name)), tools: make(map[string]definition)}
}

// Comparison compares the definitions of tools in one answer with those that are accepted.
type Comparison struct {
	pins   *pins
	read   bool
	failed error                 // of reading
	noted  map[string]definition // to store
}

// Compare begins a comparison, nil for a server without pins.
func (s *Server) Compare() *Comparison {
	if s.pins == nil {
		return nil
	}
	return &Comparison{pins: s.pins, noted: make(map[string]definition)}
}

// Keeps reports whether clients see a tool with a definition. It notes a new tool and a changed definition.
func (c *Comparison) Keeps(tool string, raw []byte) bool {
	if c == nil {
		return true
	}
	p := c.pins
	p.mu.Lock()
	defer p.mu.Unlock()
	if !c.read {
		c.read, c.failed = true, p.load()
	}
	if !p.known {
		return p.mode == Warn
	}
	digest := digestOf(raw)
	switch d, ok := p.tools[tool]; {
	case !ok, d.Accepted == digest && d.Changed != "":
		c.note(tool, definition{Accepted: digest})
		return true
	case d.Accepted == digest:
		return true
	case d.Changed != digest:
		c.note(tool, definition{d.Accepted, digest})
		p.logger.Warn("the definition of an MCP tool has changed", zap.String("tool", ClipName(tool)), zap.String("pin", p.mode))
		events.Emit(events.ToolChanged, map[string]any{"server": p.server, "tool": ClipName(tool), "pin": p.mode, "digest": digest})
	}
	return p.mode == Warn
}

// note keeps a definition until End. The caller holds the lock.
func (c *Comparison) note(tool string, d definition) { c.pins.tools[tool], c.noted[tool] = d, d }

// ClipName returns a name of a server or a client in a length for logs.
func ClipName(name string) string { return name[:min(len(name), 128)] }

// End stores what a comparison has noted.
func (c *Comparison) End() {
	if c == nil || !c.read {
		return
	}
	err := c.failed
	if len(c.noted) > 0 {
		c.pins.mu.Lock()
		defer c.pins.mu.Unlock()
		err = errors.Join(err, c.pins.update(c.addTo))
	}
	c.pins.log(err)
}

// addTo adds what was noted to what is stored. What another gateway has accepted meanwhile stays accepted.
func (c *Comparison) addTo(stored map[string]definition) {
	for tool, d := range c.noted {
		if other, ok := stored[tool]; !ok || other.Accepted == d.Accepted {
			stored[tool] = d
		}
	}
}

// log logs an error of the storage, if there is one.
func (p *pins) log(err error) {
	if err != nil {
		p.logger.Error("reading or storing the definitions of MCP tools failed", zap.Error(err))
	}
}

// Callable reports whether clients may call a tool: its definition is accepted, or changes do not block it.
func (s *Server) Callable(tool string) bool {
	p := s.pins
	if p == nil || p.mode == Warn {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.known || p.tools[tool].Changed != "" { // another gateway may have noted or accepted it
		p.log(p.load())
	}
	return p.known && p.tools[tool].Changed == ""
}

// Pinned returns the number of the tools whose definitions are known, and the names of those whose definitions have
// changed, sorted.
func (s *Server) Pinned() (known int, changed []string, err error) {
	if s.pins == nil {
		return 0, nil, nil
	}
	s.pins.mu.Lock()
	defer s.pins.mu.Unlock()
	err = s.pins.load()
	for tool, d := range s.pins.tools {
		if d.Changed != "" {
			changed = append(changed, tool)
		}
	}
	return len(s.pins.tools), slices.Sorted(slices.Values(changed)), err
}

// Accept accepts the changed definition of a tool, or of all tools if that is "". It returns the accepted
// ones.
func (s *Server) Accept(tool string) (tools []string, err error) {
	if s.pins == nil {
		return nil, nil
	}
	s.pins.mu.Lock()
	defer s.pins.mu.Unlock()
	err = s.pins.update(func(all map[string]definition) {
		for name, d := range all {
			if d.Changed != "" && (tool == "" || tool == name) {
				all[name] = definition{Accepted: d.Changed}
				tools = append(tools, name)
			}
		}
	})
	return slices.Sorted(slices.Values(tools)), err
}

// load reads the stored definitions in place of those in memory. The caller holds the lock, as for update.
func (p *pins) load() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	stored, err := p.read(ctx)
	if err == nil {
		p.tools, p.known = stored, true
	}
	return err
}

func (p *pins) read(ctx context.Context) (stored map[string]definition, err error) {
	text, err := p.store.Load(ctx, p.name)
	if errors.Is(err, fs.ErrNotExist) {
		return make(map[string]definition), nil
	}
	if err == nil {
		err = json.Unmarshal(text, &stored)
	}
	if err != nil || stored == nil {
		return nil, fmt.Errorf("reading %s: %w", p.name, err)
	}
	return stored, nil
}

// update changes what is stored, and takes it in place of the definitions in memory.
func (p *pins) update(change func(stored map[string]definition)) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := p.store.Lock(ctx, p.name); err != nil {
		return fmt.Errorf("locking %s: %w", p.name, err)
	}
	defer func() { err = errors.Join(err, p.store.Unlock(context.WithoutCancel(ctx), p.name)) }()
	stored, err := p.read(ctx)
	if err != nil {
		return err
	}
	change(stored)
	text, _ := json.Marshal(stored) // strings always encode
	if err := p.store.Store(ctx, p.name, text); err != nil {
		return fmt.Errorf("storing %s: %w", p.name, err)
	}
	p.tools, p.known = stored, true
	return nil
}

// digestOf returns the digest of a definition, whatever its spaces and the order of its members. What is for
// programs alone does not count.
func digestOf(raw []byte) string {
	var members map[string]any
	if json.Unmarshal(raw, &members) == nil {
		delete(members, "_meta")
		delete(members, "icons")
		raw, _ = json.Marshal(members) // what was decoded always encodes
	}
	return fmt.Sprintf("%x", sha256.Sum256(raw))
}
