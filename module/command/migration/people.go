package migration

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// User is an account of the gateway.
type User struct {
	Name, DisplayName string
	Role              aigateway.Role
	Password          string // a bcrypt hash; "" for none
	Disabled          bool
}

// mostCost is the largest cost of bcrypt that a login accepts.
const mostCost = "12"

var bcrypt = regexp.MustCompile(`^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$`)

// SetPassword sets the password of a user to a bcrypt hash that a login accepts. Others are
// left out and reported.
func (u *User) SetPassword(hash, place string, report *Report) {
	switch m := bcrypt.FindStringSubmatch(hash); {
	case hash == "":
	case m == nil:
		report.Add(Lost, place, "the password of %s is not a bcrypt hash: set a new one with user passwd", u.Name)
	case m[1] > mostCost:
		report.Add(Lost, place, "the password of %s has the cost %s, above %s: set a new one with user passwd", u.Name, m[1], mostCost)
	default:
		u.Password = hash
	}
}

// mostBudget is the largest budget of the gateway.
const mostBudget = 1_000_000

// Budget returns an amount as that of a budget. Bounded is false for one that is above the
// largest budget, which is no limit, and none is true for one that is nothing.
func Budget(amount float64) (text string, bounded, none bool) {
	text = strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.6f", amount), "0"), ".")
	return text, amount <= mostBudget, amount <= 0 || text == "0"
}

// Opening is money that was spent before the import, in the present period of a budget. An amount of
// zero bounds what budgets within that one have spent in its period.
type Opening struct {
	Key, User, Limit string // as in the records of the ledger; "" for none
	Amount           float64
	Period           string // of the budget: a second import within it adds what the first has not
}

// Secret is a secret of the source, and the variable of the environment for it.
type Secret struct{ Variable, Value string }

var plainSecret = regexp.MustCompile(`^[A-Za-z0-9._~+/=:|,@%!*^()\[\]-]+$`)

// EnvFile returns secrets as a file for the environment of the service, and the variables of
// those that such a file cannot contain.
func EnvFile(secrets []Secret) (text string, left []string) {
	var b strings.Builder
	for _, s := range secrets {
		if !plainSecret.MatchString(s.Value) {
			left = append(left, s.Variable)
			continue
		}
		fmt.Fprintf(&b, "%s=%s\n", s.Variable, s.Value)
	}
	return b.String(), left
}
