package guardrails

import (
	"context"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Strings checks strings of a part of the exchange, OnRequest or OnAnswer, each of which is a text of
// its own of the kind and name of sample. It returns the strings with the edits of the guards, or the fault
// of one that does not pass. A guard is asked about a name without strings, too.
func (c *Checks) Strings(ctx context.Context, part string, sample aigateway.GuardText, all []string) ([]string, *fault.Fault) {
	phase, faultOf := aigateway.GuardRequest, (*block).requestFault
	if part == OnAnswer {
		phase, faultOf = aigateway.GuardAnswer, (*block).answerFault
	}
	if len(all) == 0 {
		if sample.Name == "" {
			return all, nil
		}
		all = []string{""}
	}
	for _, g := range c.guards {
		if !g.checks(part) || !g.sees(sample.Kind) {
			continue
		}
		v := c.view(phase)
		for i, text := range all {
			sample.Group, sample.Text = i, text
			v.Texts = append(v.Texts, sample)
		}
		verdict, b := c.ask(ctx, g, v)
		if b != nil {
			return nil, faultOf(b)
		}
		for i, edits := range byText(verdict.Edits) {
			all[i] = replaced(all[i], 0, edits)
		}
	}
	return all, nil
}
