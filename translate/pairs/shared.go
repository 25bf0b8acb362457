package pairs

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
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

// The paths of losses.
const (
	lostRequest = ""
)

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

// loseChoice reports a choice among tools that are not there, where it demands
// the use of one.
func (x *conversion) loseChoice(kind string) {
	switch kind {
	case "any", "tool", "required", "function":
		x.shaping("tool_choice")
	}
}
