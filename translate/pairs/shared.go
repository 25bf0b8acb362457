package pairs

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages"
)

// What follows is shared by the conversions that do not go through package core.

// The separators of texts that become one, as they stand in JSON.
const (
	lineFeed  = `\n`
	blankLine = `\n\n`
)

// keptBuffers is the most memory, in bytes, that waits for the next request.
const keptBuffers = 2 << 20

// content gathers texts that become one, still escaped.
type content struct {
	between string // two texts, escaped
	buf     []byte
}

func (c *content) reset(between string) { c.between, c.buf = between, c.buf[:0] }

// empty reports whether nothing was added. No text is empty.
func (c *content) empty() bool { return len(c.buf) == 0 }

// add adds a text, escaped.
func (c *content) add(text []byte) {
	if !c.empty() {
		c.buf = append(c.buf, c.between...)
	}
	c.buf = append(c.buf, text...)
}

// join adds all of another content.
func (c *content) join(other *content) {
	if !other.empty() {
		c.add(other.buf)
	}
}

// place is where in the body of a messages request something stands: an element
// of an array. Its paths are made only when there is something to report.
type place struct {
	up    *place
	name  string // of the array
	index int
	depth int    // how many elements stand around it
	lost  string // the path of the element's members with "*" for indices, and a dot behind
}

// path is the path of a member of the element, or of the element itself.
func (p *place) path(member string) string {
	path := p.name + "." + strconv.Itoa(p.index)
	if p.up != nil {
		path = p.up.path(path)
	}
	if member == "" {
		return path
	}
	return path + "." + member
}

// The paths of losses.
const (
	lostRequest = ""
	lostMessage = "messages.*."
	lostBlock   = lostMessage + "content.*."
	lostSystem  = "system.*."
	emptyTurn   = "messages.*" // one that says nothing, and is left out
)

// isServerResult reports whether blocks of a type hold what a tool returned
// that the vendor ran.
func isServerResult(kind []byte) bool {
	switch string(kind) {
	case "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
		"bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result":
		return true
	}
	return false
}

func (x *conversion) maxTokensField() string {
	if x.traits.MaxCompletionTokens {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

// mayTopP reports whether top_p may be sent beside a raw temperature.
func (x *conversion) mayTopP(temperature []byte) bool {
	switch x.traits.SamplingFor(x.to) {
	case translate.SamplingNone:
		return false
	case translate.SamplingOne:
		return temperature == nil
	default:
		return true
	}
}

// isNumber reports whether a raw value is a number, or absent; another kind is
// at fault.
func (x *conversion) isNumber(name string, raw []byte) bool {
	if raw == nil || raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9' {
		return true
	}
	x.invalid(name, "must be a number")
	return false
}

// sample writes a field that shapes sampling, or reports its loss.
func (x *conversion) sample(name string, raw []byte, may bool) {
	switch {
	case raw == nil:
	case may:
		x.field(name, raw)
	default:
		x.shaping(name)
	}
}

// askStream asks a chat or completions provider for a stream.
func (x *conversion) askStream() {
	x.field("stream", []byte("true"))
	if !x.traits.WithoutUsage {
		x.field("stream_options", []byte(`{"include_usage":true}`))
	}
}

// userID writes the id of an end user into the field that the provider has.
func (x *conversion) userID(id, path string) {
	switch x.traits.UserFieldFor(x.to) {
	case translate.UserFieldUser:
		x.text("user", id)
	case translate.UserFieldSafetyIdentifier:
		x.text("safety_identifier", id)
	default:
		x.hint(path)
	}
}

// digestOf stands for an id that the provider could not take.
func digestOf(id string) string {
	digest := sha256.Sum256([]byte(id))
	return hex.EncodeToString(digest[:])
}

// unknownTurn stands for a turn that was not looked for.
const unknownTurn = -2

// isCleared reports whether a system turn is for the turns before a person
// speaks again.
func (x *fromMessages) isCleared(m *messages.Message) bool {
	if m.ClearAt == nil {
		return false
	}
	at := textOf(m.ClearAt)
	if at != "next_user_message" && at != "never" {
		x.losses.AddIn(translate.Hint, lostMessage, "clear_at")
	}
	return at == "next_user_message"
}

// lastUserTurn is the index of the last turn of a person in a body, -1 if there
// is none.
func lastUserTurn(body []byte) int {
	finder := lastUser{index: -1}
	var reader messages.Reader
	_ = reader.Walk(body, new(messages.Request), &finder) // the first reading tells the error
	return finder.index
}

// lastUser finds the last turn of a person.
type lastUser struct {
	index, at int
	user      bool
}

func (l *lastUser) Begin(index int, role string) { l.at, l.user = index, role == "user" }

func (l *lastUser) Text([]byte) { l.person() }

func (l *lastUser) Block(_ int, b *messages.Block) {
	if string(b.Type) != "tool_result" {
		l.person()
	}
}

func (l *lastUser) person() {
	if l.user {
		l.index = l.at
	}
}

func (l *lastUser) End(*messages.Message)                {}
func (l *lastUser) Tool(int, *messages.Tool)             {}
func (l *lastUser) Other(messages.Level, []byte, []byte) {}

// loseChoice reports a choice among tools that are not there, where it demands
// the use of one.
func (x *conversion) loseChoice(kind string) {
	switch kind {
	case "any", "tool", "required", "function":
		x.shaping("tool_choice")
	}
}
