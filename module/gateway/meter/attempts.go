package meter

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// attempts returns the calls of an exchange and the targets that were passed over, in their
// order; nil if the first target answered its only call. The last one of too many is kept,
// because it decided the outcome.
func attempts(ex *exchange.Exchange) (all []accounting.Attempt) {
	if ex.Course.Straight() {
		return nil
	}
	passed := ex.Course.PassedOver
	for i, c := range ex.Course.CallsSoFar() {
		for ; len(passed) > 0 && passed[0].Earlier <= i; passed = passed[1:] {
			all = append(all, skipped(passed[0]))
		}
		all = append(all, accounting.Attempt{
			Provider: c.Provider, Model: c.Model, Format: string(c.Format.Name), End: string(c.End), Status: c.Status, Duration: c.Took,
		})
	}
	for _, p := range passed {
		all = append(all, skipped(p))
	}
	if len(all) > accounting.MostAttempts {
		all[accounting.MostAttempts-1] = all[len(all)-1]
		all = all[:accounting.MostAttempts]
	}
	return all
}

// skipped returns the attempt of a target that was passed over.
func skipped(p exchange.PassedOver) accounting.Attempt {
	return accounting.Attempt{Provider: p.Provider, Model: p.Model, End: p.Reason.Word()}
}

// losses returns the names of what the translations of the request and of the answer have
// left out so far.
func losses(ex *exchange.Exchange) (request, answer []string) {
	if ex.Course.Result == nil {
		return nil, nil
	}
	return lossNames(ex.Course.Result.Lane.Losses), lossNames(ex.Course.Result.Lane.Dropped)
}

func lossNames(losses translate.Losses) (names []string) {
	for _, loss := range losses {
		name := loss.Name()
		if names == nil {
			names = make([]string, 0, min(len(losses), accounting.MostLosses))
		}
		if len(names) < accounting.MostLosses && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
