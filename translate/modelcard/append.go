package modelcard

import (
	"strconv"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Card is an entry of the list of models.
type Card struct {
	ID            string // the name a client uses
	DisplayName   string // for people; default: the id
	Created       int64  // Unix seconds; 0 when nobody knows
	OwnedBy       string // default: "gateway"
	ContextTokens int64  // the size of the context window; 0 when nobody knows
	OutputTokens  int64  // the longest answer; 0 when nobody knows
}

// AppendEntry appends one model in the shape of the format: messages clients
// read another one than all others.
func AppendEntry(dst []byte, format translate.Format, m Card) []byte {
	if format == translate.Messages {
		return appendMessagesModel(dst, m)
	}
	return appendChatModel(dst, m)
}

// appendMessagesModel appends the shape of the messages format, which has
// members for the sizes.
func appendMessagesModel(dst []byte, m Card) []byte {
	dst = append(dst, `{"type":"model","id":`...)
	dst = jsonscan.AppendString(dst, m.ID)
	dst = append(dst, `,"display_name":`...)
	dst = jsonscan.AppendString(dst, orElse(m.DisplayName, m.ID))
	dst = append(dst, `,"created_at":"`...)
	dst = time.Unix(m.Created, 0).UTC().AppendFormat(dst, time.RFC3339)
	dst = append(dst, '"')
	dst = appendSize(dst, `,"max_input_tokens":`, m.ContextTokens)
	dst = appendSize(dst, `,"max_tokens":`, m.OutputTokens)
	return append(dst, '}')
}

// appendChatModel appends the shape of the other formats. It has no members for
// the name and the sizes; the ones written here are those of the services that
// add them.
func appendChatModel(dst []byte, m Card) []byte {
	dst = append(dst, `{"id":`...)
	dst = jsonscan.AppendString(dst, m.ID)
	dst = append(dst, `,"object":"model","created":`...)
	dst = strconv.AppendInt(dst, m.Created, 10)
	dst = append(dst, `,"owned_by":`...)
	dst = jsonscan.AppendString(dst, orElse(m.OwnedBy, "gateway"))
	if m.DisplayName != "" {
		dst = append(dst, `,"name":`...)
		dst = jsonscan.AppendString(dst, m.DisplayName)
	}
	dst = appendSize(dst, `,"context_length":`, m.ContextTokens)
	dst = appendSize(dst, `,"max_completion_tokens":`, m.OutputTokens)
	return append(dst, '}')
}

// appendSize appends a member unless its value is not known.
func appendSize(dst []byte, name string, tokens int64) []byte {
	if tokens == 0 {
		return dst
	}
	return strconv.AppendInt(append(dst, name...), tokens, 10)
}

// Append appends the list of models in the shape of the format. More
// says that others follow the last one; only messages clients are told.
func Append(dst []byte, format translate.Format, models []Card, more bool) []byte {
	if format != translate.Messages {
		dst = append(dst, `{"object":"list",`...)
		dst = appendModels(dst, format, models)
		return append(dst, '}')
	}
	first, last := "", ""
	if len(models) > 0 {
		first, last = models[0].ID, models[len(models)-1].ID
	}
	dst = append(dst, '{')
	dst = appendModels(dst, format, models)
	dst = append(dst, `,"has_more":`...)
	dst = strconv.AppendBool(dst, more)
	dst = append(dst, `,"first_id":`...)
	dst = jsonscan.AppendStringOrNull(dst, first)
	dst = append(dst, `,"last_id":`...)
	dst = jsonscan.AppendStringOrNull(dst, last)
	return append(dst, '}')
}

func appendModels(dst []byte, format translate.Format, models []Card) []byte {
	dst = append(dst, `"data":[`...)
	for i, m := range models {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendEntry(dst, format, m)
	}
	return append(dst, ']')
}

func orElse(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}
