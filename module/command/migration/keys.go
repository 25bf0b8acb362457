package migration

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Key is a key of clients, whose credential is a digest. Clients keep it.
type Key struct {
	Comment  string
	Name     string
	Digest   string // sha256:…
	Owner    string
	Models   []string // patterns; empty for all
	Networks []string
	Expires  string // RFC 3339; "" for never
	Limit    string
	Disabled bool
}

// Digest returns the digest of a key that is known as clear text.
func Digest(key string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(key))) }

// KeysFile returns keys as the text of a file of keys, sorted by name.
func KeysFile(keys []Key) string {
	keys = slices.Clone(keys)
	slices.SortFunc(keys, func(a, b Key) int { return strings.Compare(a.Name, b.Name) })
	var b strings.Builder
	for _, k := range keys {
		var block []Line
		for _, word := range [...]struct {
			name   string
			values []string
		}{{"owner", single(k.Owner)}, {"models", k.Models}, {"from", k.Networks}, {"expires", single(k.Expires)}, {"limit", single(k.Limit)}} {
			if len(word.values) > 0 {
				block = append(block, Words(append([]string{word.name}, word.values...)...))
			}
		}
		if k.Disabled {
			block = append(block, Words("disabled"))
		}
		write(&b, 0, Line{Comment: k.Comment, Words: []string{"key", k.Name, k.Digest}, Block: block})
	}
	return b.String()
}

func single(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// Names gives names that no other thing of the same kind has. The zero Names has none.
type Names struct{ taken map[string]bool }

var outsideNames = regexp.MustCompile(`[^A-Za-z0-9._@+-]+`)

// GiveKey returns a text as a name of a key; see Give. It gives no name that is reserved for the keys of users.
func (n *Names) GiveKey(text, otherwise string) string {
	name := nameOf(text, otherwise)
	if _, isStored := aigateway.StoredKeyNumber(name); isStored {
		name = "imported-" + name
	}
	return n.Give(name, otherwise)
}

// nameOf returns the name in a text, otherwise if there is none.
func nameOf(text, otherwise string) string {
	name := strings.Trim(outsideNames.ReplaceAllString(text, "-"), "._@+-")
	return cmp.Or(name[:min(len(name), 56)], otherwise)
}

// Give returns a text as a name of an owner or a limit: other characters become "-", and a
// name that is taken gets a number. A text without a letter or a digit becomes the name
// otherwise.
func (n *Names) Give(text, otherwise string) string {
	name := nameOf(text, otherwise)
	if n.taken == nil {
		n.taken = map[string]bool{}
	}
	first := name
	for i := 2; n.taken[name]; i++ {
		name = fmt.Sprintf("%s-%d", first, i)
	}
	n.taken[name] = true
	return name
}
