package reply

import (
	"fmt"
	"net/http"
)

// Refusal is an error answer before it has the shape of a format.
type Refusal struct {
	Status     int
	Message    string
	Param      string // path of the field at fault; "" for none
	Code       string // "" for none
	RetryAfter string // the header of this name; "" for none
	Details    any    // what a client's program reads; only the messages format has a place for it
}

// Invalid refuses the field at path. The message is path and sentence.
func Invalid(path, sentence, code string) *Refusal {
	return &Refusal{Status: http.StatusBadRequest, Message: path + ": " + sentence, Param: path, Code: code}
}

// UnknownModel refuses a model that the provider does not have.
func UnknownModel(name string) *Refusal {
	return &Refusal{
		Status: http.StatusNotFound, Param: "model", Code: "model_not_found",
		Message: fmt.Sprintf("model: %q is not known", name),
	}
}
