package aigateway

// ownPrefix is the beginning of the names of limits with own rules. No limit of a configuration
// and no team has such a name.
const ownPrefix = "own/"

// OwnLimit returns the limit with the own rules of a key (PerKey) or of a user (PerUser) in a
// Store, nil without rules. All keys have the same name for it, and so have all users: its
// subject is what tells them apart. It applies in addition to the limits of the configuration.
func OwnLimit(scope Scope, rules LimitRules) *Limit {
	if rules == (LimitRules{}) {
		return nil
	}
	return &Limit{Name: ownPrefix + string(scope), Per: scope, LimitRules: rules}
}

// IsOwn reports whether OwnLimit has returned the limit.
func (l *Limit) IsOwn() bool { return l.Name == ownPrefix+string(l.Per) }

// RuledUsers is an optional interface of a Store whose users may have rules of their own.
type RuledUsers interface {
	// LimitOfUser returns the limit with the own rules of the user with a name, nil for none. The
	// rules apply to all keys with this owner, those outside of the store included. Every request
	// of a key with an owner calls it. It does no I/O.
	LimitOfUser(name string) *Limit
}
