package modelcard

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Card is an entry of a list of models.
type Card struct {
	ID            string // the name a client uses
	DisplayName   string // for people; default: the id
	Created       int64  // Unix seconds; 0 if unknown
	OwnedBy       string // default: "gateway"
	ContextTokens int64  // size of the context window; 0 if unknown
	OutputTokens  int64  // bound of an answer; 0 if unknown
	Shutdown      string // the day on which the service ends the model, YYYY-MM-DD; "" if unknown
	Abilities
}

// Abilities are what a model takes beyond texts. Nothing is known of an ability that is nil.
type Abilities struct {
	Media    []string // image, pdf, audio, video
	Thinking []string // adaptive, enabled (with a budget of tokens), or effort
	Efforts  []string // the words for the effort
	Schemas  *bool    // whether it answers by a schema
}

// AppendSize appends a member with a size in tokens, unless it is unknown.
func AppendSize(dst []byte, name string, tokens int64) []byte {
	if tokens == 0 {
		return dst
	}
	return strconv.AppendInt(append(dst, name...), tokens, 10)
}

func orElse(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

// AppendTexts appends a member with a list of texts.
func AppendTexts(dst []byte, name string, texts ...string) []byte {
	dst = append(append(dst, name...), '[')
	for i, text := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsonscan.AppendString(dst, text)
	}
	return append(dst, ']')
}
