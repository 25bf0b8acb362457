// Package formats lists the wire formats.
//
// It promises that a format is registered only here. All other code gets the properties
// of a format from its descriptor.
package formats

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/completions"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/responses"
)

// all is in the order in which documentation shows the formats.
var all = []*format.Descriptor{
	&messages.Descriptor,
	&chat.Descriptor,
	&completions.Descriptor,
	&responses.Descriptor,
}

// All returns the formats, in the order in which documentation shows them. It must
// not be changed.
func All() []*format.Descriptor { return all }

// Of returns the format with a name, nil if there is none.
func Of(name translate.Format) *format.Descriptor {
	i := slices.IndexFunc(all, func(d *format.Descriptor) bool { return d.Name == name })
	if i < 0 {
		return nil
	}
	return all[i]
}

// Unspecified returns the format in which requests are answered that reveal none:
// the one that most clients read.
func Unspecified() *format.Descriptor { return &chat.Descriptor }

// Names returns the names of All.
func Names() []translate.Format {
	names := make([]translate.Format, len(all))
	for i, d := range all {
		names[i] = d.Name
	}
	return names
}
