package cache

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/passthrough"
)

// repeats reports whether an earlier answer is as good as another call for the request of an
// exchange.
func repeats(ex *exchange.Exchange, anyTemperature bool) bool {
	v := &ex.Request.View
	reach := &v.Beyond
	switch {
	case ex.Request.InMessage, v.Answers > 1, v.Costs.Searches > 0:
		return false
	case reach.State != "", reach.References != nil, reach.OtherModels != "", reach.Background, reach.Stored, reach.Idle:
		return false
	}
	switch op := ex.Request.Operation; {
	case op.Embeds(), op == translate.Rerank, op == translate.Moderate:
		return !passthrough.IsForm(ex.Request.Body)
	case op == translate.Generate:
		source := ex.Request.Format.Requests.Source
		if source == nil {
			return false
		}
		var seen contents
		core.Listen(ex.Request.Body, source, &seen)
		return !seen.reachesBeyond && (anyTemperature || isZero(seen.temperature))
	}
	return false
}

// isZero reports whether a number of a valid body is 0.
func isZero(number string) bool {
	return number != "" && strings.Trim(number, "-0.") == ""
}

// contents is what of a request decides whether its answer is kept.
type contents struct {
	core.Discard
	temperature string        // as the body has it; "" for none
	options     *core.Options // until Finish
	// reachesBeyond is true if the answer depends on more than the request: on a file or a page
	// elsewhere, on a tool of the provider, or on what no other format can express.
	reachesBeyond bool
}

// Begin implements core.Writer.
func (c *contents) Begin(x *core.Translation, _ int) { c.options = &x.Options }

// Finish implements core.Writer.
func (c *contents) Finish(dst []byte) []byte {
	c.temperature = string(c.options.Raw(core.Temperature))
	c.options = nil
	return dst
}

// Saw implements core.Witness.
func (c *contents) Saw(concept core.Concept, _ *core.Row, _ []byte) {
	switch concept {
	case core.ImageAddress, core.ImageReference, core.FileAddress, core.FileReference, core.RecordingAddress,
		core.ItemReference, core.VendorTool:
		c.reachesBeyond = true
	}
}

// SawUnshared implements core.UnsharedWitness.
func (c *contents) SawUnshared(r *core.Row) {
	c.reachesBeyond = c.reachesBeyond || r.Concept == core.Nothing && r.Lost == core.Refused
}
