package redis

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// verdict is the first number of an answer of the script admit.
type verdict int64

const (
	refused       verdict = 0
	admitted      verdict = 1
	budgetUnknown verdict = -1
	otherPeriod   verdict = -2
)

// The lengths of the parts of an answer: the verdict with the refusal and the time, and the counts of a limit.
const (
	answerHead = 6
	answerPer  = 7
)

var rules = [...]aigateway.Rule{"", aigateway.RequestRate, aigateway.TokenRate, aigateway.ConcurrentRequests, aigateway.MoneyBudget}

// timeOf returns the time of the server in an answer, in microseconds.
func timeOf(answer []int64) int64 {
	if verdict(answer[0]) == admitted || verdict(answer[0]) == refused {
		return answer[answerHead-1]
	}
	return answer[len(answer)-1]
}

// never is the wait in an answer if there will never be room.
const never = 1<<53 - 1

// read returns the decision in an answer, without a reservation.
func (q *admitCall) read(answer []int64) (a aigateway.Admission) {
	isAdmitted := verdict(answer[0]) == admitted
	if !isAdmitted {
		a.Limit, a.Reached, a.TooLarge = q.limits[answer[1]-1], rules[answer[2]], answer[4] == 1
		if !a.TooLarge && answer[3] != never {
			a.RetryAfter = micros(answer[3])
		}
	}
	for i, limit := range q.limits {
		q.readLimit(&a, limit, isAdmitted, [answerPer]int64(answer[answerHead+i*answerPer:]))
	}
	return a
}

// readLimit adds the counts of a limit to a decision.
func (q *admitCall) readLimit(a *aigateway.Admission, l *aigateway.Limit, isAdmitted bool, counts [answerPer]int64) {
	requests, requestsReset, tokens, tokensReset, spent, periodStart, periodEnd := counts[0], counts[1], counts[2], counts[3], counts[4], counts[5], counts[6]
	if l.Requests.Most > 0 {
		a.Requests = a.Requests.Tighter(quota(l.Requests.Most, requests, requestsReset))
	}
	if l.Tokens.Most > 0 {
		a.Tokens = a.Tokens.Tighter(quota(l.Tokens.Most, tokens, tokensReset))
	}
	if !l.Budget.IsSet() {
		return
	}
	if a.Limit == l && a.Reached == aigateway.MoneyBudget {
		a.Left = max(0, l.Budget.Nanos()-spent)
	}
	if isAdmitted && l.Budget.Soft && a.Exceeded == nil && spent+q.demand.Nanos > l.Budget.Nanos() {
		a.Exceeded = l
	}
	if periodStart != periodEnd {
		a.Moves = append(a.Moves, aigateway.BudgetMove{Limit: l, Subject: l.Subject(q.demand.Key), From: int(periodStart), To: int(periodEnd)})
	}
}

func quota(limit, used, reset int64) aigateway.Quota {
	return aigateway.Quota{Limit: limit, Remaining: max(0, limit-used), Reset: micros(reset)}
}

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// accepts reports whether an answer has the right length for its verdict.
func (q *admitCall) accepts(answer []int64) bool {
	if len(answer) == 0 {
		return false
	}
	switch verdict(answer[0]) {
	case admitted, refused:
		return len(answer) == answerHead+answerPer*len(q.limits)
	case budgetUnknown:
		return len(answer) == 3
	case otherPeriod:
		return len(answer) == 2
	}
	return false
}
