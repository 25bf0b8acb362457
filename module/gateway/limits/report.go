package limits

import (
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/events"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/metrics"
)

// report reports a decision to operators: by metrics, and for each budget that has reached
// a further level, by the log and an event.
func (c *Chain) report(a *aigateway.Admission) {
	switch {
	case a.Reservation == nil:
		metrics.LimitDecision(a.Limit.Name, string(a.Reached), metrics.Refused)
	case a.Exceeded != nil:
		metrics.LimitDecision(a.Exceeded.Name, string(aigateway.MoneyBudget), metrics.Warned)
	default:
		metrics.LimitDecision(c.limits[0].Name, "", metrics.Admitted)
	}
	for i := range a.Moves {
		c.reportMove(&a.Moves[i])
	}
}

func (c *Chain) reportMove(m *aigateway.BudgetMove) {
	metrics.MoveBudget(m.Limit.Name, stateOf(m.From), stateOf(m.To))
	if m.To <= max(m.From, 0) {
		return
	}
	period := m.Limit.Budget.String()
	c.logger.Warn(messageOf(m.To), zap.String("limit", m.Limit.Name), zap.String("per", string(m.Subject.Per)),
		zap.String("subject", m.Subject.Name), zap.Int("percent", m.To), zap.String("budget", period), zap.Bool("soft", m.Limit.Budget.Soft))
	data := map[string]any{
		"limit": m.Limit.Name, "per": string(m.Subject.Per), "subject": m.Subject.Name, "percent": m.To, "budget": period,
	}
	if _, renews := m.Limit.Budget.Period(time.Now().In(c.spending.Zone())); !renews.IsZero() {
		data["renews"] = renews.UTC().Format(time.RFC3339)
	}
	events.Emit(events.BudgetThreshold, data)
}

// messageOf returns the message of the log for a level of a budget.
func messageOf(level int) string {
	if level == 100 {
		return "a budget is used up, or has less left than a request may cost"
	}
	return "a part of a budget is used up"
}

// stateOf returns the label of metrics for a level of a budget.
func stateOf(level int) string {
	switch level {
	case aigateway.Unknown:
		return ""
	case 0:
		return metrics.Below50
	case 50:
		return metrics.Below80
	case 80:
		return metrics.Below100
	}
	return metrics.Exhausted
}
