package database

import "strings"

// Text returns s without characters that PostgreSQL cannot store: it removes NUL, and
// replaces bytes that are not UTF-8. Clients may choose any bytes for some names.
func Text(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD")
}
