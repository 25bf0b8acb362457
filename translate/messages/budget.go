package messages

import (
	"math"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

const unified = "Anthropic-Ratelimit-Unified-"

// With these headers, Claude Code takes any error 429 for a used-up budget.
const (
	budgetClaim  = unified + "Representative-Claim"
	budgetStatus = unified + "Overage-Status"
)

// warnings are the shares of a budget from which Claude Code warns.
var warnings = [...]float64{0.95, 0.75}

// periodNames are the names of Claude Code for periods of the calendar.
var periodNames = map[string]string{"day": "daily", "week": "weekly", "month": "monthly"}

// refusalReason is the header with which Claude Code shows the text of an error 429 as it is. Without it, the text
// has "Server is temporarily limiting requests (not your usage limit)" in front.
const refusalReason = unified + "Overage-Disabled-Reason"

const spent = "org_spend_cap_reached" // of refusalReason

// budgetHeaders returns the headers in which Claude Code, signed in to a gateway, finds the use of a budget.
// While requests are admitted, the share is below 1. A refusal has no claim: with one, Claude Code would
// show a text of its own in place of that of the error.
func budgetHeaders(b format.BudgetUse) []string {
	if b.Ended && b.Renews.IsZero() {
		return []string{refusalReason, spent}
	}
	status, passed, share := "allowed", 0.0, math.Round(b.Share*100)/100
	for _, warning := range warnings {
		if b.Share > warning {
			status, passed = "allowed_warning", warning
			break
		}
	}
	if b.Ended {
		status, passed = "rejected", 1
	} else {
		share = min(share, 0.99)
	}
	renews := strconv.FormatInt(b.Renews.Unix(), 10)
	headers := []string{
		unified + "Status", status,
		unified + "Reset", renews,
		unified + "Overage-Reset", renews,
		unified + "Overage-Utilization", strconv.FormatFloat(share, 'f', -1, 64),
	}
	if passed > 0 {
		headers = append(headers, unified+"Overage-Surpassed-Threshold", strconv.FormatFloat(passed, 'f', -1, 64))
	}
	if !b.Ended {
		return append(headers, budgetClaim, "overage", budgetStatus, status)
	}
	headers = append(headers, refusalReason, spent)
	if name := periodNames[b.Period]; name != "" {
		headers = append(headers, unified+"Overage-Period", name)
	}
	return headers
}
