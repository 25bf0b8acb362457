package caddyfile

import (
	"maps"
	"slices"

	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/suggest"
)

// word is how one word of a block is read. The function finds the dispenser on
// the word itself and reads the rest of its line and its block, if any.
type word[T any] struct {
	read   func(d *cf.Dispenser, target T) error
	repeat bool // it may stand in the block more than once
	hidden bool // known only to explain why it cannot be used
}

// words is the vocabulary of one kind of block.
type words[T any] map[string]word[T]

// readBlock reads the block that may follow. Words that are not in the
// vocabulary are given to other, if it is not nil.
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

// names are the words of the vocabulary that can be used, sorted.
func (w words[T]) names() []string {
	hidden := func(name string) bool { return w[name].hidden }
	return slices.DeleteFunc(slices.Sorted(maps.Keys(w)), hidden)
}
