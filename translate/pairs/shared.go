package pairs

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// What follows is shared by the conversions that do not go through package core.

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
