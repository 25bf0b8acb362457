package fault

import (
	"bytes"
	"encoding/json"
	"strings"
)

// deepest is how far a message may be wrapped: errors of a provider are often
// found inside the error of a proxy before it, as an object or as its text.
const deepest = 6

// The places in which providers put the message, in order: at the top of a body,
// and inside the error there.
var (
	outerPlaces = []string{"error", "message", "detail", "errors", "response"}
	innerPlaces = []string{"message", "error", "detail", "errors"}
)

// detailOf looks for the message in all of these places, and for the type and
// the code that stand nearest to it.
func detailOf(value any, depth int) detail {
	if depth > deepest {
		return detail{}
	}
	switch v := value.(type) {
	case string:
		return detailOfText(v, depth)
	case json.Number:
		if depth > 0 {
			return detail{message: v.String()}
		}
	case []any:
		return detailOfList(v, depth)
	case map[string]any:
		return detailOfObject(v, depth)
	}
	return detail{}
}

// detailOfText unwraps an error that is the text of another one.
func detailOfText(text string, depth int) detail {
	if value, ok := decode([]byte(text)); ok && strings.HasPrefix(strings.TrimSpace(text), "{") {
		if d := detailOf(value, depth+1); d.message != "" {
			return d
		}
	}
	return detail{message: text}
}

// detailOfList reads a list of validation errors, or the first of other ones.
func detailOfList(list []any, depth int) detail {
	if message := joined(list); message != "" {
		return detail{message: message}
	}
	if len(list) == 0 {
		return detail{}
	}
	return detailOf(list[0], depth+1)
}

func detailOfObject(object map[string]any, depth int) (d detail) {
	places := innerPlaces
	if depth == 0 {
		places = outerPlaces
	}
	for _, place := range places {
		found := detailOf(object[place], depth+1)
		d.message = firstText(d.message, found.message)
		d.kind, d.code, d.param = firstText(d.kind, found.kind), firstText(d.code, found.code), firstText(d.param, found.param)
	}
	d.kind, d.code, d.param = firstText(d.kind, object["type"]), firstText(d.code, object["code"]), firstText(d.param, object["param"])
	if d.kind == "error" {
		d.kind = ""
	}
	return d
}

// firstText is the first of the values that is a text or a number.
func firstText(values ...any) string {
	for _, value := range values {
		switch v := value.(type) {
		case string:
			if v != "" {
				return v
			}
		case json.Number:
			return v.String()
		}
	}
	return ""
}

// joined writes a list of validation errors: "body.messages.0: field required".
func joined(list []any) string {
	var parts []string
	for _, entry := range list {
		fields, _ := entry.(map[string]any)
		message := firstText(fields["msg"])
		if at := location(fields["loc"]); at != "" && message != "" {
			message = at + ": " + message
		}
		if message != "" {
			parts = append(parts, message)
		}
	}
	return strings.Join(parts, "; ")
}

func location(value any) string {
	list, _ := value.([]any)
	var steps []string
	for _, step := range list {
		steps = append(steps, firstText(step))
	}
	return strings.Join(steps, ".")
}

// messagesDetails returns the error.details of a messages body, which is written
// anew: an object of a bounded length, or nil.
func messagesDetails(body any) []byte {
	object, _ := body.(map[string]any)
	failure, _ := object["error"].(map[string]any)
	details, ok := failure["details"].(map[string]any)
	if !ok || object["type"] != "error" {
		return nil
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(details); err != nil || out.Len() > maxDetail {
		return nil
	}
	return bytes.TrimSpace(out.Bytes())
}
