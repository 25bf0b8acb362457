package answer

import (
	"cmp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Dialect is how streams express errors: by the name of the event or the type of its
// data, and by a code.
var Dialect = fault.Dialect{Unknown: 500, IsError: failsByName}

// failsByName reports whether clients take an event for an error: by its name, or by the
// type in the data of an event without a name.
func failsByName(name string, body any) bool {
	if name == "" {
		object, _ := body.(map[string]any)
		name, _ = object["type"].(string)
	}
	return name == "error" || name == "response.failed"
}

// codes contains the error.code of failed responses that clients act on, by the kind of the
// fault. Clients repeat a request unless the code blames the request.
var codes = map[fault.Kind]string{
	fault.Invalid:          codeInvalid,
	fault.TooLarge:         codeInvalid,
	fault.RateLimited:      "rate_limit_exceeded",
	fault.Exhausted:        "insufficient_quota",
	fault.AccountExhausted: "insufficient_quota",
	fault.Overloaded:       "server_is_overloaded",
}

const codeInvalid = "invalid_prompt"

// codeOf returns the error.code of a failed response.
func codeOf(f *fault.Fault) string {
	code := cmp.Or(codes[f.Kind], "server_error")
	if code == codeInvalid && f.Code == fault.CodeOverflow {
		return fault.CodeOverflow
	}
	return code
}
