package answer

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// head contains the members of a response object that the gateway reads: raw strings with
// their quotes, nil for absent members.
type head struct {
	id, model []byte
	status    []byte // of any type
	service   []byte // the service tier
	reason    []byte // why the answer is incomplete
	created   int64
	counts    token.Report
	output    []byte // the array
	failed    bool   // there is an error
	detail    bool   // there is a detail, which is an error if there is no output
}

var (
	errNoObject = errors.New("no JSON object")
	errNoOutput = errors.New("no output")
)

// member reads the member at the cursor, and reports whether its name is known. It
// consumes only the values of known members.
func (h *head) member(c *jsonscan.Cursor) (known bool) {
	switch string(c.Name()) {
	case "id":
		h.id = c.StringOrSkip()
	case "model":
		h.model = c.StringOrSkip()
	case "status":
		h.status = c.Skip()
	case "service_tier":
		h.service = c.StringOrSkip()
		h.counts.Terms.ReadTier(h.service)
	case "created_at":
		token.ReadCount(c, &h.created)
	case "usage":
		h.counts.Read(c, usageRows)
	case "output":
		h.output = c.ArrayOrSkip()
		h.counts.Searches = max(h.counts.Searches, searchesIn(h.output))
	case "incomplete_details":
		h.incomplete(c)
	case "error":
		h.failed = h.failed || c.Kind() != jsonscan.Null
		c.Skip()
	case "detail":
		h.detail = c.Kind() != jsonscan.Null
		c.Skip()
	default:
		return false
	}
	return true
}

// incomplete reads the reason why an answer is incomplete.
func (h *head) incomplete(c *jsonscan.Cursor) {
	for c.OpenObject(); c.Member(); {
		if string(c.Name()) == "reason" {
			h.reason = c.StringOrSkip()
		} else {
			c.Skip()
		}
	}
}

// skim reads a whole response object. A repeated member is no error: reading stops there,
// and keeps the members before it.
func (h *head) skim(c *jsonscan.Cursor) error {
	if !c.EnterObject() {
		c.Skip()
		return errors.Join(errNoObject, c.Finish())
	}
	for c.Member() {
		if !h.member(c) {
			c.Skip()
		}
	}
	return jsonscan.Broken(c.Finish())
}

// isFault reports whether the object is an error instead of an answer.
func (h *head) isFault() bool {
	return h.failed || string(h.status) == `"failed"` || h.detail && h.output == nil
}

func (h *head) tier() event.Tier {
	return openai.Tiers.Read(h.service)
}
