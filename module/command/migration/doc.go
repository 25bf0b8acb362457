// Package migration describes the gateway that comes of the configuration of another
// product. The packages below it read one product each, and the tables of their databases.
//
// It promises that the same source becomes the same text, but for prices that the source takes
// from the table of this version; that no secret of the source is in the Caddyfile, in the
// keys or in the report; that a text of the source is never more than text; and that
// everything of the source that is not in the Caddyfile is in the report.
//
// It refuses to guess: what has no counterpart is left out and named, never replaced by
// something that is nearly the same in silence.
package migration
