package answer

import (
	"bytes"
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// The paths of objects, for reports of dropped members. Members of a stream's events have
// the paths of a JSON answer.
const (
	inEvent      = "event."
	inAnswer     = ""
	inItem       = "output[*]."
	inPart       = lostPart + "."
	inSummary    = lostSummary + "."
	inAnnotation = lostAnnotations + "[*]."

	lostPart        = inItem + "content[*]"
	lostSummary     = inItem + "summary[*]"
	lostText        = "event.*.text" // of whole texts that contradict the deltas
	lostAnnotations = inPart + "annotations"
)

// The members of the data of an event. A member has the same meaning in all kinds of events.
var (
	events          = members.New("event.*.")
	eventText       = events.Of(members.String, "delta text refusal arguments input") // a fragment, or the whole
	eventOutput     = events.Maybe(members.Number, "output_index")
	eventContent    = events.Maybe(members.Number, "content_index")
	eventSummary    = events.Maybe(members.Number, "summary_index")
	eventItemID     = events.Maybe(members.String, "item_id")
	eventScores     = events.Maybe(members.Array, "logprobs")
	eventNumber     = events.Maybe(members.Number, "sequence_number")
	eventPadding    = events.Maybe(members.String, "obfuscation") // servers hide the lengths of texts with it
	eventType       = events.Maybe(members.String, "type")
	eventItem       = events.Maybe(members.Any, "item")
	eventPart       = events.Maybe(members.Any, "part")
	eventAnnotation = events.Maybe(members.Any, "annotation")
	eventError      = events.Maybe(members.Any, "error")
	_               = events.Skip("annotation_index code message param name call_id")
)

// The members of a response: a JSON answer, or a part of an event. Most of them repeat the
// request, or describe how the answer was made.
var (
	responses       = events.Inside(inAnswer, "response")
	responseID      = responses.Maybe(members.String, "id")
	responseModel   = responses.Maybe(members.String, "model")
	responseStatus  = responses.Maybe(members.Any, "status")
	responseTier    = responses.Maybe(members.String, "service_tier")
	responseCreated = responses.Maybe(members.Number, "created_at")
	responseUsage   = responses.Maybe(members.Object, "usage")
	responseOutput  = responses.Maybe(members.Array|members.Null, "output")
	responseReason  = responses.Inside("incomplete_details.", "incomplete_details").Maybe(members.String, "reason")
	responseError   = responses.Maybe(members.Any, "error")
	responseDetail  = responses.Maybe(members.Any, "detail") // an error if there is no output
	responseToolUse = responses.Maybe(members.Object, "tool_usage")
	_               = responses.Lost("moderation")
	_               = responses.Skip("object completed_at background conversation instructions max_output_tokens" +
		" max_tool_calls metadata parallel_tool_calls previous_response_id prompt prompt_cache_key" +
		" prompt_cache_options prompt_cache_retention reasoning safety_identifier store temperature text" +
		" tool_choice tools top_logprobs top_p truncation user access_programs frequency_penalty" +
		" presence_penalty billing output_text include context_management")
)

// The members of an item that a core event expresses, and those by which every item is
// identified.
var (
	items         = members.New(inItem)
	itemName      = items.Maybe(members.String, "name")
	itemArguments = items.Of(members.String|members.Object, "arguments") // some servers send an object
	itemInput     = items.Of(members.String, "input")
	itemSealed    = items.Of(members.String, "encrypted_content")
	itemContent   = items.Of(members.Array, "content")
	itemSummary   = items.Of(members.Array, "summary")
	itemID        = items.Maybe(members.String, "id")
	itemCallID    = items.Maybe(members.String, "call_id")
	itemStatus    = items.Maybe(members.String, "status")
	_             = items.Skip("type role")

	vendorItems  = items.At(inItem)                            // with what a search has, too
	vendorAction = vendorItems.Maybe(members.Object, "action") // of a search

	imageItems  = vendorItems.At(inItem)
	imageResult = imageItems.Maybe(members.String, "result")
	imageFormat = imageItems.Maybe(members.String, "output_format")
	_           = imageItems.Skip("revised_prompt background quality size")
)

// The members of a part of a message, or of reasoning.
var (
	parts           = members.New(inPart)
	partText        = parts.Of(members.String, "text")
	partRefusal     = parts.Of(members.String, "refusal")
	partType        = parts.Maybe(members.String, "type")
	partAnnotations = parts.Maybe(members.Any, "annotations")
	partScores      = parts.Maybe(members.Array, "logprobs")
	summaries       = parts.At(inSummary)
)

// The members of an annotation that is a web page.
var (
	annotations     = members.New(inAnnotation)
	annotationURL   = annotations.Maybe(members.String, "url")
	annotationTitle = annotations.Maybe(members.String, "title")
	annotationStart = annotations.Maybe(members.Number, "start_index")
	annotationEnd   = annotations.Maybe(members.Number, "end_index")
	_               = annotations.Skip("type")
)

var (
	errNoOutput = errors.New("no output")
	errNoType   = errors.New("an event without a type")
)

// reading is the event or the JSON answer that was read last. What it contains are slices
// of the data.
type reading struct{ members.Values }

// read reads a document by its table, as members.Values.ReadDocument does.
func (r *reading) read(data []byte, t *members.Table, losses members.Losses) error {
	c := jsonscan.New(data)
	return r.ReadDocument(&c, t, losses)
}

// index returns the index of an item or a part, -1 for none and for an invalid one.
func (r *reading) index(m members.Member) int64 {
	if n, ok := jsonscan.Integer(r.Raw(m)); ok && n >= 0 {
		return n
	}
	return -1
}

// name returns the name of an event without one: its type. Some servers write errors with
// neither.
func (r *reading) name() []byte {
	if r.Raw(eventType) == nil && r.isError() {
		return []byte("error")
	}
	return jsonscan.DecodedOf(r.Raw(eventType))
}

// isError reports whether the event is an error, whatever its name.
func (r *reading) isError() bool { return r.Set(eventError) }

// is reports whether the status of the response is the word.
func (r *reading) is(status string) bool {
	return string(jsonscan.Inner(r.Raw(responseStatus))) == status
}

// isFault reports whether the response is an error instead of an answer.
func (r *reading) isFault() bool {
	return r.Set(responseError) || r.is(failed) || r.Set(responseDetail) && !r.hasOutput()
}

func (r *reading) hasOutput() bool { return r.Raw(responseOutput) != nil }

// fault returns the error of a whole answer: that of a response that has failed, or an
// error without a response, which has the status that it has in the other formats.
func (r *reading) fault() *fault.Fault {
	if r.is(failed) {
		return Dialect.ReadEvent(r.Object())
	}
	return fault.ReadAnswer(r.Object())
}

// ended reports whether the response is complete, or incomplete for good. Some servers send
// no status; a status that is null, or not a string, is no status of a complete response.
func (r *reading) ended() bool {
	return r.Raw(responseStatus) == nil || r.is(completed) || r.is(incomplete)
}

// failure returns why a response that has ended is no whole answer, by the words for its state and
// for its end; nil if it is one.
func (r *reading) failure() *fault.Fault {
	if !r.ended() {
		return event.Failure(jsonscan.DecodedOf(r.Raw(responseStatus)), nil)
	}
	return event.Failure(jsonscan.DecodedOf(r.Raw(responseReason)), nil)
}

// reason returns why a response that has ended did. cut reports that it is incomplete, and called that
// it has a tool call, beside what it states itself.
func (r *reading) reason(cut, called bool) event.FinishReason {
	if cut || r.is(incomplete) {
		return reasonOf(jsonscan.DecodedOf(r.Raw(responseReason)))
	}
	c := r.Cursor(responseOutput)
	for c.OpenArray(); !called && c.Element(); {
		it := identify(c.Skip())
		called = kindOf(it.kind).isCall()
	}
	if called {
		return event.FinishTools
	}
	return event.FinishStop
}

// reasonOf returns the reason why an incomplete response ended, by the word for it.
func reasonOf(word []byte) event.FinishReason {
	if event.Reason(word) == event.FinishFiltered {
		return event.FinishFiltered
	}
	return event.FinishLength
}

// count adds the usage of the response to the report. Counts that are absent or malformed
// leave those of an earlier event unchanged.
func (r *reading) count(report *token.Report) {
	report.Terms.ReadTier(r.Raw(responseTier))
	if r.Raw(responseUsage) != nil {
		c := r.Cursor(responseUsage)
		report.Read(&c, openai.UsageRows)
	}
	if r.Raw(responseToolUse) != nil {
		r.countTools(report)
	}
	if !bytes.Contains(r.Raw(responseOutput), []byte(searchType)) { // nearly always
		return
	}
	searches := int64(0)
	c := r.Cursor(responseOutput)
	for c.OpenArray(); c.Element(); {
		if it := identify(c.Skip()); it.isSearch() {
			searches++
		}
	}
	report.Searches = max(report.Searches, searches)
}

// imageTool is the type of the tool that makes images.
const imageTool = "image_generation"

// mostModelName bounds the name of its model, in bytes.
const mostModelName = 128

// toolRows describes what the tools of the service have used.
var toolRows = token.NewRows(
	token.Row{Path: "web_search.num_requests", Is: token.Searches},
	token.Row{Path: "image_gen.input_tokens", Is: token.Prompt},
	token.Row{Path: "image_gen.input_tokens_details.cached_tokens", Is: token.CacheRead},
	token.Row{Path: "image_gen.input_tokens_details.image_tokens", Is: token.ImageInput},
	token.Row{Path: "image_gen.output_tokens", Is: token.Output},
	token.Row{Path: "image_gen.output_tokens_details.image_tokens", Is: token.ImageOutput},
)

// countTools adds what the tools of the service have used: searches, and the model that has made
// images. Without details, all of its output is of images. Its name is that in the tool of the
// request, which the response repeats, or else that of the tool, which has no price.
func (r *reading) countTools(report *token.Report) {
	var tools token.Report
	c := r.Cursor(responseToolUse)
	tools.Read(&c, toolRows)
	used := tools.Usage()
	report.Searches = max(report.Searches, used.Searches)
	if used.Searches = 0; used.Total() == 0 {
		return
	}
	if images := &used.Units.ImageTokens; images.Output == 0 {
		*images = token.Media(int64(images.Input), int64(images.CacheRead), used.Output())
	}
	report.Tool = &token.Run{Usage: used, Model: imageTool}
	response := r.Object()
	if inner := jsonscan.MemberOf(response, "response"); inner != nil { // of an event
		response = inner
	}
	list := jsonscan.Again(jsonscan.MemberOf(response, "tools"))
	for list.OpenArray(); list.Element(); {
		tool := list.Skip()
		if name := jsonscan.MemberOf(tool, "model"); len(name) > 0 && len(name) <= mostModelName && string(jsonscan.Inner(jsonscan.MemberOf(tool, "type"))) == imageTool {
			report.Tool.Model = jsonscan.TextOf(name)
		}
	}
}
