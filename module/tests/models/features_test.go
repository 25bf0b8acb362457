package models_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/models/service"
)

// feature is something that clients ask for.
type feature struct {
	// member matches the members of requests that ask for it, as reports name them.
	member *regexp.Regexp
	// arrived reports whether a service is asked for it, in the words of its format. The answer to a
	// request for something else, such as a lower bound, is no.
	arrived func(q *service.Request) bool
}

var features = []feature{
	{of(`temperature|generationConfig\.temperature`), has("temperature", "0.7")},
	{of(`top_p|generationConfig\.topP`), has("top_p", "0.9")},
	{of(`top_k|generationConfig\.topK`), hasTopK},
	{of(`presence_penalty|generationConfig\.presencePenalty`), some(has("presence_penalty", "0.5"), has("generationConfig.presencePenalty", "0.5"))},
	{of(`frequency_penalty|generationConfig\.frequencyPenalty`), some(has("frequency_penalty", "0.5"), has("generationConfig.frequencyPenalty", "0.5"))},
	{effort, thinksHard},
	{thinking, thinks},
	{of(`tools`), func(q *service.Request) bool { return strings.Contains(encoded(q.Body), `"look"`) }},
	{choice, forcesCall},
	{of(`parallel_tool_calls|tool_choice\.disable_parallel_tool_use`), callsOnce},
	{of(`output_config\.format|response_format|text\.format|generationConfig\.response(JsonSchema|MimeType)`), hasSchema},
	{stopping, hasStops},
	{of(`(messages|input|contents)(\[|\.).*`), func(q *service.Request) bool { return strings.Contains(encoded(q.Body), picture) }},
	{of(`max_tokens|max_completion_tokens|max_output_tokens|generationConfig\.maxOutputTokens`), some(has("bound", "1000000"), has("bound", ownBound))},
}

// The report of an effort covers the thinking beside it.
var (
	effort   = of(`reasoning_effort|reasoning\.effort|output_config\.effort|generationConfig\.thinkingConfig\.thinkingLevel`)
	thinking = of(`thinking(\.type|\.budget_tokens)?|generationConfig\.thinkingConfig\.thinkingBudget`)
)

// stopping matches the stops. What does not arrive of them is not lost where the gateway translates:
// it enforces them.
var stopping = of(`stop|stop_sequences|generationConfig\.stopSequences`)

// choice matches the choice among tools, which asks for something only if it forces a call.
var choice = of(`tool_choice|tool_choice\.type|toolConfig\.functionCallingConfig\.mode`)

func of(member string) *regexp.Regexp { return regexp.MustCompile("^(" + member + ")$") }

// details are members that say more about a feature than some formats can.
var details = of(`response_format\.json_schema\.(name|strict)|text\.format\.(name|strict)|tools(\[\*\]|\.\*)(\.function)?\.strict`)

// has returns a function that reports whether the value at a path is this one.
func has(path, value string) func(q *service.Request) bool {
	return func(q *service.Request) bool {
		return slices.ContainsFunc(q.Find(path), func(v any) bool { return strings.EqualFold(strings.Trim(encoded(v), `"`), value) })
	}
}

// some returns a function that reports whether one of functions does.
func some(functions ...func(q *service.Request) bool) func(q *service.Request) bool {
	return func(q *service.Request) bool {
		return slices.ContainsFunc(functions, func(f func(q *service.Request) bool) bool { return f(q) })
	}
}

// The features that formats have in several forms.
var (
	hasTopK    = some(has("top_k", "40"), has("additionalModelRequestFields.inferenceConfig.topK", "40"))
	thinksHard = some(
		asksHard, has("thinking.budget_tokens", "16384"), has("budget", "16384"), has("budget", "24576"), // the latter is that of Gemini
		has("additionalModelRequestFields.reasoning_effort", "high"), has("additionalModelRequestFields.reasoningConfig.maxReasoningEffort", "high"),
	)
	forcesCall = some(has("tool_choice", "required"), has("forced", "any"), has("forced", "{}"), has("toolConfig.functionCallingConfig.mode", "ANY"))
	callsOnce  = some(has("parallel_tool_calls", "false"), has("tool_choice.disable_parallel_tool_use", "true"))
)

// asksHard reports whether a high effort arrived. A Claude that is not asked to think has it for its
// text alone.
func asksHard(q *service.Request) bool {
	return has("effort", "high")(q) && (q.Format != service.Messages || some(has("thinking.type", "adaptive"), has("thinking.type", "enabled"))(q))
}

func thinks(q *service.Request) bool {
	for _, path := range []string{"effort", "thinking.type", "budget", "additionalModelRequestFields.reasoning_effort", "additionalModelRequestFields.reasoningConfig.type"} {
		for _, v := range q.Find(path) {
			if text := encoded(v); text != `"none"` && text != `"disabled"` && text != "0" {
				return true
			}
		}
	}
	return false
}

func hasSchema(q *service.Request) bool {
	for _, path := range []string{
		"output_config.format.schema", "response_format.json_schema.schema", "text.format.schema", "generationConfig.responseJsonSchema", "generationConfig.responseSchema",
		"outputConfig.textFormat.structure.jsonSchema.schema",
	} {
		for _, v := range q.Find(path) {
			if strings.Contains(encoded(v), "seen") {
				return true
			}
		}
	}
	return false
}

func hasStops(q *service.Request) bool { return len(q.Find("stops")) > 0 }

func encoded(v any) string {
	raw, _ := json.Marshal(v) // has been decoded
	return string(raw)
}

// misreported compares what a client has sent with what arrived: it returns what neither arrived nor
// is reported, and what is reported although it arrived.
func misreported(members map[string]any, forced bool, arrived *service.Request, reports string) (wrong []string) {
	reported := strings.FieldsFunc(reports, func(r rune) bool { return r == ',' || r == ' ' })
	sent := paths("", members)
	if slices.ContainsFunc(reported, effort.MatchString) {
		sent = slices.DeleteFunc(sent, thinking.MatchString)
	}
	if !forced {
		sent = slices.DeleteFunc(sent, choice.MatchString)
	}
	if strings.Contains(encoded(members), picture) {
		sent = append(sent, "messages[*].content[*]")
	}
	for _, f := range features {
		names := slices.DeleteFunc(slices.Clone(reported), func(name string) bool { return !f.member.MatchString(name) })
		reported = slices.DeleteFunc(reported, f.member.MatchString)
		i := slices.IndexFunc(sent, f.member.MatchString)
		switch {
		case i < 0 && len(names) > 0:
			wrong = append(wrong, "reports what was not sent: "+strings.Join(names, ","))
		case i < 0:
		case f.arrived(arrived) && len(names) > 0:
			wrong = append(wrong, "reports what arrived: "+strings.Join(names, ","))
		case !f.arrived(arrived) && len(names) == 0 && f.member != stopping:
			wrong = append(wrong, "does not report "+sent[i])
		}
	}
	if reported = slices.DeleteFunc(reported, details.MatchString); len(reported) > 0 {
		wrong = append(wrong, "reports something else: "+strings.Join(reported, ","))
	}
	return wrong
}

// misreportedOwn is misreported for a service that gets the request of the client: each member arrives
// as it was sent, or is reported.
func misreportedOwn(members map[string]any, arrived *service.Request, reports string) (wrong []string) {
	reported := strings.FieldsFunc(reports, func(r rune) bool { return r == ',' || r == ' ' })
	found := make(map[string]bool)
	for _, path := range paths("", members) {
		value := at(members, path)
		if path == "reasoning_effort" && value == "none" && switchedOff(arrived) {
			continue
		}
		if _, is := value.(map[string]any); is || path == "model" || encoded(value) == encoded(at(arrived.Body, path)) {
			continue
		}
		i := slices.IndexFunc(reported, func(name string) bool { return strings.HasPrefix(path+".", name+".") })
		if i < 0 {
			wrong = append(wrong, "does not report "+path)
			continue
		}
		found[reported[i]] = true
	}
	for _, name := range reported {
		if !found[name] {
			wrong = append(wrong, "reports what arrived: "+name)
		}
	}
	return wrong
}

// at returns the value at a path of an object, nil for none.
func at(object map[string]any, path string) any {
	name, rest, nested := strings.Cut(path, ".")
	if !nested {
		return object[name]
	}
	inner, _ := object[name].(map[string]any)
	return at(inner, rest)
}

// paths returns the paths of the members of an object, and of objects in it.
func paths(before string, object map[string]any) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		all = append(all, before+name)
		if inner, is := object[name].(map[string]any); is {
			all = append(all, paths(before+name+".", inner)...)
		}
	}
	return all
}
