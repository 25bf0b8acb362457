package fault

import "fmt"

const codeUnpriced = "price_unknown"

// The faults of this file refuse requests for the limits of their keys.

// Whose names in messages who a limit counts together: "this key", "this user", "the
// group 'team-a'", "this gateway". A rule of the store is named with it: "this key (its own rule)".
type Whose string

// LimitUnknown refuses a key that names a limit which the configuration does not
// define. Without the limit, the use of the key would be unbounded.
func LimitUnknown() *Fault {
	return &Fault{
		Kind: Forbidden, Message: "the limit of this key is not configured: an administrator has to mend that",
		Code: "permission_denied", Final: true,
	}
}

// Assumed is what is assumed for an answer that the client does not bound. The zero
// value belongs to a request with a bound.
type Assumed struct {
	Tokens  int64
	Field   string // the field of the request that sets a bound: "max_tokens"; "" for a conversation, which has none
	Seconds int64  // of a conversation that costs by time, which are reserved at once; else 0
}

// RequestTooCostly refuses a request that may use more tokens than a limit allows at
// once.
func RequestTooCostly(tokens, limit int64, assumed Assumed, whose Whose) *Fault {
	return &Fault{
		Kind: RateLimited, Code: codeRateLimited, Final: true,
		Message: fmt.Sprintf("this request alone may use %d tokens, more than the token rate limit of %d for %s: %s", tokens, limit, whose, sendLess(assumed)),
	}
}

// sendLess returns what a client can do about a request that may use too much.
func sendLess(assumed Assumed) string {
	switch {
	case assumed.Seconds > 0:
		return fmt.Sprintf("use a model that costs less: %d seconds of a conversation are reserved at once", assumed.Seconds)
	case assumed.Tokens > 0 && assumed.Field == "":
		return fmt.Sprintf("begin another conversation, or use another model: %d tokens are assumed for an answer", assumed.Tokens)
	case assumed.Tokens > 0:
		return fmt.Sprintf("send less, or set %s, without which %d tokens are assumed for an answer", assumed.Field, assumed.Tokens)
	}
	return "send less, or lower the bound of its answer"
}

// LimitReached refuses a request that exceeds a limit. what is the name of the rule, for
// example "request rate".
func LimitReached(what string, whose Whose) *Fault {
	return &Fault{
		Kind: RateLimited, Message: what + " limit reached for " + string(whose), Code: codeRateLimited,
	}
}

// BudgetExhausted refuses a request for which a budget has no money left. budget names
// amount and period, "50 USD per month"; refill is when there is room again, "" if that is
// unknown. Clients do not repeat the request: a budget has room again in days, not in
// seconds.
func BudgetExhausted(budget string, whose Whose, refill string) *Fault {
	return &Fault{
		Kind: Exhausted, Code: codeExhausted, Final: true,
		Message: "the budget of " + string(whose) + " is used up: " + budget + roomAgain(refill),
	}
}

// roomAgain returns the end of a message about a budget that has room again at a time.
func roomAgain(refill string) string {
	if refill == "" {
		return ""
	}
	return "; there is room again at " + refill
}

// BudgetTooLow refuses a request that may cost more than is left of a budget. A request
// that may cost less can be admitted. cost is that of BudgetTooSmall, budget and refill
// are those of BudgetExhausted.
func BudgetTooLow(cost, budget string, whose Whose, assumed Assumed, refill string) *Fault {
	return &Fault{
		Kind: Exhausted, Code: codeExhausted, Final: true,
		Message: "the budget of " + string(whose) + ", " + budget + ", has less left than this request may cost, " + cost + ": " +
			sendLess(assumed) + roomAgain(refill),
	}
}

// BudgetTooSmall refuses a request that may cost more than a whole budget. cost is an
// amount, "2.5 USD"; budget is that of BudgetExhausted.
func BudgetTooSmall(cost, budget string, whose Whose, assumed Assumed) *Fault {
	return &Fault{
		Kind: Exhausted, Code: codeExhausted, Final: true,
		Message: "this request alone may cost " + cost + ", more than the budget of " + string(whose) + ", " + budget + ": " + sendLess(assumed),
	}
}

// TermsUnpriced refuses a request that names a service tier, a speed or a region without a
// known price in a field, where a budget bounds what requests cost. The log names the target.
func TermsUnpriced(model, field, target string) *Fault {
	message := field + ": its price for '" + model + "' is unknown, so a key with a budget cannot use it: leave it out, or ask an administrator to set its factor"
	return &Fault{
		Kind: Forbidden, Param: field, Code: codeUnpriced, Final: true,
		Message: message, Log: Log{Message: message + " for the target " + target},
	}
}

// BatchUnpriced refuses a model in a batch whose price for batches is unknown, where a budget bounds
// what requests cost. The log names the target.
func BatchUnpriced(model, target string) *Fault {
	message := "model: the price of '" + model + "' in a batch is unknown, and a budget counts it: an administrator can set its factor"
	return &Fault{
		Kind: Forbidden, Param: "model", Code: codeUnpriced, Final: true,
		Message: message, Log: Log{Message: message + " for the target " + target},
	}
}

// PartUnpriced refuses a request that can use what has no known price, such as a search of the
// web, where a budget bounds what requests cost. column is the name of the price. The log names
// the target.
func PartUnpriced(model, column, target string) *Fault {
	message := "model: the price '" + column + "' of '" + model + "' is unknown, so a key with a budget cannot use it for this request"
	param := "model"
	if column == "search" {
		message = "tools: the price of a search by '" + model + "' is unknown, so a key with a budget cannot let it search: leave the tool out"
		param = "tools"
	}
	message += ", or ask an administrator to set the price '" + column + "'"
	return &Fault{
		Kind: Forbidden, Param: param, Code: codeUnpriced, Final: true,
		Message: message, Log: Log{Message: message + " for the target " + target},
	}
}

// UpstreamUnpriced refuses a request for a model whose price at an upstream is unknown, where a limit
// bounds what all requests to the upstream cost. The log names the target without a price.
func UpstreamUnpriced(model, target string) *Fault {
	message := "model: the price of '" + model + "' is unknown, and the upstream has a budget: an administrator can set a price"
	return &Fault{
		Kind: Forbidden, Param: "model", Code: codeUnpriced, Final: true,
		Message: message, Log: Log{Message: message + " for the target " + target},
	}
}

// Unpriced reports whether the request was refused because the price of what it can use is unknown.
func (f *Fault) Unpriced() bool { return f.Code == codeUnpriced }

// OfLimit reports whether a limit has refused the request: a rate, the requests at once, or a budget.
func (f *Fault) OfLimit() bool { return f.Kind == RateLimited || f.Kind == Exhausted }

// Upstream returns the subject of the limits of the upstream for a model, "" for an unknown one.
func Upstream(model string) Whose {
	if model == "" {
		return "the upstream"
	}
	return Whose("the upstream for model '" + model + "'")
}

// PriceUnknown refuses a request for a model whose price is unknown, where a budget
// bounds what requests cost. The log names the target without a price.
func PriceUnknown(model, target string) *Fault {
	message := "model: the price of '" + model + "' is unknown, so a key with a budget cannot use it: an administrator can set a price"
	return &Fault{
		Kind: Forbidden, Param: "model", Code: codeUnpriced, Final: true,
		Message: message, Log: Log{Message: message + " for the target " + target},
	}
}
