package limiting

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/suggest"
)

// Limiters are the limits that keys may name, by their names.
type Limiters map[string]aigateway.Limiter

// Add adds a limit, which counts with these counters.
func (l Limiters) Add(counters aigateway.Counters, name string, rules aigateway.LimitRules) (err error) {
	if err := aigateway.CheckLimitName(name); err != nil {
		return err
	}
	if l[name] != nil {
		return errors.New("is defined twice")
	}
	if err := rules.Check(); err != nil {
		return err
	}
	l[name], err = counters.Limiter(name, rules)
	return err
}

// CheckAccounts refuses accounts whose keys have a limit that is not defined.
func (l Limiters) CheckAccounts(accounts aigateway.Accounts) error {
	if accounts == nil {
		return nil
	}
	if name := accounts.LimitOfKeys(); name != "" && l[name] == nil {
		return fmt.Errorf("accounts: the limit '%s' is not defined%s", name, l.hint(name))
	}
	return nil
}

// Check refuses keys whose limit is not defined: without it they would be unlimited.
func (l Limiters) Check(keys iter.Seq[*aigateway.Key]) error {
	for key := range keys {
		if key.Limit != "" && l[key.Limit] == nil {
			return &aigateway.KeyError{ID: key.ID, Problem: "names the limit '" + key.Limit + "', which is not defined" + l.hint(key.Limit)}
		}
	}
	return nil
}

// hint returns the end of an error about a limit that is not defined: the name that was
// probably meant, and those that are defined.
func (l Limiters) hint(name string) string {
	known := slices.Sorted(maps.Keys(l))
	if len(known) == 0 {
		return ""
	}
	return "; " + suggest.DidYouMean(name, known) + "known are: " + strings.Join(known, ", ")
}
