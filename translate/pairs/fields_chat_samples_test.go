package pairs_test

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// discussing is a chat request of these messages with more at the top.
func discussing(messages string, members ...string) sample {
	return sample{body: strings.Join(append([]string{`{"model":"m1","messages":[` + messages + `]`}, members...), ",") + `}`}
}

// wanting is one with more at the top alone.
func wanting(members ...string) sample { return discussing(hi, members...) }

// pieced is one with a content part of the user's.
func pieced(part string) sample { return discussing(`{"role":"user","content":[` + part + `]}`) }

// returning is one with the result of a call, behind the call: Gemini needs the name of the tool.
func returning(turns string) sample {
	s := discussing(hi + `,{"role":"assistant","content":null` + oneCall + `},` + turns)
	s.needed = "messages[*].tool_calls"
	return s
}

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

// selecting is a chat request with a choice among its tools.
func selecting(choice string) sample { return wanting(oneFunction, `"tool_choice":`+choice) }

// calling is one with a call that has these members.
func calling(members, function string) sample {
	return uttered("assistant", `,"tool_calls":[{"id":"c1"`+members+`,"function":{"name":"f"`+function+`}}]`)
}

// minding is one with a thinking block.
func minding(block string) sample { return uttered("assistant", `,"thinking_blocks":[`+block+`]`) }

// equipped is one with a tool that has these members, and its function those.
func equipped(members, function string) sample {
	return wanting(`"tools":[{"type":"function"` + members + `,"function":{"name":"f"` + function + `}}]`)
}

func pictured(members string) sample {
	return pieced(`{"type":"image_url","image_url":{` + members + `}}`)
}

func filed(members string) sample { return pieced(`{"type":"file","file":{` + members + `}}`) }

// permitting is one with a choice of some of its tools.
func permitting(members string) sample {
	return selecting(`{"type":"allowed_tools","allowed_tools":{` + members + `}}`)
}

// effort is one that asks for an effort, with room for it.
func effort(word string) sample {
	return wanting(`"max_tokens":99999`, `"reasoning_effort":"`+word+`"`)
}

// effortBeside is one with an effort and another member.
func effortBeside(member string) sample {
	return wanting(`"reasoning_effort":"low"`, member).withTraits("thinking_style adaptive; reasoning_effort on")
}

const (
	markedPart    = `{"type":"text","text":"x","cache_control":{}}`
	markedTool    = `{"type":"function","function":{"name":"f"},"cache_control":{}}`
	someArguments = `,"arguments":"{\"a\":1}"`
	somePDF       = `"file_data":"data:application/pdf;base64,AAAA"`
	someAddress   = `"url":"https://x/i.png"`
	somePicture   = `"url":"data:image/png;base64,AAAA"`
)

var samplesOfChat = samples{
	"model":                               wanting().quiet(),
	"max_tokens":                          wanting(`"max_tokens":5`),
	"max_tokens=...":                      wanting(`"max_tokens":5`),
	"max_completion_tokens=...":           wanting(`"max_completion_tokens":5`),
	"max_completion_tokens":               wanting(`"max_completion_tokens":5`),
	"stop":                                wanting(`"stop":"x"`),
	"stream":                              wanting(`"stream":true`),
	"stream_options.include_usage":        wanting(`"stream":true`, `"stream_options":{"include_usage":true}`),
	"stream_options.include_obfuscation":  wanting(`"stream":true`, `"stream_options":{"include_obfuscation":true}`),
	"stream_options.*":                    wanting(`"stream":true`, `"stream_options":{"unheard_of":true}`),
	"temperature":                         wanting(`"temperature":0.5`),
	"top_p":                               wanting(`"temperature":0.5`, `"top_p":0.5`),
	"top_k":                               wanting(`"top_k":5`),
	"n":                                   wanting(`"n":2`),
	"presence_penalty":                    wanting(`"presence_penalty":1`),
	"frequency_penalty":                   wanting(`"frequency_penalty":1`),
	"logit_bias":                          wanting(`"logit_bias":{"1":1}`),
	"seed":                                wanting(`"seed":1`),
	"logprobs":                            wanting(`"logprobs":true`),
	"top_logprobs":                        wanting(`"logprobs":true`, `"top_logprobs":2`),
	"verbosity":                           wanting(`"verbosity":"low"`),
	"prediction":                          wanting(`"prediction":{"type":"content"}`),
	"functions":                           wanting(`"functions":[{"name":"f"}]`),
	"function_call":                       wanting(`"function_call":"auto"`),
	"audio":                               wanting(`"audio":{"voice":"v"}`),
	"web_search_options":                  wanting(`"web_search_options":{"a":1}`),
	"enable_search":                       wanting(`"enable_search":true`),
	"user":                                wanting(`"user":"u"`),
	"safety_identifier":                   wanting(`"safety_identifier":"u"`),
	"tools":                               wanting(oneFunction),
	"parallel_tool_calls":                 wanting(oneFunction, `"parallel_tool_calls":true`),
	"response_format.type=text":           wanting(`"response_format":{"type":"text"}`).quiet(),
	"response_format.type=json_schema":    wanting(`"response_format":{"type":"json_schema","json_schema":{"schema":{}}}`),
	"response_format.type=json_object":    wanting(`"response_format":{"type":"json_object"}`),
	"response_format.json_schema.schema":  wanting(`"response_format":{"type":"json_schema","json_schema":{"schema":{}}}`),
	"response_format.json_schema.name":    wanting(`"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{}}}`).withTraits("extensions guided_json"),
	"response_format.json_schema.*":       wanting(`"response_format":{"type":"json_schema","json_schema":{"schema":{},"unheard_of":1}}`).withTraits("extensions guided_json"),
	"response_format.*":                   wanting(`"response_format":{"type":"text","unheard_of":1}`),
	"metadata":                            wanting(`"metadata":{"a":"b"}`),
	"store":                               wanting(`"store":true`),
	"cache_control":                       wanting(`"cache_control":{"type":"ephemeral"}`),
	"prompt_cache_key":                    wanting(`"prompt_cache_key":"k"`),
	"prompt_cache_options":                wanting(`"prompt_cache_options":{}`),
	"prompt_cache_retention":              wanting(`"prompt_cache_retention":"24h"`),
	"moderation":                          wanting(`"moderation":{"model":"m","policy":{"input":{"mode":"score"}}}`),
	"moderation.policy.output.mode=block": wanting(`"moderation":{"model":"m","policy":{"output":{"mode":"block"}}}`),
	"service_tier=fast":                   wanting(`"service_tier":"fast"`),
	"service_tier=scale":                  wanting(`"service_tier":"scale"`),
	"service_tier=ultrafast":              wanting(`"service_tier":"ultrafast"`),
	"*":                                   wanting(`"unheard_of":1`),

	"messages[*].role=user":                                           uttered("user", ""),
	"messages[*].role=assistant":                                      uttered("assistant", ""),
	"messages[*].role=tool":                                           returning(`{"role":"tool","tool_call_id":"c1","content":"x"},` + hi),
	"messages[*].tool_calls[*].id":                                    uttered("assistant", oneCall),
	"messages[*].tool_calls[*].function.arguments":                    uttered("assistant", oneCall),
	"messages[*].content":                                             uttered("user", ""),
	"messages[*].tool_calls":                                          uttered("assistant", oneCall),
	"messages[*].tool_call_id":                                        returning(`{"role":"tool","tool_call_id":"c1","content":"x"},` + hi),
	"messages[*].function_call":                                       uttered("assistant", `,"function_call":{"name":"f","arguments":"{}"}`),
	"messages[*].audio":                                               uttered("assistant", `,"audio":{"id":"a"}`),
	"messages[*].refusal":                                             uttered("assistant", `,"refusal":"no"`),
	"messages[*].reasoning_content":                                   uttered("assistant", `,"reasoning_content":"r"`),
	"messages[*].reasoning":                                           uttered("assistant", `,"reasoning":"r"`),
	"messages[*].thinking_blocks":                                     uttered("assistant", `,"thinking_blocks":[{"type":"thinking","thinking":"t","signature":"s"}]`),
	"messages[*].name":                                                uttered("user", `,"name":"n"`),
	"messages[*].*":                                                   uttered("user", `,"unheard_of":1`),
	"messages[*].content[*].type=text":                                pieced(`{"type":"text","text":"x"}`),
	"messages[*].content[*].type=refusal":                             uttered("assistant", `},{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]`),
	"messages[*].content[*].type=image_url":                           pieced(pngPart),
	"messages[*].content[*].type=file":                                pieced(pdfPart),
	"messages[*].content[*].text":                                     pieced(`{"type":"text","text":"x"}`),
	"messages[*].content[*].refusal":                                  uttered("assistant", `},{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]`),
	"messages[*].content[*].image_url":                                pieced(pngPart),
	"messages[*].content[*].file":                                     pieced(pdfPart),
	"messages[*].cache_control":                                       uttered("user", `,"cache_control":{"type":"ephemeral"}`),
	"messages[*].content[*].cache_control":                            pieced(`{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}`),
	"messages[*].content[*].prompt_cache_breakpoint":                  pieced(`{"type":"text","text":"x","prompt_cache_breakpoint":{"mode":"explicit"}}`),
	"messages[*].content[*].*":                                        pieced(`{"type":"text","text":"x","unheard_of":1}`),
	"messages":                                                        wanting().quiet(),
	"messages[0].content":                                             discussing(`{"role":"system","content":"s"},` + hi),
	"max_completion_tokens=null":                                      wanting().quiet(),
	"temperature=2":                                                   wanting(`"temperature":1.5`),
	"temperature+top_p":                                               wanting(`"temperature":0.5`, `"top_p":0.5`),
	"reasoning_effort+temperature":                                    effortBeside(`"temperature":0.5`),
	"reasoning_effort+logprobs":                                       effortBeside(`"logprobs":true`),
	"reasoning_effort+top_k":                                          effortBeside(`"top_k":5`),
	`stop=[""]`:                                                       wanting(`"stop":[""]`),
	"logprobs=false+top_logprobs":                                     wanting(`"top_logprobs":2`),
	`modalities=["text"]`:                                             wanting(`"modalities":["text"]`).quiet(),
	`modalities=["text","image"]`:                                     wanting(`"modalities":["text","image"]`),
	`modalities=["image"]`:                                            wanting(`"modalities":["image"]`),
	"modalities=*":                                                    wanting(`"modalities":["text","audio"]`),
	"reasoning_effort=none":                                           wanting(`"reasoning_effort":"none"`),
	"reasoning_effort=minimal":                                        effort("minimal"),
	"reasoning_effort=low":                                            effort("low"),
	"reasoning_effort=medium":                                         effort("medium"),
	"reasoning_effort=high":                                           effort("high"),
	"reasoning_effort=xhigh":                                          effort("xhigh"),
	"reasoning_effort=max":                                            effort("max"),
	"reasoning_effort=*":                                              effort("huge"),
	"user=...":                                                        wanting(`"user":"` + strings.Repeat("u", 257) + `"`),
	"user=u@example.com":                                              wanting(`"user":"u@example.com"`),
	"safety_identifier=...":                                           wanting(`"safety_identifier":"` + strings.Repeat("u", 257) + `"`),
	"safety_identifier=u@example.com":                                 wanting(`"safety_identifier":"u@example.com"`),
	"user+safety_identifier":                                          wanting(`"user":"u"`, `"safety_identifier":"v"`),
	"service_tier=auto":                                               wanting(`"service_tier":"auto"`),
	"service_tier=default":                                            wanting(`"service_tier":"default"`),
	"service_tier=*":                                                  wanting(`"service_tier":"flex"`),
	"response_format.type=*":                                          wanting(`"response_format":{"type":"grammar"}`),
	"response_format.json_schema.description":                         wanting(`"response_format":{"type":"json_schema","json_schema":{"description":"d","schema":{}}}`).withTraits("extensions guided_json"),
	"response_format.json_schema.strict":                              wanting(`"response_format":{"type":"json_schema","json_schema":{"strict":true,"schema":{}}}`).withTraits("extensions guided_json"),
	"tools[*].type=function":                                          equipped("", ""),
	"tools[*].type=custom":                                            wanting(`"tools":[{"type":"custom","custom":{"name":"g"}}]`),
	"tools[*].type=*":                                                 wanting(`"tools":[{"type":"novelty"}]`),
	"tools[*].function":                                               equipped("", ""),
	"tools[*].function.name":                                          equipped("", ""),
	"tools[*].function.description":                                   equipped("", `,"description":"d"`),
	"tools[*].function.parameters":                                    equipped("", `,"parameters":{}`),
	"tools[*].function.strict":                                        equipped("", `,"strict":true`),
	"tools[*].function.arguments":                                     equipped("", `,"arguments":"{}"`),
	"tools[*].function.*":                                             equipped("", `,"unheard_of":1`),
	"tools[*].cache_control":                                          equipped(`,"cache_control":{}`, ""),
	"tools[*].cache_control=...":                                      wanting(`"tools":[` + strings.Repeat(markedTool+",", 4) + markedTool + `]`),
	"tools[*].id":                                                     equipped(`,"id":"c1"`, ""),
	"tools[*].*":                                                      equipped(`,"unheard_of":1`, ""),
	"tools=[]+tool_choice=required":                                   wanting(`"tool_choice":"required"`),
	"tool_choice=none+tools":                                          selecting(`"none"`),
	"tool_choice=auto":                                                selecting(`"auto"`),
	"tool_choice=required":                                            selecting(`"required"`),
	"tool_choice=none":                                                selecting(`"none"`),
	"tool_choice=*":                                                   selecting(`"novelty"`),
	"tool_choice.type=function":                                       selecting(`{"type":"function","function":{"name":"f"}}`),
	"tool_choice.type=allowed_tools":                                  permitting(`"mode":"auto","tools":[{"type":"function","function":{"name":"f"}}]`),
	"tool_choice.type=*":                                              selecting(`{"type":"novelty"}`),
	"tool_choice.function.name":                                       selecting(`{"type":"function","function":{"name":"f"}}`),
	"tool_choice.function.*":                                          selecting(`{"type":"function","function":{"name":"f","unheard_of":1}}`),
	"tool_choice.allowed_tools.mode=auto":                             permitting(`"mode":"auto","tools":[{"type":"function","function":{"name":"f"}}]`),
	"tool_choice.allowed_tools.mode=required":                         permitting(`"mode":"required","tools":[{"type":"function","function":{"name":"f"}}]`),
	"tool_choice.allowed_tools.mode=*":                                permitting(`"mode":"none","tools":[]`),
	"tool_choice.allowed_tools.tools":                                 permitting(`"mode":"auto","tools":[{"type":"function","function":{"name":"f"}}]`),
	"tool_choice.allowed_tools.tools[*].type=function":                permitting(`"mode":"auto","tools":[{"type":"function","function":{"name":"f"}}]`),
	"tool_choice.allowed_tools.tools[*].type=*":                       permitting(`"mode":"auto","tools":[{"type":"novelty"}]`),
	"tool_choice.allowed_tools.tools[*].function.name":                permitting(`"mode":"auto","tools":[{"type":"function","function":{"name":"f"}}]`),
	"tool_choice.allowed_tools.tools[*].function.name=*":              permitting(`"mode":"auto","tools":[{"type":"function","function":{"name":"g"}}]`),
	"tool_choice.allowed_tools.tools[*].function.*":                   permitting(`"mode":"auto","tools":[{"type":"function","function":{"name":"f","unheard_of":1}}]`),
	"tool_choice.allowed_tools.tools[*].*":                            permitting(`"mode":"auto","tools":[{"type":"function","function":{"name":"f"},"unheard_of":1}]`),
	"tool_choice.allowed_tools.*":                                     permitting(`"mode":"auto","tools":[],"unheard_of":1`),
	"tool_choice.*":                                                   selecting(`{"type":"function","function":{"name":"f"},"unheard_of":1}`),
	"parallel_tool_calls=false":                                       wanting(oneFunction, `"parallel_tool_calls":false`),
	"messages[0].role=system":                                         discussing(`{"role":"system","content":"s"},` + hi),
	"messages[0].role=developer":                                      discussing(`{"role":"developer","content":"s"},` + hi),
	"messages[*].role=system":                                         uttered("system", ""),
	"messages[*].role=developer":                                      uttered("developer", ""),
	"messages[*].role=[assistant,system]":                             discussing(hi + `,{"role":"assistant","content":"a"},{"role":"system","content":"s"},` + hi).withTraits("mid_system keep"),
	"messages[*].role=*":                                              uttered("function", `,"name":"f"`),
	"messages[-1].role=assistant":                                     discussing(hi + `,{"role":"assistant","content":"x"}`),
	`messages[-1].role=assistant+content=" "`:                         discussing(hi + `,{"role":"assistant","content":"x "}`),
	"messages[*].role=user+content=[]":                                discussing(`{"role":"user","content":[]}`),
	"messages[*].content=[]":                                          discussing(hi + `,{"role":"assistant","content":""},` + hi),
	"messages[*].role=[user,tool]":                                    returning(`{"role":"tool","tool_call_id":"c1","content":"r"},` + hi + `,{"role":"tool","tool_call_id":"c1","content":"r"}`),
	"messages[*].thinking_blocks[*].type=thinking":                    minding(`{"type":"thinking","thinking":"t","signature":"s"}`),
	"messages[*].thinking_blocks[*].type=redacted_thinking":           minding(`{"type":"redacted_thinking","data":"AAAA"}`),
	"messages[*].thinking_blocks[*].type=*":                           minding(`{"type":"novelty"}`),
	"messages[*].thinking_blocks[*].thinking":                         minding(`{"type":"thinking","thinking":"t","signature":"s"}`),
	"messages[*].thinking_blocks[*].signature":                        minding(`{"type":"thinking","thinking":"t","signature":"s"}`),
	"messages[*].thinking_blocks[*].type=thinking+signature=null":     minding(`{"type":"thinking","thinking":"t"}`),
	"messages[*].thinking_blocks[*].signature=gwts1:*":                minding(`{"type":"thinking","thinking":"t","signature":"` + string(seal.AppendSelfSigned(nil, []byte("t"))) + `"}`),
	"messages[*].thinking_blocks[*].data":                             minding(`{"type":"redacted_thinking","data":"AAAA"}`),
	"messages[*].thinking_blocks[*].type=redacted_thinking+data=null": minding(`{"type":"redacted_thinking"}`),
	"messages[*].thinking_blocks[*].*":                                minding(`{"type":"thinking","thinking":"t","signature":"s","unheard_of":1}`),
	"messages[*].tool_calls[*].type=function":                         calling(`,"type":"function"`, someArguments),
	"messages[*].tool_calls[*].type=custom":                           uttered("assistant", `,"tool_calls":[{"id":"c1","type":"custom","custom":{"name":"f","input":""}}]`),
	"messages[*].tool_calls[*].type=*":                                uttered("assistant", `,"tool_calls":[{"id":"c1","type":"novelty"}]`),
	"messages[*].tool_calls[*].cache_control":                         calling(`,"cache_control":{}`, someArguments),
	"messages[*].tool_calls[*].extra_content":                         calling(`,"extra_content":{"google":{"thought_signature":"c2ln"}}`, someArguments),
	"messages[*].tool_calls[*].extra_content=*":                       calling(`,"extra_content":{"google":{"unheard_of":1}}`, someArguments),
	"messages[*].tool_calls[*].*":                                     calling(`,"unheard_of":1`, someArguments),
	"messages[*].tool_calls[*].function.name":                         calling("", someArguments),
	"messages[*].tool_calls[*].function.arguments=[]":                 calling("", `,"arguments":"[]"`),
	"messages[*].tool_calls[*].function.description":                  calling("", someArguments+`,"description":"d"`),
	"messages[*].tool_calls[*].function.parameters":                   calling("", someArguments+`,"parameters":{"type":"object"}`),
	"messages[*].tool_calls[*].function.strict":                       calling("", someArguments+`,"strict":true`),
	"messages[*].tool_calls[*].function.*":                            calling("", someArguments+`,"unheard_of":1`),
	"messages[*].content[*].type=*":                                   pieced(`{"type":"novelty"}`),
	"messages[*].content[*].cache_control=...":                        pieced(strings.Repeat(markedPart+",", 4) + markedPart),
	"messages[*].content[*].cache_control.ttl=1h":                     pieced(`{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"1h"}}`),
	"messages[*].content[*].cache_control.ttl=*":                      pieced(`{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"2h"}}`),
	"messages[*].content[*].prompt_cache_breakpoint.ttl=*":            pieced(`{"type":"text","text":"x","prompt_cache_breakpoint":{"mode":"explicit","ttl":"30m"}}`),
	"messages[*].content[*].cache_control+prompt_cache_breakpoint":    pieced(`{"type":"text","text":"x","cache_control":{},"prompt_cache_breakpoint":{}}`),
	"messages[*].content[*].image_url.url=https://*":                  pictured(someAddress),
	"messages[*].content[*].image_url.detail":                         pictured(somePicture + `,"detail":"low"`),
	"messages[*].content[*].image_url.*":                              pictured(somePicture + `,"unheard_of":1`),
	"messages[*].content[*].file.file_id":                             filed(`"file_id":"f"`),
	"messages[*].content[*].file.filename":                            filed(somePDF + `,"filename":"f"`),
	"messages[*].content[*].file.*":                                   filed(somePDF + `,"unheard_of":1`),
}
