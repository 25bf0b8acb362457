package health

import "time"

// rate counts the calls of a target that fails from time to time.
type rate struct {
	since         time.Time // of the first call that is counted
	calls, failed int
}

// over reports whether the counts are older than rateWindow.
func (r *rate) over(now time.Time) bool { return now.Sub(r.since) > rateWindow }

// add counts a call. The counts begin again with the first call after rateWindow.
func (r *rate) add(now time.Time, failed bool) {
	if r.over(now) {
		*r = rate{since: now}
	}
	r.calls++
	if failed {
		r.failed++
	}
}

// reaches reports whether there were failuresToRest failures, and they are at least percent
// of the calls.
func (r *rate) reaches(percent int) bool {
	return percent > 0 && r.failed >= failuresToRest && r.failed*100 >= r.calls*percent
}
