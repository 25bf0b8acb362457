// Package ledger records what each exchange uses, once, and adds the records up.
//
// A request writes its record to the journal. From there, another goroutine writes it to
// the database: no request waits for a database. A record for which End has returned is
// in the database exactly once in the end, even if the process is killed or the database
// is unavailable for a while: the records of a batch, their sums, and the position in the
// journal are written in one transaction. Sums by hour, day and month are kept for longer
// than the records. The name of a key, user or model is kept after the key, user or model
// has been deleted.
//
// The database contains the records in the encoding of the journal, in pages that are
// found by time, key and user: single records are not queried by anything else, and a row
// with a column for each field would take ten times as much space. All other queries read
// the sums.
//
// The package refuses a journal that another process uses. It never stores credentials,
// or a part of a prompt or an answer.
package ledger
