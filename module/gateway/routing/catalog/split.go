package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/rendezvous"
)

// The values of ModelConfig's SplitBy.
const (
	splitByCustomer = "customer"
	splitByKey      = "key"
	splitBySession  = "session"
)

// CheckSplitBy returns an error unless unit is a value of ModelConfig's SplitBy.
func CheckSplitBy(unit string) error {
	all := []string{splitByCustomer, splitByKey, splitBySession}
	if !slices.Contains(all, unit) {
		return fmt.Errorf("split_by must be one of %s, not '%s'", strings.Join(all, ", "), unit)
	}
	return nil
}

// checkSplit returns an error for a SplitBy that has no effect on m.
func (m *Model) checkSplit() error {
	switch {
	case m.SplitBy == "":
		return nil
	case m.Order.Criterion != "":
		return errors.New("split_by and order exclude each other: the order would decide about the targets")
	case len(m.Steps) == len(m.Targets):
		return errors.New("split_by needs two successive targets with weights, which it shares the requests among")
	}
	return CheckSplitBy(m.SplitBy)
}

// Arm returns the seed by which the targets of each step share the requests of a key and a session, 0 if
// they share sessions as in other models. A session of 0 is none.
func (m *Model) Arm(key *aigateway.Key, session uint64) uint64 {
	switch {
	case m.SplitBy == "":
		return 0
	case m.SplitBy == splitByCustomer && key.Customer != "":
		return rendezvous.Seed(string(m.Pattern), splitByCustomer, key.Customer)
	case m.SplitBy == splitBySession && session != 0:
		return rendezvous.Seed(string(m.Pattern), splitBySession, strconv.FormatUint(session, 16))
	}
	return rendezvous.Seed(string(m.Pattern), splitByKey, key.ID)
}
