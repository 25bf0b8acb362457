package models

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// column is a column of facts.
type column struct {
	name   string
	values string // the accepted values, for error messages
	valid  func(value string) bool
}

// columns are the columns of facts. The other columns of a table are keys and origins.
var columns = []column{
	{"context", "a number of tokens", atLeast(1)},
	{"longest", "a number of tokens", atLeast(1)},
	{"sampling", "all, one, without_effort, effort_none or none", words("all", "one", "without_effort", "effort_none", "none")},
	{"penalties", "yes or refused", words("yes", "refused")},
	{"thinking", "none, effort, adaptive, always, budget:<least>-<most>, adaptive+budget, or a switch: " + strings.Join(switches, ", "), isThinking},
	{"efforts", "refused, or a list of " + strings.Join(effortWords, ", "), areEfforts},
	{"prefill", "yes or no", words("yes", "no")},
	{"parallel", "yes, no or refused", words("yes", "no", "refused")},
	{"tool_choice", "any, auto or effort_none", words("any", "auto", "effort_none")},
	{"stops", "the number of stop texts", atLeast(0)},
	{"schema", "strict, alone, object or none", words("strict", "alone", "object", "none")},
	{"in", "none, or a list of image, pdf, audio, video", areMedia},
	{"out", "a list of image, audio, video, embedding", areMedia},
	{"call_ids", "short or nine", words("short", "nine")},
	{"system", "system, first, developer or none", words("system", "first", "developer", "none")},
	{"endpoint", "a list of chat, responses, completions, or one of " + strings.Join(endpoints, ", "), areEndpoints},
	{"deprecated", "a date: 2026-11-30", isDate},
	{"shutdown", "a date: 2026-11-30", isDate},
	{"successor", "a name of a model", func(string) bool { return true }},
}

// Columns are the names of all columns. The first two are required:
//
//	provider, models  the name of the preset, and the names of the models there, separated by
//	                  spaces; "*" at the end of one matches a version or a date
//	like              provider/model of the row that has the values of the empty cells
//	context, longest  tokens of prompt and answer together, and of the longest answer
//	sampling          which of temperature, top_p and top_k may be sent: all; one of temperature and
//	                  top_p; all without_effort, that is unless the model is asked to think; all with
//	                  effort_none, since it thinks unless it is asked not to; or none
//	penalties         whether tokens may be weighed: by presence_penalty, frequency_penalty, logit_bias
//	thinking          none; by an effort; adaptive; always, so that it cannot be switched off; with a
//	                  budget:1024-32768 of tokens; adaptive+budget; or unless the member of this name
//	                  switches it off: thinking.type, enable_thinking or disable_reasoning
//	efforts           the words for the effort, or refused
//	prefill           whether the model continues an answer that the request begins
//	parallel          whether the model can call several tools at once; refused: the field is refused
//	tool_choice       any; auto: a choice that forces a call is refused; effort_none: unless the model is
//	                  asked not to think
//	stops             the number of stop texts, 0 if they are refused
//	schema            strict: answers by a schema; alone: not together with tools; object: only JSON
//	                  objects; none
//	in, out           what the model takes and gives beside text; none: text only
//	call_ids          short: of at most 64 bytes; nine letters and digits
//	system            where system texts may be: system: everywhere; first; developer; none
//	endpoint          the endpoints that have the model; empty: all of the preset
//	deprecated, shutdown, successor    the announced end, and the model that takes its place
//	as_of, source, note    the date and the origin of the row
//
// A cell that is "-" is unknown, and not taken from the row in like.
var Columns = func() []string {
	return slices.Concat([]string{"provider", "models", "like"}, FactColumns(), origins)
}()

// FactColumns returns the names of the columns of facts, in their order.
func FactColumns() (names []string) {
	for _, c := range columns {
		names = append(names, c.name)
	}
	return names
}

// required is the number of the first columns, which a table of models has.
const required = 2

// origins are the columns that a row does not take from another.
var origins = []string{"as_of", "source", "note"}

var (
	effortWords = strings.Fields("none minimal low medium high xhigh max")
	thinking    = regexp.MustCompile(`^(none|effort|adaptive|always|adaptive\+budget|budget:[0-9]{0,9}-[0-9]{0,9})$`)
)

// switches are the members that switch thinking off.
var switches = []string{"thinking.type", "enable_thinking", "disable_reasoning"}

// IsSwitch reports whether a way to think is a member that switches it off.
func IsSwitch(thinking string) bool { return slices.Contains(switches, thinking) }

// isThinking reports whether a value is a way to think. One of the bounds of a budget may be missing.
func isThinking(value string) bool {
	_, bounds, _ := strings.Cut(value, ":")
	least, most, _ := strings.Cut(bounds, "-")
	return IsSwitch(value) || thinking.MatchString(value) && (least == "" || most == "" || atLeast(max(number(least), 1))(most))
}

// number returns the number in a text of digits.
func number(digits string) int64 {
	n, _ := strconv.ParseInt(digits, 10, 64)
	return n
}

// atLeast returns a function that reports whether a value is a number that is not less than another.
func atLeast(least int64) func(string) bool {
	return func(value string) bool {
		n, err := strconv.ParseInt(value, 10, 32)
		return err == nil && n >= least
	}
}

func words(known ...string) func(string) bool {
	return func(value string) bool { return slices.Contains(known, value) }
}

// list returns a function that reports whether a value consists of known words.
func list(known ...string) func(string) bool {
	return func(value string) bool {
		return !slices.ContainsFunc(strings.Fields(value), func(word string) bool { return !slices.Contains(known, word) })
	}
}

func areEfforts(value string) bool {
	return value == "refused" || list(append(effortWords, "default")...)(value)
}

func areMedia(value string) bool {
	return value == "none" || list("image", "pdf", "audio", "video", "embedding")(value)
}

// conversations are the endpoints that answer conversations and prompts with text.
var conversations = [...]string{"chat", "responses", "completions"}

// endpoints are those beside conversations. The gateway has none for models of the last two.
var endpoints = strings.Fields("embeddings rerank images speech transcription realtime videos")

func areEndpoints(value string) bool {
	return list(conversations[:]...)(value) || words(endpoints...)(value)
}

func isDate(value string) bool {
	_, err := time.Parse(time.DateOnly, value)
	return err == nil
}

// traits returns the traits that follow from the facts of a model, by name.
//
// A value that restricts nothing has no trait, so that the defaults of the preset stay in effect. That
// of sampling has one: the default for models of Claude that are in no row is none.
func traits(cell func(column string) string) map[string]string {
	all := make(map[string]string)
	set := func(name, value string) {
		if value != "" {
			all[name] = value
		}
	}
	set("max_output_tokens", cell("longest"))
	set("sampling", cell("sampling"))
	if cell("penalties") == "refused" {
		set("penalties", "false")
	}
	style, bounds, _ := strings.Cut(cell("thinking"), ":")
	set("thinking_style", styles[style])
	if IsSwitch(style) {
		set("thinking_switch", style)
	}
	if least, most, _ := strings.Cut(bounds, "-"); least != "" && most != "" {
		set("thinking_budget", bounds)
	}
	switch efforts := cell("efforts"); {
	case efforts == "refused" && style != "budget": // a budget follows from the effort of the client
		set("reasoning_effort", "false")
	case efforts != "refused":
		set("reasoning_effort", knownEfforts(efforts))
	}
	if cell("prefill") == "no" {
		set("prefill", "refuse")
	}
	if cell("parallel") == "refused" {
		set("parallel_tool_calls", "false")
	}
	set("tool_choice", cell("tool_choice"))
	set("max_stops", cell("stops"))
	set("json_schema", schemas[cell("schema")])
	switch media := cell("in"); {
	case media == "none":
		set("images", "drop")
		set("video", "false")
	case slices.Contains(strings.Fields(media), "video"):
		set("video", "true")
	}
	if cell("system") == "none" {
		set("system_role", "user")
	}
	set("tool_call_ids", cell("call_ids"))
	return all
}

// styles are the values of the trait thinking_style by the ways of thinking.
var styles = map[string]string{
	"none": "none", "adaptive": "adaptive", "adaptive+budget": "both", "always": "always", "budget": "budget",
}

// schemas are the values of the trait json_schema.
var schemas = map[string]string{"alone": "alone", "object": "object", "none": "instruct"}

// knownEfforts returns the words of a list that the trait has.
func knownEfforts(list string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(list), func(word string) bool { return !slices.Contains(effortWords, word) }), " ")
}

// check returns an error if a value of a column is not valid. Traits accept all valid values.
func (c *column) check(value string) error {
	if value == "" || value == "-" || c.valid(value) {
		return nil
	}
	return fmt.Errorf("must be %s, got '%s'", c.values, value)
}
