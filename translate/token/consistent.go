package token

// The functions of this file decide what holds if a provider contradicts itself: the most
// expensive reading of its counts, marked as Inconsistent.

// OfPrompt returns u with the Input of a prompt whose count includes the tokens of caches.
// If it cannot include them, because they are more, they are beside it.
func (u Usage) OfPrompt(tokens int64) Usage {
	u.Input = tokens - u.CacheRead - u.CacheWrite
	if u.Input < 0 {
		u.Input, u.Inconsistent = tokens, true
	}
	return u
}

// Checked returns u with wholes that include their parts: a part that is larger than its
// whole is beside it.
func (u Usage) Checked() Usage {
	if u.Reasoning > u.Output {
		u.Output, u.Inconsistent = sum(u.Output, u.Reasoning), true
	}
	if u.CacheWriteLong > u.CacheWrite {
		u.CacheWrite, u.Inconsistent = sum(u.CacheWrite, u.CacheWriteLong), true
	}
	return u
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
		u.Input, u.CacheRead = max(u.Input, answering.Input), max(u.CacheRead, answering.CacheRead)
		u.CacheWrite, u.Output = max(u.CacheWrite, answering.CacheWrite), max(u.Output, answering.Output)
		u.Inconsistent = true
	}
	u.Beside = others
	return u
}

// sameAs reports whether the counts of two usages are the same.
func (u Usage) sameAs(other Usage) bool {
	return u.TotalInput() == other.TotalInput() && u.Output == other.Output
}

// Then returns the usage of a call that reports u, and next later. A later report holds
// all that the call has used so far, so it replaces the earlier one, except where it is
// less: of the input, the output and the searches, the larger report holds.
func (u Usage) Then(next Usage) Usage {
	if next.Searches < u.Searches {
		next.Searches, next.Inconsistent = u.Searches, true
	}
	if next.Beside == nil {
		next.Beside = u.Beside
	}
	switch {
	case !next.Known:
		u.Searches, u.Beside = next.Searches, next.Beside
		return u
	case !u.Known:
		return next
	}
	if next.TotalInput() < u.TotalInput() {
		next.Input, next.CacheRead, next.CacheWrite, next.CacheWriteLong = u.Input, u.CacheRead, u.CacheWrite, u.CacheWriteLong
		next.Inconsistent = true
	}
	if next.Output < u.Output {
		next.Output, next.Reasoning, next.Inconsistent = u.Output, u.Reasoning, true
	}
	return next
}
