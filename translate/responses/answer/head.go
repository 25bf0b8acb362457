package answer

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/choices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// head is what a response object says beside its output: strings as they are
// written, with their quotes, nil for what is not there.
type head struct {
	id, model, status []byte
	service           []byte // the service tier
	reason            []byte // why it is incomplete
	created           int64
	counts            counts
	output            []byte // the array
	failed            bool   // it holds an error
	detail            bool   // it holds a detail, which is an error where there is no output
}

var (
	errNoObject = errors.New("no JSON object")
	errNoOutput = errors.New("no output")
)

// member reads the member at the cursor, unless it is none that is known.
func (h *head) member(c *jsonscan.Cursor) (known bool) {
	switch string(c.Name()) {
	case "id":
		h.id = c.StringOrSkip()
	case "model":
		h.model = c.StringOrSkip()
	case "status":
		h.status = c.StringOrSkip()
	case "service_tier":
		h.service = c.StringOrSkip()
	case "created_at":
		token.ReadCount(c, &h.created)
	case "usage":
		h.counts.read(c)
	case "output":
		h.output = c.ArrayOrSkip()
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

// incomplete reads why an answer is incomplete.
func (h *head) incomplete(c *jsonscan.Cursor) {
	for c.OpenObject(); c.Member(); {
		if string(c.Name()) == "reason" {
			h.reason = c.StringOrSkip()
		} else {
			c.Skip()
		}
	}
}

// skim reads a whole response object for what it says of the answer. A member that
// stands twice is no error: reading stops there, with what was found.
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

// isFault reports whether the object is an error, and no answer.
func (h *head) isFault() bool {
	return h.failed || string(h.status) == `"failed"` || h.detail && h.output == nil
}

func (h *head) tier() event.Tier {
	return choices.ReadTier(string(jsonscan.AppendText(nil, h.service)))
}
