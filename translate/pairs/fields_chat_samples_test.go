package pairs_test

import "strings"

// discussing is a chat request of these messages with more at the top.
func discussing(messages string, members ...string) sample {
	return sample{body: strings.Join(append([]string{`{"model":"m1","messages":[` + messages + `]`}, members...), ",") + `}`}
}

// wanting is one with more at the top alone.
func wanting(members ...string) sample { return discussing(hi, members...) }

// pieced is one with a content part of the user's.
func pieced(part string) sample { return discussing(`{"role":"user","content":[` + part + `]}`) }

// uttered is one with a turn of a role and more members.
func uttered(role, members string) sample {
	return discussing(hi + `,{"role":"` + role + `","content":"x"` + members + `},` + hi)
}

const (
	oneFunction = `"tools":[{"type":"function","function":{"name":"f"}}]`
	oneCall     = `,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]`
	pngPart     = `{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}`
	pdfPart     = `{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}}`
)

var samplesOfChat = samples{
	"model":                              wanting().quiet(),
	"max_tokens":                         wanting(`"max_tokens":5`),
	"max_tokens=...":                     wanting(`"max_tokens":5`),
	"max_completion_tokens=...":          wanting(`"max_completion_tokens":5`),
	"max_completion_tokens":              wanting(`"max_completion_tokens":5`),
	"stop":                               wanting(`"stop":"x"`),
	"stream":                             wanting(`"stream":true`),
	"stream_options.include_usage":       wanting(`"stream":true`, `"stream_options":{"include_usage":true}`),
	"stream_options.include_obfuscation": wanting(`"stream":true`, `"stream_options":{"include_obfuscation":true}`),
	"stream_options.*":                   wanting(`"stream":true`, `"stream_options":{"unheard_of":true}`),
	"temperature":                        wanting(`"temperature":0.5`),
	"top_p":                              wanting(`"temperature":0.5`, `"top_p":0.5`),
	"top_k":                              wanting(`"top_k":5`),
	"n":                                  wanting(`"n":2`),
	"presence_penalty":                   wanting(`"presence_penalty":1`),
	"frequency_penalty":                  wanting(`"frequency_penalty":1`),
	"logit_bias":                         wanting(`"logit_bias":{"1":1}`),
	"seed":                               wanting(`"seed":1`),
	"logprobs":                           wanting(`"logprobs":true`),
	"top_logprobs":                       wanting(`"logprobs":true`, `"top_logprobs":2`),
	"top_logprobs=without logprobs":      wanting(`"top_logprobs":2`),
	"verbosity":                          wanting(`"verbosity":"low"`),
	"prediction":                         wanting(`"prediction":{"type":"content"}`),
	"functions":                          wanting(`"functions":[{"name":"f"}]`),
	"function_call":                      wanting(`"function_call":"auto"`),
	"modalities=text":                    wanting(`"modalities":["text"]`).quiet(),
	"modalities=any other":               wanting(`"modalities":["text","audio"]`),
	"audio":                              wanting(`"audio":{"voice":"v"}`),
	"web_search_options":                 wanting(`"web_search_options":{"a":1}`),
	"reasoning_effort":                   wanting(`"reasoning_effort":"low"`),
	"user":                               wanting(`"user":"u"`),
	"safety_identifier":                  wanting(`"safety_identifier":"u"`),
	"safety_identifier=beside user":      wanting(`"user":"u"`, `"safety_identifier":"v"`),
	"service_tier":                       wanting(`"service_tier":"auto"`),
	"tools":                              wanting(oneFunction),
	"tools=with tool_choice none":        wanting(oneFunction, `"tool_choice":"none"`),
	"tool_choice=required or a function, without tools": wanting(`"tool_choice":"required"`),
	"tool_choice":                        wanting(oneFunction, `"tool_choice":"required"`),
	"parallel_tool_calls":                wanting(oneFunction, `"parallel_tool_calls":false`),
	"response_format.type=text":          wanting(`"response_format":{"type":"text"}`).quiet(),
	"response_format.type=json_schema":   wanting(`"response_format":{"type":"json_schema","json_schema":{"schema":{}}}`),
	"response_format.type=json_object":   wanting(`"response_format":{"type":"json_object"}`),
	"response_format.type=any other":     wanting(`"response_format":{"type":"grammar"}`),
	"response_format.json_schema.schema": wanting(`"response_format":{"type":"json_schema","json_schema":{"schema":{}}}`),
	"response_format.json_schema.name":   wanting(`"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{}}}`).under("extensions guided_json"),
	"response_format.json_schema.*":      wanting(`"response_format":{"type":"json_schema","json_schema":{"schema":{},"unheard_of":1}}`).under("extensions guided_json"),
	"response_format.*":                  wanting(`"response_format":{"type":"text","unheard_of":1}`),
	"metadata":                           wanting(`"metadata":{"a":"b"}`),
	"store":                              wanting(`"store":true`),
	"prompt_cache_key":                   wanting(`"prompt_cache_key":"k"`),
	"prompt_cache_options":               wanting(`"prompt_cache_options":{}`),
	"prompt_cache_retention":             wanting(`"prompt_cache_retention":"24h"`),
	"moderation":                         wanting(`"moderation":{}`),
	"*":                                  wanting(`"unheard_of":1`),

	"messages[*].role=system, developer, in front":    discussing(`{"role":"developer","content":"s"},` + hi),
	"messages[*].role=system, developer, later":       uttered("system", ""),
	"messages[*].role=user":                           uttered("user", ""),
	"messages[*].role=assistant":                      uttered("assistant", ""),
	"messages[*].role=assistant, at the end":          discussing(hi + `,{"role":"assistant","content":"x"}`),
	"messages[*].role=tool":                           discussing(`{"role":"tool","tool_call_id":"c1","content":"x"},` + hi),
	"messages[*].tool_calls[*].type=function, custom": uttered("assistant", oneCall),
	"messages[*].tool_calls[*].id":                    uttered("assistant", oneCall),
	"messages[*].tool_calls[*].function.arguments":    uttered("assistant", oneCall),
	"messages[*].role=function":                       uttered("function", `,"name":"f"`),
	"messages[*].content=nothing of the assistant's":  discussing(hi + `,{"role":"assistant","content":""},` + hi),
	"messages[*].content":                             uttered("user", ""),
	"messages[*].tool_calls":                          uttered("assistant", oneCall),
	"messages[*].tool_call_id":                        discussing(`{"role":"tool","tool_call_id":"c1","content":"x"},` + hi),
	"messages[*].function_call":                       uttered("assistant", `,"function_call":{"name":"f","arguments":"{}"}`),
	"messages[*].audio":                               uttered("assistant", `,"audio":{"id":"a"}`),
	"messages[*].refusal":                             uttered("assistant", `,"refusal":"no"`),
	"messages[*].reasoning_content":                   uttered("assistant", `,"reasoning_content":"r"`),
	"messages[*].reasoning":                           uttered("assistant", `,"reasoning":"r"`),
	"messages[*].thinking_blocks":                     uttered("assistant", `,"thinking_blocks":[{"type":"thinking","thinking":"t","signature":"s"}]`),
	"messages[*].name":                                uttered("user", `,"name":"n"`),
	"messages[*].*":                                   uttered("user", `,"unheard_of":1`),
	"messages[*].content[*].type=text":                pieced(`{"type":"text","text":"x"}`),
	"messages[*].content[*].type=refusal":             uttered("assistant", `},{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]`),
	"messages[*].content[*].type=image_url":           pieced(pngPart),
	"messages[*].content[*].type=file":                pieced(pdfPart),
	"messages[*].content[*].type=input_audio":         pieced(`{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}`),
	"messages[*].content[*].type=any other":           pieced(`{"type":"novelty"}`),
	"messages[*].content[*].text":                     pieced(`{"type":"text","text":"x"}`),
	"messages[*].content[*].refusal":                  uttered("assistant", `},{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]`),
	"messages[*].content[*].image_url":                pieced(pngPart),
	"messages[*].content[*].file":                     pieced(pdfPart),
	"messages[*].content[*].cache_control":            pieced(`{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}`),
	"messages[*].content[*].prompt_cache_breakpoint":  pieced(`{"type":"text","text":"x","prompt_cache_breakpoint":{"mode":"explicit"}}`),
	"messages[*].content[*].*":                        pieced(`{"type":"text","text":"x","unheard_of":1}`),
}
