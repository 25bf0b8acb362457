package messages

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/modelcard"
)

// appendModel appends one model, with members for what is known of it.
func appendModel(dst []byte, m modelcard.Card) []byte {
	dst = append(dst, `{"type":"model","id":`...)
	dst = jsonscan.AppendString(dst, m.ID)
	dst = append(dst, `,"display_name":`...)
	dst = jsonscan.AppendString(dst, cmp.Or(m.DisplayName, m.ID))
	dst = append(dst, `,"created_at":"`...)
	dst = time.Unix(m.Created, 0).UTC().AppendFormat(dst, time.RFC3339)
	dst = append(dst, '"')
	dst = modelcard.AppendSize(dst, `,"max_input_tokens":`, m.ContextTokens)
	dst = modelcard.AppendSize(dst, `,"max_tokens":`, m.OutputTokens)
	if m.Shutdown != "" {
		dst = jsonscan.AppendString(append(dst, `,"retires_at":`...), m.Shutdown+"T00:00:00Z")
	}
	return append(appendCapabilities(dst, &m.Abilities), '}')
}

// efforts are the words that the capability effort has.
var efforts = []string{"low", "medium", "high", "xhigh", "max"}

// appendCapabilities appends those capabilities of which something is known.
func appendCapabilities(dst []byte, a *modelcard.Abilities) []byte {
	const member = `,"capabilities":{`
	dst = append(dst, member...)
	start := len(dst)
	support := func(name string, supported bool) {
		if len(dst) > start && dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), name...), `":{"supported":`...)
		dst = append(strconv.AppendBool(dst, supported), '}')
	}
	if a.Media != nil {
		support("image_input", slices.Contains(a.Media, "image"))
		support("pdf_input", slices.Contains(a.Media, "pdf"))
	}
	if a.Schemas != nil {
		support("structured_outputs", *a.Schemas)
	}
	if a.Thinking != nil {
		support("thinking", len(a.Thinking) > 0)
		dst = append(dst[:len(dst)-1], `,"types":{`...)
		support("adaptive", slices.Contains(a.Thinking, "adaptive"))
		support("enabled", slices.Contains(a.Thinking, "enabled"))
		dst = append(dst, "}}"...)
	}
	if a.Efforts != nil {
		support("effort", len(a.Efforts) > 0)
		dst = dst[:len(dst)-1]
		for _, word := range efforts {
			support(word, slices.Contains(a.Efforts, word))
		}
		dst = append(dst, '}')
	}
	if len(dst) == start {
		return dst[:start-len(member)]
	}
	return append(dst, '}')
}

// appendModels appends a page of models, with the ids by which the next one is asked
// for.
func appendModels(dst []byte, models []modelcard.Card, more bool) []byte {
	first, last := "", ""
	if len(models) > 0 {
		first, last = models[0].ID, models[len(models)-1].ID
	}
	dst = append(dst, `{"data":[`...)
	for i := range models {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendModel(dst, models[i])
	}
	dst = append(dst, `],"has_more":`...)
	dst = strconv.AppendBool(dst, more)
	dst = append(dst, `,"first_id":`...)
	dst = jsonscan.AppendStringOrNull(dst, first)
	dst = append(dst, `,"last_id":`...)
	dst = jsonscan.AppendStringOrNull(dst, last)
	return append(dst, '}')
}
