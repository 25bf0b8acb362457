package reply

import (
	"fmt"
	"net/http"
)

// Refusal is an error answer, independent of a format.
type Refusal struct {
	Status     int
	Message    string
	Param      string // path of the invalid field; "" for none
	Code       string // "" for none
	RetryAfter string // value of the header Retry-After; "" for none
	Details    any    // for programs; only the messages format has a field for it
}

// Invalid returns the refusal of a field. The message consists of path and sentence.
func Invalid(path, sentence, code string) *Refusal {
	return &Refusal{Status: http.StatusBadRequest, Message: path + ": " + sentence, Param: path, Code: code}
}

// UnknownModel returns the refusal of a model that the provider does not have.
func UnknownModel(name string) *Refusal {
	return &Refusal{
		Status: http.StatusNotFound, Param: "model", Code: "model_not_found",
		Message: fmt.Sprintf("model: %q is not known", name),
	}
}
