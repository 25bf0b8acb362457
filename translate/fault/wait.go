package fault

import (
	"cmp"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Some providers state the time until a retry only in the message or a member of an error, and an error
// in a stream has no headers. Clients and the gateway itself wait for that time.

// waitLeads are what precedes the time in messages, in lower case.
var waitLeads = []string{
	"try again in ",    // OpenAI: Please try again in 350ms; Groq: Please try again in 1m26.5s
	"try again after ", // xAI, proxies
	"retry in ",        // Gemini: Please retry in 38.29s
	"retry after ",     // Azure: Please retry after 26 seconds
	"reset after ",     // Gemini Code Assist: Your quota will reset after 27h41m36s
	"resets in ",       // subscriptions: Your limit resets in 3 days
}

// waitMembers are the members of errors with the time to wait in seconds, by plainNames.
var waitMembers = []string{
	"resetsinseconds", // Codex, of a subscription
	"retryafter",      // Cloudflare
}

// waitPlaces are the members around those of waitMembers.
var waitPlaces = []string{"error", "response", "detail", "details", "metadata"}

// memberWait returns the time in seconds that a member of an error states, 0 if none does. It reads only what
// surrounds the error: elsewhere a body may quote the request.
func memberWait(body any, depth int) float64 {
	object, _ := body.(map[string]any)
	if object == nil || depth > deepest {
		return 0
	}
	object = plainNames(object)
	for _, member := range waitMembers {
		if wait := seconds(firstText(object[member])); wait > 0 {
			return wait
		}
	}
	for _, place := range waitPlaces {
		if wait := memberWait(object[place], depth+1); wait > 0 {
			return wait
		}
	}
	return 0
}

// amount is a number with a unit at the beginning of a text.
var amount = regexp.MustCompile(`^[\s,]*(?:and\s+)?([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*([a-z]*)`)

// waitUnits are the units of times, in seconds.
var waitUnits = map[string]float64{
	"ms": .001, "millisecond": .001, "s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hr": 3600, "hour": 3600,
	"d": 86400, "day": 86400,
}

// longestWait bounds times to wait, in seconds: one year. Quotas of a week or a month state a long one, by which
// targets rest.
const longestWait = 365 * 24 * 60 * 60

// retryAfter returns the time to wait that the details, a member or the message states, in whole seconds;
// 0 if none does.
func (d detail) retryAfter() int {
	if wait := cmp.Or(d.rpc.wait, d.wait); wait > 0 {
		return int(math.Ceil(wait))
	}
	message := strings.ToLower(d.message)
	for _, lead := range waitLeads {
		if _, rest, found := strings.Cut(message, lead); found {
			return int(math.Ceil(seconds(rest)))
		}
	}
	return 0
}

// seconds returns the time at the beginning of a text: "1m30s", "2 minutes and 5 seconds",
// "7". It returns 0 if there is none, and longestWait if it is more than that.
func seconds(text string) (sum float64) {
	for {
		match := amount.FindStringSubmatch(text)
		if match == nil {
			break
		}
		number, _ := strconv.ParseFloat(match[1], 64) // the expression matches numbers only
		unit, known := waitUnits[match[2]]
		if !known {
			unit, known = waitUnits[strings.TrimSuffix(match[2], "s")]
		}
		switch {
		case known:
			sum += number * unit
		case match[2] == "" && sum == 0:
			sum = number
		}
		if !known {
			break
		}
		text = text[len(match[0]):]
	}
	return min(sum, longestWait)
}
