package answer

import (
	"cmp"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/responses/settings"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// frame contains the members that all response objects of one answer have in common.
type frame struct {
	id       string
	model    string
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
	output []byte       // the items with commas between them
	usage  *token.Usage // nil before the end
	tier   event.Tier
}

// endingOf returns the status of an answer that ended for a reason, and the reason why it
// is incomplete, "" if it is complete. A refusal in words completes the answer, since the
// words are part of it.
func endingOf(r event.FinishReason) (status, reason string) {
	switch r {
	case event.FinishLength, event.FinishPaused:
		return incomplete, "max_output_tokens"
	case event.FinishFiltered:
		return incomplete, "content_filter"
	default:
		return completed, ""
	}
}

// Tiers are the values of service_tier in answers of the format.
var Tiers = event.TierWords{
	event.TierStandard: "default", event.TierPriority: "priority", event.TierFlex: "flex", event.TierScale: "scale",
	event.TierUltrafast: "ultrafast",
}

// append appends the response object.
func (f *frame) append(dst []byte, e *ending) []byte {
	dst = jsonscan.AppendString(append(dst, `{"id":`...), f.id)
	dst = jsonscan.AppendCount(dst, `,"object":"response","created_at":`, f.created)
	dst = append(dst, `,"status":"`+e.status+`","error":`...)
	if e.fault == nil {
		dst = append(dst, "null"...)
	} else {
		dst = append(dst, `{"code":"`+codeOf(e.fault)+`","message":`...)
		dst = append(jsonscan.AppendString(dst, worded(e.fault).Message), '}')
	}
	if e.reason == "" {
		dst = append(dst, `,"incomplete_details":null,"model":`...)
	} else {
		dst = append(dst, `,"incomplete_details":{"reason":"`+e.reason+`"},"model":`...)
	}
	dst = jsonscan.AppendString(dst, f.model)
	dst = append(append(append(dst, `,"output":[`...), e.output...), `],"usage":`...)
	if e.usage == nil {
		dst = append(dst, "null"...)
	} else {
		dst = AppendUsage(dst, *e.usage)
	}
	if tier := Tiers[e.tier]; tier != "" {
		dst = append(dst, `,"service_tier":"`+tier+`"`...)
	}
	repeated := f.settings
	if repeated == nil {
		repeated = settings.Default
	}
	return append(append(dst, repeated...), '}')
}

// appendEvent appends an event about the whole response.
func (f *frame) appendEvent(dst []byte, name string, sequence int64, e *ending) []byte {
	dst = strconv.AppendInt(appendHead(dst, name), sequence, 10)
	return append(f.append(append(dst, `,"response":`...), e), "}\n\n"...)
}

// Opening writes the events of a stream to which no provider has answered yet.
type Opening struct {
	frame    frame
	sequence int64 // the number of the next event
}

// NewOpening returns the opening of the answer to a request. body must have passed
// Inspect.
func NewOpening(body []byte, ids translate.IDs) *Opening {
	o := &Opening{frame: frame{id: ids.Message, model: ids.Model, created: ids.Created}}
	if len(body) > 0 {
		o.frame.settings = settings.Append(nil, body, true)
	}
	return o
}

// AppendKeepAlive appends response.created before the first call, and response.in_progress.
func (o *Opening) AppendKeepAlive(dst []byte) []byte {
	return o.append(o.begin(dst), "response.in_progress", &ending{status: inProgress})
}

// AppendFailure appends response.failed, and response.created before it if nothing was
// appended yet.
func (o *Opening) AppendFailure(dst []byte, f *fault.Fault) []byte {
	return o.append(o.begin(dst), "response.failed", &ending{status: failed, fault: f})
}

// AppendFailure appends all events of a stream that failed before its first event:
// clients expect a beginning before the failure. Nothing may follow them.
func AppendFailure(dst []byte, ids translate.IDs, f *fault.Fault) []byte {
	return NewOpening(nil, ids).AppendFailure(dst, f)
}

// Events returns the number of events that were appended.
func (o *Opening) Events() int64 { return o.sequence }

// begin appends response.created, once.
func (o *Opening) begin(dst []byte) []byte {
	if o.sequence > 0 {
		return dst
	}
	return o.append(dst, "response.created", &ending{status: inProgress})
}

func (o *Opening) append(dst []byte, name string, e *ending) []byte {
	o.sequence++
	return o.frame.appendEvent(dst, name, o.sequence-1, e)
}

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

// AppendUsage appends the usage object of an answer, with all counts and details, which
// clients require; unknown ones are 0.
func AppendUsage(dst []byte, u token.Usage) []byte {
	dst = jsonscan.AppendCount(dst, `{"input_tokens":`, u.Input())
	dst = jsonscan.AppendCount(dst, `,"input_tokens_details":{"cached_tokens":`, u.CacheRead)
	dst = jsonscan.AppendCount(dst, `,"cache_write_tokens":`, u.Written())
	dst = jsonscan.AppendCount(dst, `},"output_tokens":`, u.Output())
	dst = jsonscan.AppendCount(dst, `,"output_tokens_details":{"reasoning_tokens":`, u.Reasoning)
	dst = jsonscan.AppendCount(dst, `},"total_tokens":`, u.Total())
	return append(dst, '}')
}

// AppendTokenCount appends the answer to a request that only counts its input.
func AppendTokenCount(dst []byte, tokens int64) []byte {
	return append(jsonscan.AppendCount(dst, `{"object":"response.input_tokens","input_tokens":`, tokens), '}')
}
