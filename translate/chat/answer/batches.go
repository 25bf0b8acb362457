package answer

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// finalStatuses are the statuses of batches that change no more. Each may have results.
var finalStatuses = []string{"completed", "failed", "expired", "cancelled"}

// requestCounts are the numbers of requests of a batch.
type requestCounts struct {
	stated                   bool
	total, completed, failed int64
}

// answered returns the smallest number of requests that can have an answer, in a final status. The status may
// change before the numbers do.
func (n *requestCounts) answered(status string) int64 {
	switch {
	case n.completed > 0:
	case status == "completed" && (n.total <= 0 || n.failed < n.total): // some requests have not failed
	case !n.stated && status != "failed":
	default:
		return 0
	}
	if n.total > 0 { // some servers count the failed ones as completed, too
		return max(1, min(n.completed, n.total-n.failed))
	}
	return max(1, n.completed)
}

// Ended returns the end of a batch. One that has answers, but no file with them, has not ended: the file
// comes later.
func Ended(data []byte) (end translate.ObjectEnd) {
	object, status := "", ""
	var counts requestCounts
	c := jsonscan.New(data)
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "object":
			object = jsonscan.TextOf(c.StringOrSkip())
		case "status":
			status = jsonscan.TextOf(c.StringOrSkip())
		case "output_file_id":
			end.Results = jsonscan.TextOf(c.StringOrSkip())
		case "request_counts":
			for c.OpenObject(); c.Member(); {
				counts.stated = true
				switch string(c.Name()) {
				case "total":
					counts.total = count(&c)
				case "completed":
					counts.completed = count(&c)
				case "failed":
					counts.failed = count(&c)
				default:
					c.Skip()
				}
			}
		default:
			c.Skip()
		}
	}
	end.Answered = counts.answered(status)
	if object != "batch" || !slices.Contains(finalStatuses, status) || end.Results == "" && end.Answered > 0 {
		return translate.ObjectEnd{}
	}
	end.Ended, end.Unanswered.Errored = true, max(0, counts.failed)
	switch rest := max(0, counts.total-counts.completed-counts.failed); status {
	case "expired":
		end.Unanswered.Expired = rest
	case "cancelled":
		end.Unanswered.Canceled = rest
	}
	return end
}

// count returns the number at the cursor, 0 for another value.
func count(c *jsonscan.Cursor) int64 {
	n, _, ok := c.Int()
	if !ok {
		c.Skip()
	}
	return n
}

// answers are the formats and the operations of answers, by their member object.
var answers = map[string]translate.BatchResult{
	"chat.completion": {Format: translate.Chat},
	"response":        {Format: translate.Responses},
	"text_completion": {Format: translate.Completions},
	"list":            {Format: translate.Chat, Operation: translate.Embed},
}

// ReadResult reads a line of the results of a batch.
func ReadResult(line []byte) (r translate.BatchResult) {
	var status int64
	var body []byte
	c := jsonscan.New(line)
	for c.OpenObject(); c.Member(); {
		if string(c.Name()) != "response" {
			c.Skip()
			continue
		}
		for c.OpenObject(); c.Member(); {
			switch string(c.Name()) {
			case "status_code":
				status = count(&c)
			case "body":
				body = c.Skip()
			default:
				c.Skip()
			}
		}
	}
	if status/100 != 2 {
		return r
	}
	r = answers[jsonscan.TextOf(jsonscan.MemberOf(body, "object"))]
	r.End, r.Answer = translate.Succeeded, body
	if r.Format == "" { // of a shape that is not known, so that its usage is not
		r.Format = translate.Chat
	}
	return r
}
