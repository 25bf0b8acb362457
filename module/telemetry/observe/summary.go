package observe

import (
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// summaryOf returns a sentence about an ended exchange. It has the outcome, the calls that
// failed, and the targets that were not asked: "answered by openai/gpt-x after
// anthropic/claude-y was overloaded (529), while local/qwen rests".
func summaryOf(ex *exchange.Exchange) string { return ending(ex) + while(ex) }

// ending returns the part of the summary with the outcome and the failed calls.
func ending(ex *exchange.Exchange) string {
	calls := ex.Course.Calls
	last, earlier := lastCall(calls)
	delivered := &ex.Delivery
	switch {
	case delivered.Outcome == exchange.Answered && last.End == exchange.CallAnswered:
		return "answered by " + target(last) + after(earlier)
	case delivered.Outcome == exchange.Answered && last.End == exchange.CallCached:
		return "answered by the cache for " + target(last) + after(earlier)
	case delivered.Outcome == exchange.Answered:
		return "answered by the gateway itself" + after(calls)
	case delivered.Outcome == exchange.ClientClosed && last.End == exchange.CallClientClosed:
		return "the client left while " + target(last) + " answered" + after(earlier)
	case delivered.Outcome == exchange.ClientClosed:
		return "the client left" + after(calls)
	case delivered.Outcome == exchange.Failed && len(calls) > 0:
		return "failed: " + list(calls)
	case delivered.Outcome == exchange.Cut:
		return "cut: " + list(calls)
	case delivered.Fault == nil:
		return string(delivered.Outcome)
	}
	return string(delivered.Outcome) + ": " + delivered.Fault.LogMessage()
}

// lastCall divides calls into the last one and those before it.
func lastCall(calls []exchange.CallSummary) (last exchange.CallSummary, earlier []exchange.CallSummary) {
	if len(calls) == 0 {
		return last, nil
	}
	return calls[len(calls)-1], calls[:len(calls)-1]
}

// after returns the part of the summary that lists failed calls, "" for none.
func after(calls []exchange.CallSummary) string {
	if len(calls) == 0 {
		return ""
	}
	return " after " + list(calls)
}

func list(calls []exchange.CallSummary) string {
	phrases := make([]string, len(calls))
	for i, c := range calls {
		phrases[i] = target(c) + " " + phrase(c)
	}
	return strings.Join(phrases, ", ")
}

// while returns the part of the summary that lists the targets without any call, "" for
// none. A resting target that was asked at the end is not listed.
func while(ex *exchange.Exchange) string {
	var phrases []string
	for _, t := range ex.Course.PassedOver {
		asked := func(c exchange.CallSummary) bool { return c.Provider == t.Provider && c.Model == t.Model }
		if !slices.ContainsFunc(ex.Course.Calls, asked) {
			phrases = append(phrases, t.Provider+"/"+Clip(t.Model)+" "+string(t.Reason))
		}
	}
	if phrases == nil {
		return ""
	}
	return ", while " + strings.Join(phrases, ", ")
}

func target(c exchange.CallSummary) string { return c.Provider + "/" + Clip(c.Model) }

// phrases describe the behaviour of a provider, by the end of the call.
var phrases = map[exchange.CallEnd]string{
	exchange.CallRefused:      "refused the request",
	exchange.CallUnreachable:  "was unreachable",
	exchange.CallCut:          "broke off",
	exchange.CallClientClosed: "was interrupted",
	exchange.CallLost:         "was slower",

	exchange.CallEnd(fault.CredentialRefused.String()): "refused the credential",
	exchange.CallEnd(fault.AccountExhausted.String()):  "has no credit left",
	exchange.CallEnd(fault.Forbidden.String()):         "denied access",
	exchange.CallEnd(fault.RateLimited.String()):       "refused by its rate limit",
	exchange.CallEnd(fault.Overloaded.String()):        "was overloaded",
	exchange.CallEnd(fault.Timeout.String()):           "timed out",
}

// phrase returns the behaviour of the provider in a call, with the status of an error.
func phrase(c exchange.CallSummary) string {
	p := phrases[c.End]
	if p == "" {
		p = "failed"
	}
	if c.Status >= 400 {
		p += " (" + strconv.Itoa(c.Status) + ")"
	}
	return p
}
