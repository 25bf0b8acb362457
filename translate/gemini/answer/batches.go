package answer

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// unansweredBy are the ends of batches, by the ends of the words for their states, with the number that
// requests without an answer add to.
var unansweredBy = map[string]func(*translate.Unanswered) *int64{
	"_SUCCEEDED": func(u *translate.Unanswered) *int64 { return &u.Errored },
	"_FAILED":    func(u *translate.Unanswered) *int64 { return &u.Errored },
	"_CANCELLED": func(u *translate.Unanswered) *int64 { return &u.Canceled },
	"_EXPIRED":   func(u *translate.Unanswered) *int64 { return &u.Expired },
}

// operation is what an answer states of a batch.
type operation struct {
	isBatch                  bool
	state                    string
	total, succeeded, failed int64
	file                     string
	results                  [][]byte
}

// Ended returns the end of a batch. Its results are in the answer, or in a file. One that has answers, but no
// results, has not ended: they come later.
func Ended(data []byte) (end translate.ObjectEnd) {
	var o operation
	c := jsonscan.New(data)
	o.read(&c)
	i := strings.LastIndexByte(o.state, '_')
	if !o.isBatch || i < 0 || unansweredBy[o.state[i:]] == nil {
		return end
	}
	hasResults := o.file != "" || o.results != nil
	answered := max(0, o.succeeded)
	if strings.HasSuffix(o.state, "_SUCCEEDED") { // results have the failed requests, too
		answered = max(1, answered)
	}
	if !hasResults && answered > 0 { // they come later
		return end
	}
	end = translate.ObjectEnd{Ended: true, Results: o.file, Answers: o.results, Answered: answered}
	if !hasResults {
		*unansweredBy[o.state[i:]](&end.Unanswered) = max(0, o.total-o.failed)
		end.Unanswered.Errored += max(0, o.failed)
	}
	return end
}

// read reads the object at the cursor, and those in it. Operations have their output twice.
func (o *operation) read(c *jsonscan.Cursor) {
	for c.OpenObject(); c.Member(); {
		switch name := string(c.Name()); name {
		case "name":
			id := jsonscan.TextOf(c.StringOrSkip())
			o.isBatch = o.isBatch || strings.HasPrefix(id, seal.GeminiBatchID)
		case "metadata", "response", "output", "batchStats":
			o.read(c)
		case "state":
			o.state = jsonscan.TextOf(c.StringOrSkip())
		case "requestCount":
			o.total = countAt(c)
		case "successfulRequestCount":
			o.succeeded = countAt(c)
		case "failedRequestCount":
			o.failed = countAt(c)
		case "responsesFile":
			o.file = jsonscan.TextOf(c.StringOrSkip())
		case "inlinedResponses", "inlinedEmbedContentResponses":
			o.readResults(c)
		default:
			c.Skip()
		}
	}
}

// readResults reads the results in an object.
func (o *operation) readResults(c *jsonscan.Cursor) {
	o.results = [][]byte{}
	for c.OpenObject(); c.Member(); {
		if string(c.Name()) != "inlinedResponses" {
			c.Skip()
			continue
		}
		for c.OpenArray(); c.Element(); {
			o.results = append(o.results, c.Skip())
		}
	}
}

// countAt returns the number at the cursor, which is a text as a rule.
func countAt(c *jsonscan.Cursor) int64 {
	raw := c.Skip()
	if jsonscan.IsString(raw) {
		raw = jsonscan.Inner(raw)
	}
	n, _ := jsonscan.Integer(raw)
	return n
}

// ReadResult reads a result of a batch, which is a line of a file, or in the answer about the batch.
func ReadResult(line []byte) translate.BatchResult {
	r := translate.BatchResult{Format: translate.Gemini}
	c := jsonscan.New(line)
	for c.OpenObject(); c.Member(); {
		if string(c.Name()) == "response" && c.Kind() == jsonscan.Object {
			r.End, r.Answer = translate.Succeeded, c.Skip()
		} else {
			c.Skip()
		}
	}
	if jsonscan.MemberOf(r.Answer, "embedding") != nil {
		r.Operation = translate.Embed
	}
	return r
}
