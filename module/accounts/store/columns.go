package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// millis returns the column of a time: Unix milliseconds, 0 for the zero time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// timeColumn reads a column of millis.
type timeColumn struct{ dst *time.Time }

// Scan implements sql.Scanner.
func (m timeColumn) Scan(value any) error {
	ms, ok := value.(int64)
	if !ok {
		return fmt.Errorf("a time is stored as %T", value)
	}
	*m.dst = time.Time{}
	if ms != 0 {
		*m.dst = time.UnixMilli(ms).UTC()
	}
	return nil
}

// now returns the current time with the precision of the column.
func now() time.Time { return time.UnixMilli(time.Now().UnixMilli()).UTC() }

// digestColumn reads a column with a digest. Null is the zero digest.
type digestColumn struct{ dst []byte }

// Scan implements sql.Scanner.
func (d digestColumn) Scan(value any) error {
	if value == nil {
		clear(d.dst)
		return nil
	}
	raw, ok := value.([]byte)
	if !ok || len(raw) != len(d.dst) {
		return fmt.Errorf("a digest is stored as %T, or with a wrong size", value)
	}
	copy(d.dst, raw)
	return nil
}

// encodeList returns the column of a list: a JSON array.
func encodeList[T any](values []T) (string, error) {
	if len(values) == 0 {
		return "[]", nil
	}
	raw, err := json.Marshal(values)
	return string(raw), err
}

// listColumn reads a column of encodeList. It sets damaged for an invalid list, which
// must not count as empty, because an empty list restricts nothing.
type listColumn[T any] struct {
	dst     *[]T
	damaged *bool
}

// Scan implements sql.Scanner.
func (l listColumn[T]) Scan(value any) error {
	var values []T
	if err := json.Unmarshal(textOf(value), &values); err != nil {
		*l.damaged = true
		return nil
	}
	*l.dst = nil
	if len(values) > 0 {
		*l.dst = values
	}
	return nil
}

// encodeRules returns the column of the rules of a limit: a JSON object.
func encodeRules(rules aigateway.LimitRules) (string, error) {
	raw, err := json.Marshal(rules)
	return string(raw), err
}

// rulesColumn reads a column of encodeRules. It sets damaged for invalid rules, which must not
// count as none, because none restrict nothing.
type rulesColumn struct {
	dst     *aigateway.LimitRules
	damaged *bool
}

// Scan implements sql.Scanner.
func (r rulesColumn) Scan(value any) error {
	var rules aigateway.LimitRules
	if err := json.Unmarshal(textOf(value), &rules); err != nil || rules != (aigateway.LimitRules{}) && rules.Check() != nil {
		*r.damaged = true
		return nil
	}
	*r.dst = rules
	return nil
}

// textOf returns the text of a column, nil for another type.
func textOf(value any) []byte {
	switch value := value.(type) {
	case string:
		return []byte(value)
	case []byte:
		return value
	}
	return nil
}

// likePattern returns a LIKE pattern for the folded texts that contain s.
func likePattern(s string) string { return "%" + escapeLike(fold(s)) + "%" }

// escapeLike returns a LIKE pattern for a text, with \ as the escape.
func escapeLike(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}

// fold returns s in lower case. Databases do not agree on letter case beyond ASCII.
func fold(s string) string { return strings.ToLower(database.Text(s)) }
