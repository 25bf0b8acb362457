package openai

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
)

const includeUsage = `"include_usage":true`

// AskUsage returns the edit of a request that asks for the usage of its stream, in
// the least intrusive of four ways.
func AskUsage(body []byte, u *translate.StreamUsage) edit.Edit {
	switch options := u.Options; {
	case !u.Value.Empty():
		return edit.Edit{Span: u.Value, With: []byte("true")}
	case options.Empty():
		return edit.Edit{Span: translate.Span{Start: u.End, End: u.End}, With: []byte(`,"stream_options":{` + includeUsage + `}`)}
	case body[options.Start] == 'n', len(bytes.TrimSpace(body[options.Start+1:options.End-1])) == 0: // null or {}
		return edit.Edit{Span: options, With: []byte("{" + includeUsage + "}")}
	default:
		at := translate.Span{Start: options.Start + 1, End: options.Start + 1}
		return edit.Edit{Span: at, With: []byte(includeUsage + ",")}
	}
}
