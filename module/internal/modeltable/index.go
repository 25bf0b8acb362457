package modeltable

import (
	"bytes"
	"slices"
	"strings"
)

// Index finds the entries of models by provider and name. A "*" at the end of a name matches any
// text. The zero Index is empty. It may be read by several goroutines once nothing is added any more.
type Index[T any] struct {
	exact    map[Key]T               // by the names in the table, those with "*" included
	prefixes map[string][]string     // the names with "*" by provider, the longest first
	folded   map[Key]T               // the names with capital letters, in small ones
	plain    map[string]map[string]T // all names without "*" by provider, as appendPlain writes them
}

// Key is a name in a table at a provider.
type Key struct{ Provider, Name string }

// Get returns the entry of a name as it is in the table.
func (x *Index[T]) Get(provider, name string) (entry T, ok bool) {
	entry, ok = x.exact[Key{provider, name}]
	return entry, ok
}

// Set sets the entry of a name.
func (x *Index[T]) Set(provider, name string, entry T) {
	if x.exact == nil {
		x.exact, x.prefixes, x.folded, x.plain = make(map[Key]T), make(map[string][]string), make(map[Key]T), make(map[string]map[string]T)
	}
	if x.plain[provider] == nil {
		x.plain[provider] = make(map[string]T)
	}
	x.plain[provider][strings.TrimRight(string(appendPlain(nil, name)), "*-")] = entry
	if small := strings.ToLower(name); small != name {
		x.folded[Key{provider, small}] = entry
	}
	if _, known := x.exact[Key{provider, name}]; !known && strings.HasSuffix(name, "*") {
		names := append(x.prefixes[provider], name)
		slices.SortStableFunc(names, func(a, b string) int { return len(b) - len(a) })
		x.prefixes[provider] = names
	}
	x.exact[Key{provider, name}] = entry
}

// Find returns the entry of a model. An exact name takes precedence over one with "*", and a
// longer one over a shorter one, in whichever letters: some services do not distinguish capital
// letters, and then a client must not get the entry of a shorter name by writing one. Of names with
// the same letters, the one in the same case takes precedence. version is the text that "*" has
// matched.
func (x *Index[T]) Find(provider, model string) (entry T, version string, ok bool) {
	if entry, ok = x.Get(provider, model); ok {
		return entry, "", true
	}
	small := strings.ToLower(model)
	if entry, ok = x.folded[Key{provider, small}]; ok {
		return entry, "", true
	}
	if entry, ok = x.Get(provider, small); ok {
		return entry, "", true
	}
	return x.findPrefix(provider, model)
}

// findPrefix returns the entry of the longest name with "*" that matches a model.
func (x *Index[T]) findPrefix(provider, model string) (entry T, version string, ok bool) {
	found := ""
	for _, name := range x.prefixes[provider] {
		end := len(name) - 1
		if len(name) < len(found) {
			break
		}
		if end <= len(model) && strings.EqualFold(name[:end], model[:end]) && (found == "" || name[:end] == model[:end]) {
			found = name
		}
	}
	if found == "" {
		return entry, "", false
	}
	entry, _ = x.Get(provider, found)
	return entry, model[len(found)-1:], true
}

// FindVariant returns the entry of a model in another notation: with other signs between its words,
// with a version that the table does not have, or behind the name of a vendor.
func (x *Index[T]) FindVariant(provider, model string) (entry T, ok bool) {
	names := x.plain[provider]
	if names == nil {
		return entry, false
	}
	var buffer [64]byte // of nearly all names: calls of models that no row has look for each of them
	for {
		plain := appendPlain(buffer[:0], model)
		for end := len(plain); end > 0 && isVersion(plain[end:]); end = bytes.LastIndexByte(plain[:end], '-') {
			if entry, ok = names[string(plain[:end])]; ok {
				return entry, true
			}
		}
		_, id, hasVendor := strings.Cut(model, "/")
		if !hasVendor {
			return entry, false
		}
		model = id
	}
}

// appendPlain appends a name in small letters, with hyphens in place of other signs but for that behind
// a vendor.
func appendPlain(dst []byte, name string) []byte {
	for _, b := range []byte(name) {
		switch {
		case 'A' <= b && b <= 'Z':
			b |= ' '
		case b == '.', b == '_', b == '@', b == ':':
			b = '-'
		}
		dst = append(dst, b)
	}
	return dst
}

// All calls yield for all names in the table.
func (x *Index[T]) All(yield func(Key, T) bool) {
	for name, entry := range x.exact {
		if !yield(name, entry) {
			return
		}
	}
}
