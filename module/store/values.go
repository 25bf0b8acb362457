package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// millis is how a time is kept: in Unix milliseconds, 0 for the zero time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// moment reads a time that is kept so.
type moment struct{ of *time.Time }

// Scan implements sql.Scanner.
func (m moment) Scan(value any) error {
	ms, ok := value.(int64)
	if !ok {
		return fmt.Errorf("a time is kept as %T", value)
	}
	*m.of = time.Time{}
	if ms != 0 {
		*m.of = time.UnixMilli(ms).UTC()
	}
	return nil
}

// now is the time as it is read back later.
func now() time.Time { return time.UnixMilli(time.Now().UnixMilli()).UTC() }

// digestOf reads a digest.
type digestOf struct{ of []byte }

// Scan implements sql.Scanner.
func (d digestOf) Scan(value any) error {
	raw, ok := value.([]byte)
	if !ok || len(raw) != len(d.of) {
		return fmt.Errorf("a digest is kept as %T of another size", value)
	}
	copy(d.of, raw)
	return nil
}

// text is s without what PostgreSQL refuses to keep and no name needs: what a
// client calls itself may be any bytes.
func text(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD")
}

// list is how several values are kept: as a JSON array.
func list[T any](values []T) (string, error) {
	if len(values) == 0 {
		return "[]", nil
	}
	raw, err := json.Marshal(values)
	return string(raw), err
}

// listOf reads a list. A list that nobody can read sets damaged: an empty one
// would mean that everything is allowed.
type listOf[T any] struct {
	of      *[]T
	damaged *bool
}

// Scan implements sql.Scanner.
func (l listOf[T]) Scan(value any) error {
	var raw []byte
	switch value := value.(type) {
	case string:
		raw = []byte(value)
	case []byte:
		raw = value
	}
	var values []T
	if err := json.Unmarshal(raw, &values); err != nil {
		*l.damaged = true
		return nil
	}
	*l.of = nil
	if len(values) > 0 {
		*l.of = values
	}
	return nil
}

// part is a pattern that matches what contains s, whatever signs s is made of.
// Texts are folded before they are kept, s before it is looked for.
func part(s string) string {
	escaped := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(fold(s))
	return "%" + escaped + "%"
}

// fold makes texts equal that differ in letter case alone. Databases do not
// agree on that for letters beyond ASCII.
func fold(s string) string { return strings.ToLower(text(s)) }
