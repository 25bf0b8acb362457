package fault

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// deepest bounds how deep a message may be nested: proxies put the error of a provider
// into their own, as an object or as text.
const deepest = 6

// The places of the message, in the order in which they are searched: at the top of a
// body, and in the error there. Their names are plain, see plainNames.
var (
	outerPlaces = slices.Concat([]string{"errordescription", "error", "message", "detail", "errors"}, envelopes, []string{"fault", "failure", "exception"},
		otherPlaces)
	innerPlaces = append([]string{"message", "error", "detail", "errors"}, otherPlaces...)
	otherPlaces = []string{"msg", "errormsg", "errmsg", "errormessage", "statusmsg", "statusmessage", "faultstring", "description", "reason", "title"}
)

// envelopes are the members around the error of a service. A text there is no message. Those in
// sureEnvelopes have a code for nothing but success and errors.
var (
	envelopes     = append([]string{"status", "result", "data"}, sureEnvelopes...)
	sureEnvelopes = []string{"response", "baseresp", "responsemetadata", "header"}
)

// codePlaces are the members of a code beside a message, in the order in which they are searched.
var codePlaces = []string{"code", "statuscode", "errorcode", "errcode"}

// plainNames returns the members of an object by their names in small letters without underscores:
// services write error_message, errorMessage and ErrorMessage.
func plainNames(object map[string]any) map[string]any {
	rename := false
	for name := range object {
		rename = rename || strings.ContainsFunc(name, func(r rune) bool { return r == '_' || 'A' <= r && r <= 'Z' })
	}
	if !rename { // nearly always
		return object
	}
	plain := make(map[string]any, len(object))
	for _, name := range slices.Sorted(maps.Keys(object)) { // of several spellings, that of the formats is the last
		plain[strings.ToLower(strings.ReplaceAll(name, "_", ""))] = object[name]
	}
	return plain
}

// baseCodes are the codes of MiniMax, status_code of base_resp, in the words of others.
var baseCodes = map[string]string{
	"1001": "timeout_error",
	"1002": "rate_limit_exceeded", "1041": "rate_limit_exceeded",
	"1004": "invalid_api_key", "2049": "invalid_api_key",
	"1008": "insufficient_balance",
	"1026": "content_filter", "1027": "content_filter",
	"2013": "invalid_request_error",
}

// detailOf returns the message in the first of these places, with the nearest type and
// code.
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

// detailOfText reads an error that is the text of another error.
func detailOfText(text string, depth int) detail {
	if value, ok := decode([]byte(text)); ok && strings.HasPrefix(strings.TrimSpace(text), "{") {
		if d := detailOf(value, depth+1); d.message != "" {
			return d
		}
	}
	return detail{message: text}
}

// detailOfList reads a list of validation errors, or the first of other errors.
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
	object = plainNames(object)
	places := innerPlaces
	if depth == 0 {
		places = outerPlaces
	}
	for _, place := range places {
		if _, wraps := object[place].(map[string]any); !wraps && slices.Contains(envelopes, place) {
			continue
		}
		inner := detailOf(object[place], depth+1)
		if word := baseCodes[inner.code]; place == "baseresp" && word != "" {
			inner.code = word
		}
		d.message = firstText(d.message, inner.message)
		d.kind, d.code, d.param = firstText(d.kind, inner.kind), firstText(d.code, inner.code), firstText(d.param, inner.param)
	}
	d.kind, d.param = firstText(d.kind, object["type"], object["errortype"]), firstText(d.param, object["param"])
	for _, place := range codePlaces {
		d.code = firstText(d.code, object[place])
	}
	if d.kind == "error" {
		d.kind = ""
	}
	return d
}

// successCodes are the codes of answers that are no errors.
var successCodes = map[string]bool{"": true, "0": true, "200": true, "ok": true, "OK": true, "success": true}

// statesError reports whether a JSON object that is no answer of its format states an error, in
// one of the shapes of services that answer errors with status 200.
func statesError(object map[string]any) bool {
	object = plainNames(object)
	errorList, _ := object["errors"].([]any)
	failure, _ := object["error"].(map[string]any)
	failed := func(place string) bool { return !successCodes[firstText(object[place])] }
	innerFails := func(place string) bool {
		inner, wraps := object[place].(map[string]any)
		return wraps && statesError(inner)
	}
	return object["success"] == false || len(errorList) > 0 || len(failure) > 0 || firstText(object["error"]) != "" ||
		slices.ContainsFunc(codePlaces, failed) || slices.ContainsFunc(sureEnvelopes, innerFails) || innerFails("errormsg")
}

// lifeSigns are the names and words of events that only keep a stream from being idle.
var lifeSigns = map[string]bool{"ping": true, "pong": true, "heartbeat": true, "keepalive": true}

// showsLife reports whether an object is empty or a sign of life.
func showsLife(object map[string]any) bool {
	for name, value := range object {
		text, _ := value.(string)
		if lifeSigns[strings.ToLower(signLetters.Replace(name))] || lifeSigns[strings.ToLower(signLetters.Replace(text))] {
			return true
		}
	}
	return len(object) == 0
}

// signLetters removes what separates the parts of a word.
var signLetters = strings.NewReplacer("_", "", "-", "", ".", "", " ", "")

// firstText returns the first value that is a text or a number.
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

// joined returns a list of validation errors as text: "body.messages.0: field required".
func joined(list []any) string {
	var parts []string
	for _, entry := range list {
		fields, _ := entry.(map[string]any)
		message := firstText(fields["msg"])
		if place := location(fields["loc"]); place != "" && message != "" {
			message = place + ": " + message
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

// messagesDetails returns the error.details object of a messages body, encoded again
// and of bounded length, or nil.
func messagesDetails(body any) []byte {
	object, _ := body.(map[string]any)
	failure, _ := object["error"].(map[string]any)
	details, ok := failure["details"].(map[string]any)
	if !ok || object["type"] != "error" {
		return nil
	}
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(details); err != nil || encoded.Len() > maxDetail {
		return nil
	}
	return bytes.TrimSpace(encoded.Bytes())
}
