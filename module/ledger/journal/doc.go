// Package journal is an append-only file of what begins and ends, in segments of a
// directory.
//
// It promises that what Begin and End returned for without an error outlives the
// process, however it ends, and a loss of power after the next sync; that entries
// are read back whole, in their order, or not at all; that what began and did not
// end before the process died is known to the next one; and that a full disk is an
// error of Begin and delays End, but loses nothing while the process runs. Writers
// that come at once share one write. It refuses a directory that another process
// uses. It never repairs a file: damaged bytes are passed over, reported, and the
// segment is kept under another name.
package journal
