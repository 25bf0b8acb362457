package modelcard

import (
	"strconv"
)

// Card is an entry of the list of models.
type Card struct {
	ID            string // the name a client uses
	DisplayName   string // for people; default: the id
	Created       int64  // Unix seconds; 0 when nobody knows
	OwnedBy       string // default: "gateway"
	ContextTokens int64  // the size of the context window; 0 when nobody knows
	OutputTokens  int64  // the longest answer; 0 when nobody knows
}

// AppendSize appends the member of a size, in tokens, unless it is not known.
func AppendSize(dst []byte, name string, tokens int64) []byte {
	if tokens == 0 {
		return dst
	}
	return strconv.AppendInt(append(dst, name...), tokens, 10)
}

func orElse(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}
