package pairs

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages"
)

// Members of which each type has only some, in the order in which strays are
// looked for.
var (
	blockNames = [...]string{
		"text", "source", "title", "context", "thinking", "signature", "data", "id", "name", "input",
		"tool_use_id", "tool_name", "content", "is_error", "citations", "cache_control",
	}
)

// blockMembers are the members that the blocks of a type have. Those of other
// types are refused, or left out as a whole.
var blockMembers = map[string]members{
	"text":              membersOf(blockNames[:], "text", "citations", "cache_control"),
	"image":             membersOf(blockNames[:], "source", "cache_control"),
	"document":          membersOf(blockNames[:], "source", "title", "context", "citations", "cache_control"),
	"search_result":     membersOf(blockNames[:], "source", "title", "content", "citations", "cache_control"),
	"thinking":          membersOf(blockNames[:], "thinking", "signature"),
	"redacted_thinking": membersOf(blockNames[:], "data"),
	"tool_use":          membersOf(blockNames[:], "id", "name", "input", "cache_control"),
	"tool_result":       membersOf(blockNames[:], "tool_use_id", "content", "is_error", "cache_control"),
	"tool_reference":    membersOf(blockNames[:], "tool_name", "cache_control"),
}

// members are a set of members, a bit for each name of a list.
type members uint32

func membersOf(list []string, names ...string) (set members) {
	for _, name := range names {
		set |= 1 << slices.Index(list, name)
	}
	return set
}

// blockStrays reports the members of a block that only blocks of another type
// have; lost is the path of losses in it.
func (x *fromMessages) blockStrays(b *messages.Block, lost string) {
	own, known := blockMembers[string(b.Type)]
	if !known {
		return
	}
	for i, raw := range [...][]byte{
		b.Text, b.Source, b.Title, b.Context, b.Thinking, b.Signature, b.Data, b.ID, b.Name, b.Input,
		b.ToolUseID, b.ToolName, b.Content, b.IsError, b.Citations, b.CacheControl,
	} {
		if raw != nil && own&(1<<i) == 0 {
			x.foreign(&member{blockNames[i], raw}, lost)
		}
	}
}

// foreign reports a member that does not belong where it stands.
func (x *conversion) foreign(m *member, lost string) {
	if m.says() {
		x.losses.AddIn(translate.Hint, lost, m.name)
	}
}
