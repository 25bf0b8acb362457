package modelcard

import (
	"strconv"
)

// Card is an entry of a list of models.
type Card struct {
	ID            string // the name a client uses
	DisplayName   string // for people; default: the id
	Created       int64  // Unix seconds; 0 if unknown
	OwnedBy       string // default: "gateway"
	ContextTokens int64  // size of the context window; 0 if unknown
	OutputTokens  int64  // bound of an answer; 0 if unknown
}

// AppendSize appends a member with a size in tokens, unless it is unknown.
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
