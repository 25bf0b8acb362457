package transport

import (
	"bytes"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/payload"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// captured is carry for an exchange that is captured.
func (c *call) captured(recorder exchange.Capture, r *http.Request, p *payload.Payload, retry bool) (*http.Response, error) {
	hide := func(status int, body []byte) []byte { return c.result.hide.shown(status, body) }
	answer := recorder.Call(c.attempt.Provider, c.attempt.Model, string(c.attempt.Format.Name), r, p, hide)
	res, err := c.carry(r, p, retry)
	if err == nil {
		res.Body = answer(res)
	}
	return res, err
}

// withheld replaces an answer that repeats a credential.
var withheld = []byte("(withheld, because it repeats a credential)")

// shown returns what the sender of a captured request may read of the provider's answer: all
// of an answer, and of errors what does not identify the account of the operator.
func (r *redactor) shown(status int, body []byte) []byte {
	if r.leaks(string(body)) {
		return withheld
	}
	if status != http.StatusOK {
		return fault.Mask(body, r.host)
	}
	lines := bytes.SplitAfter(body, []byte("\n"))
	for i, line := range lines {
		if bytes.Contains(line, []byte(`"error":{`)) || bytes.Contains(line, []byte(`"error": {`)) {
			lines[i] = fault.Mask(line, r.host)
		}
	}
	return bytes.Join(lines, nil)
}
