package pairs

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages"
)

// blockMembers are the members that the blocks of a type have. Those of other
// types are refused, or left out as a whole.
var blockMembers = map[string][]string{
	"text":              {"text", "citations", "cache_control"},
	"image":             {"source", "cache_control"},
	"document":          {"source", "title", "context", "citations", "cache_control"},
	"search_result":     {"source", "title", "content", "citations", "cache_control"},
	"thinking":          {"thinking", "signature"},
	"redacted_thinking": {"data"},
	"tool_use":          {"id", "name", "input", "cache_control"},
	"tool_result":       {"tool_use_id", "content", "is_error", "cache_control"},
	"tool_reference":    {"tool_name", "cache_control"},
}

// sourceMembers are those of the sources of a type.
var sourceMembers = map[string][]string{
	"base64":  {"media_type", "data"},
	"text":    {"media_type", "data"},
	"url":     {"url"},
	"content": {"content"},
}

// blockStrays reports the members of a block that only blocks of another type
// have; lost is the path of losses in it.
func (x *fromMessages) blockStrays(b *messages.Block, lost string) {
	own, known := blockMembers[string(b.Type)]
	if !known {
		return
	}
	for _, m := range [...]member{
		{"text", b.Text}, {"source", b.Source}, {"title", b.Title}, {"context", b.Context}, {"thinking", b.Thinking}, {"signature", b.Signature},
		{"data", b.Data}, {"id", b.ID}, {"name", b.Name}, {"input", b.Input}, {"tool_use_id", b.ToolUseID}, {"tool_name", b.ToolName},
		{"content", b.Content}, {"is_error", b.IsError}, {"citations", b.Citations}, {"cache_control", b.CacheControl},
	} {
		x.foreign(&m, own, lost)
	}
}

// sourceStrays does so for the members of a source.
func (x *fromMessages) sourceStrays(s *messages.Source, lost string) {
	own, known := sourceMembers[string(s.Type)]
	if !known {
		return
	}
	for _, m := range [...]member{{"media_type", s.MediaType}, {"data", s.Data}, {"url", s.URL}, {"content", s.Content}} {
		x.foreign(&m, own, lost+"source.")
	}
}

// foreign reports a member that is none of an object's own.
func (x *conversion) foreign(m *member, own []string, lost string) {
	if m.says() && !slices.Contains(own, m.name) {
		x.losses.AddIn(translate.Hint, lost, m.name)
	}
}
