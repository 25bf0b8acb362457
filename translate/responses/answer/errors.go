package answer

import (
	"fmt"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/openai"
)

// worded returns the fault in words that clients recognize.
func worded(f *fault.Fault) *fault.Fault {
	e := f.Blame.Excess
	if e == nil {
		return f
	}
	message := fmt.Sprintf("Invalid 'max_output_tokens': integer above maximum value. Expected a value <= %d", e.Most)
	if e.Asked > 0 {
		message += fmt.Sprintf(", but got %d instead", e.Asked)
	}
	return f.Reworded(message+".", "max_output_tokens", "integer_above_max_value")
}

// AppendError appends an error body. It has no place for the request id.
func AppendError(dst []byte, f *fault.Fault, _ string) []byte {
	return openai.AppendError(dst, worded(f))
}
