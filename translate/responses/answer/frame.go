package answer

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// frame contains the members that all response objects of one answer have in common.
type frame struct {
	id       string
	model    []byte
	created  int64
	settings []byte // members that repeat the request, each with a comma before it; nil for those of an empty request
}

// The states of a response.
const (
	inProgress = "in_progress"
	completed  = "completed"
	incomplete = "incomplete"
	failed     = "failed"
)

// ending contains the members of a response object that depend on the state of the answer.
type ending struct {
	status string
	reason string       // why the answer is incomplete, "" if it is not
	fault  *fault.Fault // why the answer failed, nil if it did not
	output []byte       // the items with commas between them; nil if they are unknown
	usage  *token.Usage // nil before the end
	tier   event.Tier
}

// append appends the response object.
func (f *frame) append(dst []byte, e *ending) []byte {
	dst = append(dst, `{"id":`...)
	dst = jsonscan.AppendString(dst, f.id)
	dst = append(dst, `,"object":"response","created_at":`...)
	dst = strconv.AppendInt(dst, f.created, 10)
	dst = append(dst, `,"status":"`+e.status+`","error":`...)
	dst = appendError(dst, e.fault)
	dst = append(dst, `,"incomplete_details":`...)
	dst = appendReason(dst, e.reason)
	dst = append(dst, `,"model":`...)
	dst = jsonscan.AppendString(dst, f.model)
	dst = append(dst, `,"output":`...)
	dst = appendOutput(dst, e.output)
	dst = append(dst, `,"usage":`...)
	dst = appendOptionalUsage(dst, e.usage)
	if tier := openai.Tiers[e.tier]; tier != "" {
		dst = append(dst, `,"service_tier":"`+tier+`"`...)
	}
	repeated := f.settings
	if repeated == nil {
		repeated = defaultSettings
	}
	return append(append(dst, repeated...), '}')
}

func appendError(dst []byte, f *fault.Fault) []byte {
	if f == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, `{"code":"`+codeOf(f)+`","message":`...)
	dst = jsonscan.AppendString(dst, f.Message)
	return append(dst, '}')
}

func appendReason(dst []byte, reason string) []byte {
	if reason == "" {
		return append(dst, "null"...)
	}
	return append(dst, `{"reason":"`+reason+`"}`...)
}

func appendOutput(dst, items []byte) []byte {
	if items == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, '[')
	dst = append(dst, items...)
	return append(dst, ']')
}

func appendOptionalUsage(dst []byte, u *token.Usage) []byte {
	if u == nil {
		return append(dst, "null"...)
	}
	return AppendUsage(dst, *u)
}

// appendEvent appends an event about the whole response.
func (f *frame) appendEvent(dst []byte, name string, sequence int64, e *ending) []byte {
	dst = append(dst, "event: "+name+"\ndata: "+`{"type":"`+name+`","sequence_number":`...)
	dst = strconv.AppendInt(dst, sequence, 10)
	dst = append(dst, `,"response":`...)
	dst = f.append(dst, e)
	return append(dst, "}\n\n"...)
}
