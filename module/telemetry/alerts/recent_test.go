package alerts

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/events"
)

// shown are the alerts as lines: whether they are over, and their texts.
func shown() (lines []string) {
	for _, alert := range Latest(time.Now()) {
		state := "open"
		if !alert.Ended.IsZero() {
			state = "over after " + alert.Ended.Sub(alert.Time).String()
		}
		lines = append(lines, state+": "+alert.Text)
	}
	return lines
}

// The page of health was empty while the webhook had sent that a key expires, and that a budget is
// used up: they had no common source.
func TestTheLatestAlertsAreThoseOfTheWebhookAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		emit := func(name string, of data) {
			time.Sleep(time.Second)
			events.Emit(name, of)
		}
		renews := time.Now().Add(48 * time.Hour).UTC().Format(time.RFC3339)
		budget := func(percent int) data {
			return data{"limit": "team", "per": "key", "subject": "alice", "percent": percent, "budget": "50 USD per month", "renews": renews}
		}
		emit(events.Fallback, data{"model": "fast"})
		emit(events.Degraded, data{"part": "the counters", "error": "no answer"})
		emit(events.ProviderDown, data{"provider": "openai", "model": "gpt", "cause": "overloaded", "until": "soon"})
		emit(events.ProviderDown, data{"provider": "openai", "model": "gpt", "cause": "timeout", "until": "later"})
		emit(events.BudgetThreshold, budget(50))
		emit(events.BudgetThreshold, budget(80))
		emit(events.Restored, data{"part": "the counters"})
		emit(events.ProviderUp, data{"provider": "openai", "model": "other"})
		emit(events.JournalDamaged, data{"path": "journal", "bytes": 3})
		open := []string{
			"open: 3 damaged bytes of the journal were skipped in journal.",
			"open: 80 % of the budget of 50 USD per month in the limit team are spent or reserved for the key alice.",
			"open: gpt of the provider openai rests until later after failures (timeout).",
			"over after 5s: A part of the gateway does not work, the counters: no answer",
		}
		assert.Equal(t, open, shown())

		time.Sleep(24 * time.Hour)
		assert.Equal(t, "over after 24h0m0s: 3 damaged bytes of the journal were skipped in journal.", shown()[0])
		assert.Equal(t, open[1:], shown()[1:])
		time.Sleep(24 * time.Hour)
		assert.Contains(t, shown()[1], "over after 47h")
		assert.Equal(t, open[2:], shown()[2:], "only an answer of the provider ends its alert")
	})
}

func TestEveryEventThatEndsOneHasItsBeginning(t *testing.T) {
	for name, k := range kinds {
		if k.ends != "" {
			assert.Contains(t, kinds, k.ends, name)
			assert.Empty(t, kinds[k.ends].object, "%s ends with an event, and not by itself", k.ends)
		}
	}
}

// Every event of the gateway is an alert, or is known to be none.
func TestEventsThatEachRequestMayCauseAreNoAlerts(t *testing.T) {
	source, err := os.ReadFile("../events/events.go")
	require.NoError(t, err)
	names := 0
	for line := range strings.Lines(string(source)) {
		_, rest, ok := strings.Cut(line, `= "ai_gateway_`)
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(rest, `"`)
		names++
		k, isAlert := kinds["ai_gateway_"+name]
		assert.Equal(t, name != "fallback", isAlert, name)
		if isAlert {
			assert.NotContains(t, k.text(data{}), "nil")
		}
	}
	assert.Equal(t, len(kinds)+1, names)
}
