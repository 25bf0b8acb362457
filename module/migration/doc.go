// Package migration describes the gateway that comes of the configuration of another
// product. The packages below it read one product each.
//
// It promises that the same configuration always becomes the same text, but for prices that the
// source takes from a table, that the Caddyfile loads, that no secret of the source is in any text, and that everything of the source that
// is not in the Caddyfile is in the report.
//
// It refuses to guess: what has no counterpart is left out and named, never replaced by
// something that is nearly the same in silence.
package migration
