package alerts

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/events"
)

// Alert is an event that needs somebody, in words.
type Alert struct {
	ID    string         `json:"id"`
	Event string         `json:"event"`
	Time  time.Time      `json:"time"`
	Text  string         `json:"text"`
	Data  map[string]any `json:"data"`
}

// kind is how the events of a name become alerts.
type kind struct {
	// text returns the event in words.
	text func(d data) string
	// object are the members of the data that tell alerts apart: one is sent for the same
	// values until the time in the member until, or for a day if that is empty, and for so
	// long after it. Without an object, every event is sent.
	object  []string
	end     string
	lasting time.Duration
	// ends is the name of the events that are over with this one; "" for an event that begins
	// something.
	ends string
}

// data are the data of an event.
type data map[string]any

func (d data) value(name string) string {
	if v, ok := d[name]; ok {
		return fmt.Sprint(v)
	}
	return ""
}

// kinds are the events that are alerts. Events that every request could cause are not among
// them, such as events.Fallback.
var kinds = map[string]kind{
	events.BudgetThreshold: {
		func(d data) string {
			return fmt.Sprintf("%s %% of the budget of %s in the limit %s are spent or reserved%s.",
				d.value("percent"), d.value("budget"), d.value("limit"), ofSubject(d))
		},
		[]string{"limit", "per", "subject", "percent"}, "renews", 0, "",
	},
	events.ProviderDown: {text: func(d data) string {
		if cause := d.value("cause"); cause == "credential_refused" || cause == "account_exhausted" {
			return fmt.Sprintf("The provider %s refuses an API key of the gateway (%s). It rests until %s.", d.value("provider"), cause, d.value("until"))
		}
		return fmt.Sprintf("%s of the provider %s rests until %s after failures (%s).", model(d), d.value("provider"), d.value("until"), d.value("cause"))
	}},
	events.ProviderUp: {ends: events.ProviderDown, text: func(d data) string {
		return fmt.Sprintf("%s of the provider %s answers again.", model(d), d.value("provider"))
	}},
	events.KeyExpires: {
		func(d data) string {
			return fmt.Sprintf("The key %s, which is in use%s, expires at %s.", d.value("key"), after(" and belongs to ", d.value("owner")), d.value("expires"))
		},
		[]string{"key", "expires"}, "expires", 0, "",
	},
	events.UnpricedModel: {
		func(d data) string {
			if refusal := d.value("refusal"); refusal != "" {
				return fmt.Sprintf("Requests for %s of the provider %s are refused. %s.", d.value("upstream_model"), d.value("provider"), refusal)
			}
			return fmt.Sprintf("No price is known for %s of the provider %s, so the costs of its answers are unknown.", d.value("upstream_model"), d.value("provider"))
		},
		[]string{"provider", "model"}, "", 0, "",
	},
	events.ModelEnds: {
		func(d data) string {
			day, _, _ := strings.Cut(d.value("ends"), "T")
			return fmt.Sprintf("The service of the provider %s ends %s on %s%s.%s",
				d.value("provider"), d.value("model"), day, after("; the successor is ", d.value("successor")), after(" ", d.value("changes")))
		},
		[]string{"provider", "model", "ends"}, "ends", 0, "",
	},
	events.ToolChanged: {
		func(d data) string {
			return fmt.Sprintf("The MCP server %s has changed the definition of its tool %s (pin %s).", d.value("server"), d.value("tool"), d.value("pin"))
		},
		[]string{"server", "tool", "digest"}, "", 0, "",
	},
	events.SpendReport: {text: spendText, object: []string{"ledger", "period"}, end: "to", lasting: spendLasts},
	events.LedgerBlocked: {text: func(d data) string {
		return "The ledger cannot be written: " + d.value("error")
	}},
	events.LedgerRecovered: {ends: events.LedgerBlocked, text: func(data) string { return "The ledger can be written again." }},
	events.LedgerBehind: {text: func(d data) string {
		return "Records of the ledger wait in the journal, since the database does not take them: " + d.value("error")
	}},
	events.LedgerCaughtUp: {ends: events.LedgerBehind, text: func(data) string { return "The database takes the records of the ledger again." }},
	events.Degraded: {text: func(d data) string {
		return fmt.Sprintf("A part of the gateway does not work, %s: %s", d.value("part"), d.value("error"))
	}},
	events.Restored: {ends: events.Degraded, text: func(d data) string {
		return fmt.Sprintf("A part of the gateway works again: %s.", d.value("part"))
	}},
	events.JournalDamaged: {text: func(d data) string {
		return fmt.Sprintf("%s damaged bytes of the journal were skipped in %s.", d.value("bytes"), d.value("path"))
	}},
}

// Events returns the names of the events that are alerts, sorted.
func Events() []string { return slices.Sorted(maps.Keys(kinds)) }

func model(d data) string { return cmp.Or(d.value("model"), "A model") }

func ofSubject(d data) string {
	return after(" for the "+cmp.Or(d.value("per"), "key")+" ", d.value("subject"))
}

// after returns a text behind another one, "" without a text.
func after(lead, text string) string {
	if text == "" {
		return ""
	}
	return lead + text
}

// New returns the alert of an event; nil if the event is none.
func New(id, name string, at time.Time, data map[string]any) *Alert {
	k, ok := kinds[name]
	if !ok {
		return nil
	}
	return &Alert{ID: id, Event: name, Time: at.UTC(), Text: k.text(data), Data: data}
}

// Mark returns the name under which it is remembered that the alert was sent, and the time
// until which it is not sent again; "" if every event is sent.
func (a *Alert) Mark() (name string, end time.Time) {
	k := kinds[a.Event]
	if len(k.object) == 0 {
		return "", end
	}
	object := sha256.New()
	for _, member := range append(k.object, k.end) {
		fmt.Fprintf(object, "%q=%q ", member, data(a.Data).value(member))
	}
	return a.Event + "-" + hex.EncodeToString(object.Sum(nil)[:16]), a.until()
}

// IsReport reports whether the alert is a report, which was asked for and needs nobody.
func (a *Alert) IsReport() bool { return a.Event == events.SpendReport }

// until returns the end of an alert that no other event ends: the time in its data and what is kept
// behind it, or a day later.
func (a *Alert) until() time.Time {
	end, err := time.Parse(time.RFC3339, data(a.Data).value(kinds[a.Event].end))
	if err != nil {
		return a.Time.Add(24 * time.Hour)
	}
	return end.Add(kinds[a.Event].lasting)
}
