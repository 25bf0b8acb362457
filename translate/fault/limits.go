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

// The refusals that follow are those of requests whose cost cannot be compared with a budget. The log
// names the target whose price is missing.

// PriceUnknown refuses a request for a model whose price is unknown.
func PriceUnknown(model, target string) *Fault {
	return unpriced("model", "the price of '"+model+"' is unknown", "an administrator can set a price", target)
}

// PriceInCurrency refuses a request for a model whose price is in another currency than a budget.
func PriceInCurrency(model, target, price, budget string) *Fault {
	return unpriced("model", "the price of '"+model+"' is in "+price+", not in "+budget, "an administrator can set it, or the budget, in the same currency", target)
}

// TermsUnpriced refuses a request that names a service tier, a speed or a region without a known price in a
// field.
func TermsUnpriced(model, field, target string) *Fault {
	return unpriced(field, "its price for '"+model+"' is unknown", "leave it out, or ask an administrator to set its factor", target)
}

// BatchUnpriced refuses a model in a batch whose price for batches is unknown.
func BatchUnpriced(model, target string) *Fault {
	return unpriced("model", "the price of '"+model+"' in a batch is unknown", "an administrator can set its factor", target)
}

// PartUnpriced refuses a request that can use what has no known price, such as a search of the web. column is
// the name of the price.
func PartUnpriced(model, column, target string) *Fault {
	ask := "ask an administrator to set the price '" + column + "'"
	if column == "search" {
		return unpriced("tools", "the price of a search by '"+model+"' is unknown", "leave the tool out, or "+ask, target)
	}
	return unpriced("model", "the price '"+column+"' of '"+model+"' is unknown", ask, target)
}

// unpriced refuses a request for a price that a budget needs, with what can be done.
func unpriced(param, missing, remedy, target string) *Fault {
	message := param + ": " + missing + ", and a budget needs it: " + remedy
	return &Fault{
		Kind: Forbidden, Param: param, Code: codeUnpriced, Final: true,
		Message: message, Log: Log{Message: message + " for the target " + target, Target: target},
	}
}

// Unpriced reports whether the request was refused for a price that a budget needs: it is unknown, or in
// another currency.
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
