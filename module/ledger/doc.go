// Package ledger writes down what exchanges use, once each, and adds it up.
//
// A record goes to the journal, in the way of the request, and from there to the
// database, behind it: no request waits for a database. The package promises that
// what End returned for is in the database exactly once, in the end, whatever
// becomes of the process and of the database meanwhile: the records of a batch, what
// they add to the sums, and the place in the journal are written in one transaction.
// Sums by hour, day and month outlive the records. Names outlive what they name.
//
// The database has records as the journal has them, in pages that are found by time, key
// and user: nothing else is asked of a single record, and a row with a column for each
// member would cost ten times as much. All other questions are answered by the sums.
//
// It refuses a journal that another process uses. It never has a part of a prompt or
// of an answer, and no credential.
package ledger
