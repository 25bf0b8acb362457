package token

// The functions of this file decide what holds if a provider contradicts itself: the most
// expensive reading of its counts, marked as Inconsistent.

// rest returns the tokens of a whole that are in none of its parts. If the whole cannot
// include them, because they are more, they are beside it, and u becomes Inconsistent.
func (u *Usage) rest(whole int64, parts ...int64) int64 {
	if n := whole - sum(parts...); n >= 0 {
		return n
	}
	u.Inconsistent = true
	return whole
}

// OfRuns returns u with the runs of models that its answer lists: those that have written the
// answer, as a sum, and the others. The counts of u are those of the answer alone, or of all
// runs. If they are neither, the larger counts hold, and the other runs are beside them.
func (u Usage) OfRuns(answering Usage, others []Run) Usage {
	all := answering
	for i := range others {
		all = all.Plus(others[i].Usage)
	}
	switch {
	case u.sameAs(all):
		return u
	case !u.sameAs(answering) && answering.Total() > 0:
		u.Fresh, u.CacheRead = max(u.Fresh, answering.Fresh), max(u.CacheRead, answering.CacheRead)
		u.CacheWrite += max(0, answering.Written()-u.Written())
		u.Answer += max(0, answering.Output()-u.Output())
		u.Inconsistent = true
	}
	u.Beside = others
	return u
}

// sameAs reports whether the counts of two usages are the same.
func (u Usage) sameAs(other Usage) bool {
	return u.Input() == other.Input() && u.Output() == other.Output()
}

// Then returns the usage of a call that reports u, and next later. A later report holds
// all that the call has used so far, so it replaces the earlier one, except where it is
// less: of the input, the output and the searches, the larger report holds.
func (u Usage) Then(next Usage) Usage {
	switch {
	case u.Billed && !next.Billed:
		next.Searches, next.Billed = u.Searches, true
	case next.Searches < u.Searches && !next.Billed:
		next.Searches, next.Inconsistent = u.Searches, true
	}
	if next.Beside == nil {
		next.Beside = u.Beside
	}
	next.Units = next.Units.AtLeast(u.Units)
	if !next.Stated.Known {
		next.Stated.Nanos, next.Stated.Known = u.Stated.Nanos, u.Stated.Known
	}
	next.Stated.Doubtful = next.Stated.Doubtful || u.Stated.Doubtful
	switch {
	case !next.Known:
		u.Searches, u.Billed, u.Beside, u.Units, u.Stated = next.Searches, next.Billed, next.Beside, next.Units, next.Stated
		return u
	case !u.Known:
		return next
	}
	if next.Input() < u.Input() {
		next.Fresh, next.CacheRead, next.CacheWrite, next.CacheWriteLong = u.Fresh, u.CacheRead, u.CacheWrite, u.CacheWriteLong
		next.Inconsistent = true
	}
	if next.Output() < u.Output() {
		next.Answer, next.Reasoning, next.Inconsistent = u.Answer, u.Reasoning, true
	}
	return next
}
