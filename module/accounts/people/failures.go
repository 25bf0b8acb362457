package people

import (
	"strconv"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/throttle"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// failures bound the rows of the audit log about failed logins, so that guesses cannot fill
// the database: a few of each network, so that one network does not hide the others, and a
// few of all together. The others are counted, and the next row has their number.
type failures struct {
	networks, all *throttle.Throttle
	unrecorded    *atomic.Int64
}

func newFailures() failures {
	return failures{throttle.New(10, 5*time.Minute), throttle.New(200, time.Minute), new(atomic.Int64)}
}

// admit reports whether a failure from a network is recorded.
func (f failures) admit(network string) bool {
	ofNetwork, _ := f.networks.Begin(network)
	if ofNetwork == nil {
		return false
	}
	ofAll, _ := f.all.Begin("")
	if ofAll == nil {
		f.networks.End(ofNetwork, throttle.Undecided)
		return false
	}
	f.networks.End(ofNetwork, throttle.Failed)
	f.all.End(ofAll, throttle.Failed)
	return true
}

// RecordFailure writes a row about a failed login, with the changes, if there are not too many.
// The name occurs in it only if there is such a user: users sometimes type their password into
// the wrong field.
func (p *People) RecordFailure(c *call.Call, user *aigateway.User, action string, changes ...aigateway.AuditChange) {
	log, ok := p.Store.(aigateway.AuditLog)
	if !ok {
		return
	}
	if !p.shared.audited.admit(call.Network(c.Address())) {
		p.shared.audited.unrecorded.Add(1)
		return
	}
	row := aigateway.AuditEntry{Action: action, Failed: true, Changes: changes}
	if user != nil {
		row.Object = aigateway.ActorUser + user.Name
	}
	missing := p.shared.audited.unrecorded.Swap(0)
	if missing > 0 {
		row.Changes = append(row.Changes, aigateway.AuditChange{Field: "unrecorded", After: strconv.FormatInt(missing, 10)})
	}
	if err := log.Audit(c.Context(), row); err != nil {
		p.shared.audited.unrecorded.Add(missing + 1)
		p.Logger.Error("recording a failed login", zap.Error(err))
	}
}
