// Package presetwords reads the words that presets have of their own in the block of a provider.
package presetwords

import (
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Word is a word of a preset. Exactly one of To, List and Read is set.
type Word struct {
	Name  string
	Needs string                           // what Value is, for an error: "one region"
	Value *string                          // the only value
	List  *[]string                        // any number of values
	Read  func(*caddyfile.Dispenser) error // values and block
}

// Read reads the words of a preset, and then validates it.
func Read(d *caddyfile.Dispenser, preset string, module caddy.Validator, table ...Word) error {
	for d.Next() {
		if err := readWord(d, preset, table); err != nil {
			return err
		}
	}
	if err := module.Validate(); err != nil {
		return d.WrapErr(err)
	}
	return nil
}

func readWord(d *caddyfile.Dispenser, preset string, table []Word) error {
	var names []string
	for _, w := range table {
		names = append(names, w.Name)
		switch {
		case w.Name != d.Val():
		case w.Read != nil:
			return w.Read(d)
		case w.List != nil:
			*w.List = append(*w.List, aigateway.SplitList(d.RemainingArgs())...)
			return nil
		case d.AllArgs(w.Value):
			return nil
		default:
			return d.Errf("%s needs %s", w.Name, w.Needs)
		}
	}
	last := len(names) - 1
	return d.Errf("unrecognized word in a provider of the preset %s: %s; its own words are %s and %s",
		preset, d.Val(), strings.Join(names[:last], ", "), names[last])
}
