package alerts

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/events"
)

// alert is an event that is sent.
type alert struct {
	ID    string         `json:"id"`
	Event string         `json:"event"`
	Time  time.Time      `json:"time"`
	Text  string         `json:"text"`
	Data  map[string]any `json:"data"`
}

// kind is how the events of a name are sent.
type kind struct {
	// text returns the event in words.
	text func(d data) string
	// object are the members of the data that tell alerts apart: one is sent for the same
	// values until the time in the member until, or for a day if that is empty. Without an
	// object, every event is sent.
	object []string
	until  string
}

// data are the data of an event.
type data map[string]any

func (d data) of(name string) string {
	if v, ok := d[name]; ok {
		return fmt.Sprint(v)
	}
	return ""
}

// kinds are the events that are sent. Events that every request could cause are not among
// them, such as events.Fallback.
var kinds = map[string]kind{
	events.BudgetThreshold: {
		func(d data) string {
			return fmt.Sprintf("%s %% of the budget of %s in the limit %s are spent or reserved%s.",
				d.of("percent"), d.of("budget"), d.of("limit"), ofSubject(d))
		},
		[]string{"limit", "per", "subject", "percent"}, "renews",
	},
	events.ProviderDown: {text: func(d data) string {
		if cause := d.of("cause"); cause == "credential_refused" || cause == "account_exhausted" {
			return fmt.Sprintf("The provider %s refuses an API key of the gateway (%s). It rests until %s.", d.of("provider"), cause, d.of("until"))
		}
		return fmt.Sprintf("%s of the provider %s rests until %s after failures (%s).", model(d), d.of("provider"), d.of("until"), d.of("cause"))
	}},
	events.ProviderUp: {text: func(d data) string {
		return fmt.Sprintf("%s of the provider %s answers again.", model(d), d.of("provider"))
	}},
	events.KeyExpires: {
		func(d data) string {
			return fmt.Sprintf("The key %s, which is in use%s, expires at %s.", d.of("key"), behind(" and belongs to ", d.of("owner")), d.of("expires"))
		},
		[]string{"key", "expires"}, "expires",
	},
	events.UnpricedModel: {
		func(d data) string {
			return fmt.Sprintf("No price is known for %s of the provider %s, so the costs of its answers are unknown.", d.of("upstream_model"), d.of("provider"))
		},
		[]string{"provider", "model"}, "",
	},
	events.LedgerBlocked: {text: func(d data) string {
		return "The ledger cannot be written: " + d.of("error")
	}},
	events.LedgerRecovered: {text: func(data) string { return "The ledger can be written again." }},
	events.LedgerBehind: {text: func(d data) string {
		return "Records of the ledger wait in the journal, since the database does not take them: " + d.of("error")
	}},
	events.LedgerCaughtUp: {text: func(data) string { return "The database takes the records of the ledger again." }},
	events.Degraded:       {text: func(d data) string { return capital(d.of("part")) + " does not work: " + d.of("error") }},
	events.Restored:       {text: func(d data) string { return capital(d.of("part")) + " works again." }},
	events.JournalDamaged: {text: func(d data) string {
		return fmt.Sprintf("%s damaged bytes of the journal were skipped in %s.", d.of("bytes"), d.of("path"))
	}},
}

func model(d data) string { return cmp.Or(d.of("model"), "A model") }

// capital returns a text that begins a sentence.
func capital(text string) string {
	return strings.ToUpper(text[:min(1, len(text))]) + text[min(1, len(text)):]
}

func ofSubject(d data) string {
	return behind(" for the "+cmp.Or(d.of("per"), "key")+" ", d.of("subject"))
}

// behind returns a text behind another one, "" without a text.
func behind(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// mark returns the name under which it is remembered that the alert was sent, and the time
// until which it is not sent again; "" if every event is sent.
func (a *alert) mark() (name string, until time.Time) {
	k := kinds[a.Event]
	if len(k.object) == 0 {
		return "", until
	}
	object := sha256.New()
	for _, member := range append(k.object, k.until) {
		fmt.Fprintf(object, "%q=%q ", member, data(a.Data).of(member))
	}
	until, err := time.Parse(time.RFC3339, data(a.Data).of(k.until))
	if err != nil {
		until = a.Time.Add(24 * time.Hour)
	}
	return a.Event + "-" + hex.EncodeToString(object.Sum(nil)[:16]), until
}
