package caddyfile

import (
	"maps"
	"slices"

	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/suggest"
)

// word describes one word of a block. read is called with the word as the current token.
// It reads the rest of the line, and the block if there is one.
type word[T any] struct {
	read   func(d *cf.Dispenser, target T) error
	repeat bool // the word may occur several times
	hidden bool // read only returns an error, which explains why the word cannot be used
}

// words are the words of one kind of block, by name.
type words[T any] map[string]word[T]

// readBlock reads a block, if there is one. It passes unknown words to other, unless other
// is nil.
func (w words[T]) readBlock(d *cf.Dispenser, block string, target T, other func(*cf.Dispenser) error) error {
	seen := make(map[string]bool)
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		name := d.Val()
		known, ok := w[name]
		switch {
		case !ok && other != nil:
			known.read = func(d *cf.Dispenser, _ T) error { return other(d) }
		case !ok:
			return d.Err(suggest.Unrecognized(block, name, w.names()))
		case seen[name] && !known.repeat:
			return d.Errf("%s is given twice in %s", name, block)
		}
		seen[name] = true
		if err := known.read(d, target); err != nil {
			return err
		}
	}
	return nil
}

// names returns the words that can be used, sorted.
func (w words[T]) names() []string {
	hidden := func(name string) bool { return w[name].hidden }
	return slices.DeleteFunc(slices.Sorted(maps.Keys(w)), hidden)
}
