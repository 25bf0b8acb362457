package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Fallback is the set of failures after which the next target is tried.
type Fallback struct {
	statuses    map[int]bool
	classes     [6]bool // classes[5]: every 5xx
	timeout     bool
	unreachable bool

	contextLength bool // the request is too long for the model
	contentPolicy bool // the provider refuses the content of the request
	budget        bool // a budget cannot pay for the target
}

// defaultFallback leaves out the statuses of invalid requests, which the next provider would
// refuse, too.
var defaultFallback = []string{"401", "402", "403", "404", "408", "429", "498", "5xx", "timeout", "unreachable"}

func parseFallback(words []string) (Fallback, error) {
	if words == nil || slices.Contains(words, "default") {
		words = slices.Concat(words, defaultFallback)
	}
	f := Fallback{statuses: make(map[int]bool)}
	for _, word := range words {
		if word == "default" {
			continue
		}
		if err := f.add(word); err != nil {
			return f, err
		}
	}
	return f, nil
}

// CheckFallbackOn returns an error unless word is a valid element of
// ModelConfig.FallbackOn.
func CheckFallbackOn(word string) error {
	_, err := parseFallback([]string{word})
	return err
}

func (f *Fallback) add(word string) error {
	class, isClass := strings.CutSuffix(word, "xx")
	n, err := strconv.Atoi(class)
	switch {
	case word == "timeout":
		f.timeout = true
	case word == "unreachable":
		f.unreachable = true
	case word == "context_length":
		f.contextLength = true
	case word == "content_policy":
		f.contentPolicy = true
	case word == "budget":
		f.budget = true
	case isClass && (class == "4" || class == "5"):
		f.classes[n] = true
	case err == nil && len(word) == len("429") && n >= 400 && n <= 599:
		f.statuses[n] = true
	default:
		return fmt.Errorf("fallback_on: '%s' is not a status (429), a class (4xx, 5xx), timeout, unreachable, context_length, content_policy, budget or default", word)
	}
	return nil
}

// accountStatuses are the statuses of trouble with the gateway's account. Many services answer it
// with another one, which blames the request.
var accountStatuses = map[fault.Kind]int{fault.CredentialRefused: 401, fault.AccountExhausted: 402}

// After reports whether the next target may be tried after a failed attempt: after the status of
// its answer, or that of its meaning.
func (f *Fallback) After(a *exchange.Attempt, result *exchange.Result) bool {
	status := result.Status
	switch {
	case f.has(accountStatuses[result.Fault.Kind]):
		return true
	case result.Fault.TooLong() && f.contextLength, result.Fault.Blame.Content && f.contentPolicy:
		return true
	case result.Fault.Kind == fault.Timeout && status < 400:
		return f.timeout
	case status == 0:
		return f.unreachable
	case status < 400, status > 599: // the status is no error, so the status of the fault counts
		status = a.Format.Errors.Status(result.Fault)
	}
	return f.has(status)
}

// OnBudget reports whether targets that a budget cannot pay for are passed over.
func (f *Fallback) OnBudget() bool { return f.budget }

// has reports whether a status is in the set.
func (f *Fallback) has(status int) bool { return f.statuses[status] || f.classes[status/100%6] }
