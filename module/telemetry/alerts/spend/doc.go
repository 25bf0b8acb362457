// Package spend reports what a ledger has spent in the days, weeks and months that have ended, as
// events. They are periods of the calendar in the time zone of the ledger, as those of budgets are.
//
// It promises one event for each period with calls of providers while a gateway runs, a quarter of
// an hour after the end of the period, and at the start one for the latest such period, so that
// none is missed over a restart. It bounds the names in a report. Handlers that must not get
// a report twice remember what they had, as the webhook of alerts does: each gateway emits the
// event.
package spend
