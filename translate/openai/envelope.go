package openai

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// envelope contains the members around the choices of an answer or a chunk.
type envelope struct {
	model    []byte       // raw, quotes included; nil for none
	counts   token.Report // starts with the counts of earlier chunks
	hasUsage bool
	listed   bool          // there is a list of choices
	count    int           // of choices that are objects
	isError  bool          // there is an error in one of the shapes that servers use
	padding  jsonscan.Slot // in stream chunks of servers that hide the lengths of texts
	detail   bool          // a top-level detail, which is an error where there are no choices
}

// read reads a whole document; choice reads one element of the choices. It returns an
// error if the document is not a JSON object. A repeated member is no error: reading
// stops there.
func (e *envelope) read(c *jsonscan.Cursor, choice func()) error {
	if !c.EnterObject() {
		c.Skip()
		return errors.Join(errNoObject, c.Finish())
	}
	for c.Member() {
		if !e.member(c, choice) {
			c.Skip()
		}
	}
	return jsonscan.Broken(c.Finish())
}

var errNoObject = errors.New("no JSON object")

// member reads the member at the cursor, and reports whether its name is known.
func (e *envelope) member(c *jsonscan.Cursor, choice func()) (known bool) {
	switch string(c.Name()) {
	case "choices":
		e.list(c, choice)
	case "usage":
		e.hasUsage = e.counts.Read(c, usageRows) || e.hasUsage
	case "service_tier":
		e.counts.Terms.ReadTier(c.StringOrSkip())
	case "model":
		e.model = c.StringOrSkip()
	case "error":
		e.isError = e.isError || c.Kind() != jsonscan.Null
		c.Skip()
	case "object":
		e.isError = string(c.StringOrSkip()) == `"error"` || e.isError
	case "obfuscation":
		_, e.padding = StringWithSlot(c)
	case "detail":
		e.detail = c.Kind() != jsonscan.Null
		c.Skip()
	default:
		return false
	}
	return true
}

func (e *envelope) list(c *jsonscan.Cursor, choice func()) {
	if c.Null() { // the same as an empty list
		e.listed = true
		return
	}
	e.listed = c.OpenArray() || e.listed
	for c.Element() {
		if c.Kind() == jsonscan.Object {
			e.count++
		}
		choice()
	}
}

// counted reports whether a chunk contains the usage so far. Zeros beside choices do
// not count: some servers send them in every chunk but the last.
func (e *envelope) counted() bool { return e.hasUsage && (e.counts.Positive() || e.count == 0) }

// failed reports whether the document is an error.
func (e *envelope) failed() bool { return e.isError || e.detail && !e.listed }

// name returns the name of the model, "" for none.
func (e *envelope) name() string {
	if e.model == nil {
		return ""
	}
	return string(jsonscan.AppendText(nil, e.model))
}

// answerEnvelope is an envelope with the members that only a translated answer repeats.
type answerEnvelope struct {
	envelope
	created int64
	service []byte // the service tier, raw
}

// member reads the member at the cursor, and reports whether its name is known. Ids and
// fingerprints are known and ignored: a translated answer has an id of its own, and the
// fingerprint of another system means nothing to its client.
func (h *answerEnvelope) member(c *jsonscan.Cursor, choice func()) (known bool) {
	switch string(c.Name()) {
	case "id", "system_fingerprint":
		c.Skip()
	case "created":
		h.created = Count(c)
	case "service_tier":
		h.service = c.StringOrSkip()
		h.counts.Terms.ReadTier(h.service)
	case "type":
		h.isError = string(c.StringOrSkip()) == `"error"` || h.isError
	default:
		return h.envelope.member(c, choice)
	}
	return true
}

func (h *answerEnvelope) tier() event.Tier {
	return Tiers.Read(h.service)
}
