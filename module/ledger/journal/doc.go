// Package journal stores entries in files that only grow, the segments of a directory.
// Begin writes that something begins, and End writes that it has ended.
//
// An entry survives a crash of the process, kill -9 included, as soon as Begin or End has
// returned without an error. It survives a loss of power after the next sync. Entries are read whole, in
// the order in which they were written. Open returns what an earlier process began and
// did not end. While the disk is full, Begin fails, and the entries of End are kept in
// memory until they can be written. Concurrent writers share one write.
//
// Where the system can reserve the room for it, the end of a segment is in memory, and an entry
// is written without a system call; a full disk is then an error at the end of that memory. The
// two system calls of an exchange would be 3 to 4 % of the processor time of a short request.
//
// The package refuses a directory that another process uses. It never repairs a file: it
// skips damaged bytes, reports them, and keeps their segment under another name.
package journal
