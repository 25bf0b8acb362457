package pairs_test

import (
	"encoding/base64"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// responding is a responses request of these items with more at the top.
func responding(items string, members ...string) sample {
	return sample{body: strings.Join(append([]string{`{"model":"m1","input":[` + items + `]`}, members...), ",") + `}`}
}

// posing is one with more at the top alone.
func posing(members ...string) sample { return responding(itemSaid("user", "hi"), members...) }

// itemSaid is a message item.
func itemSaid(role, text string) string {
	return `{"type":"message","role":"` + role + `","content":"` + text + `"}`
}

// listing is one with an item behind a message.
func listing(items string) sample { return responding(itemSaid("user", "hi") + "," + items) }

// going is listing with a message of a user behind the items.
func going(items string) sample { return listing(items + "," + itemSaid("user", "go on")) }

// showing is one with a content part of the user's.
func showing(part string) sample {
	return responding(`{"type":"message","role":"user","content":[` + part + `]}`)
}

// arming is one with a tool of these members.
func arming(members string, more ...string) sample {
	return posing(append([]string{`"tools":[{` + members + `}]`}, more...)...)
}

// picking is one with a choice among its tools.
func picking(choice string) sample {
	return arming(`"type":"function","name":"f"`, `"tool_choice":`+choice)
}

// sealedBlock is what a client got as the encrypted content of a block.
func sealedBlock(block string) string {
	return string(sealer.Append(nil, seal.Block, []byte(base64.RawURLEncoding.EncodeToString([]byte(block)))))
}

// pondering is one with reasoning that led to a text.
func pondering(members string) sample {
	return going(`{"type":"reasoning"` + members + `},` + itemSaid("assistant", "a"))
}

var (
	signedSeal     = sealedBlock(`{"type":"thinking","thinking":"t","signature":"s"}`)
	redactedSeal   = sealedBlock(`{"type":"redacted_thinking","data":"ZA=="}`)
	selfSignedSeal = sealedBlock(`{"type":"thinking","thinking":"t","signature":"` + string(seal.AppendSelfSigned(nil, []byte("t"))) + `"}`)
)

const (
	callItemF    = `{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}`
	freeCallItem = `{"type":"custom_tool_call","call_id":"c1","name":"f","input":"x"}`
	searchCall   = `{"type":"tool_search_call","call_id":"c1","execution":"client","arguments":{}}`
	outputItem   = `{"type":"function_call_output","call_id":"c1","output":"r"}`
	customTool   = `"type":"custom","name":"f"`
	grammarTool  = customTool + `,"format":{"type":"grammar","syntax":"lark","definition":"d"}`
	summaryOfT   = `,"summary":[{"type":"summary_text","text":"t"}]`
)

// effortOf is one that asks for an effort, with room for it.
func effortOf(word string) sample {
	return posing(`"max_output_tokens":99999`, `"reasoning":{"effort":"`+word+`"}`)
}

// reasoningWith is one with an effort and another member.
func reasoningWith(member string) sample {
	return posing(`"reasoning":{"effort":"low"}`, member).withTraits("thinking_style adaptive; reasoning_effort on")
}

// hosted is one with a tool that the vendor runs.
func hosted(kind string) sample { return arming(`"type":"` + kind + `"`) }

// ran is one with the call of a tool that the vendor ran.
func ran(kind string) sample { return going(`{"type":"` + kind + `","id":"x"}`) }

var responsesSamples = samples{
	"model":                        posing().quiet(),
	"input":                        posing().quiet(),
	"instructions":                 posing(`"instructions":"s"`),
	"max_output_tokens":            posing(`"max_output_tokens":20`),
	"max_output_tokens=...":        posing(`"max_output_tokens":20`),
	"max_output_tokens=1":          posing(`"max_output_tokens":1`),
	"max_output_tokens=null":       posing().quiet(),
	"temperature":                  posing(`"temperature":0.5`),
	"temperature=2":                posing(`"temperature":1.5`),
	"reasoning.effort+temperature": reasoningWith(`"temperature":0.5`),
	"top_p":                        posing(`"top_p":0.5`),
	"temperature+top_p":            posing(`"temperature":0.5`, `"top_p":0.5`),
	"reasoning.effort+top_p":       reasoningWith(`"top_p":0.5`),
	"include[*]=message.output_text.logprobs": posing(`"include":["message.output_text.logprobs"]`),
	"include[*]=reasoning.encrypted_content":  posing(`"include":["reasoning.encrypted_content"]`).quiet(),
	"include[*]=*":                            posing(`"include":["web_search_call.results"]`),
	"top_logprobs":                            posing(`"include":["message.output_text.logprobs"]`, `"top_logprobs":2`),
	"include=[]+top_logprobs":                 posing(`"top_logprobs":2`),
	"stream":                                  posing(`"stream":true`),
	"stream_options.include_obfuscation":      posing(`"stream_options":{"include_obfuscation":true}`),
	"stream_options.*":                        posing(`"stream_options":{"unheard_of":1}`),
	"reasoning.effort=none":                   effortOf("none"),
	"reasoning.effort=minimal":                effortOf("minimal"),
	"reasoning.effort=low":                    effortOf("low"),
	"reasoning.effort=medium":                 effortOf("medium"),
	"reasoning.effort=high":                   effortOf("high"),
	"reasoning.effort=xhigh":                  effortOf("xhigh"),
	"reasoning.effort=max":                    effortOf("max"),
	"reasoning.effort=*":                      effortOf("novel"),
	"reasoning.summary":                       posing(`"reasoning":{"summary":"auto","effort":"high"}`, `"max_output_tokens":64000`),
	"reasoning.generate_summary":              posing(`"reasoning":{"generate_summary":"auto","effort":"high"}`, `"max_output_tokens":64000`),
	"reasoning.context":                       posing(`"reasoning":{"context":"all_turns"}`),
	"reasoning.mode":                          posing(`"reasoning":{"mode":"pro"}`),
	"reasoning.*":                             posing(`"reasoning":{"unheard_of":1}`),
	"user":                                    posing(`"user":"u"`),
	"user=...":                                posing(`"user":"` + strings.Repeat("u", 257) + `"`),
	"user=u@example.com":                      posing(`"user":"u@example.com"`),
	"safety_identifier":                       posing(`"safety_identifier":"u"`),
	"safety_identifier=...":                   posing(`"safety_identifier":"` + strings.Repeat("u", 257) + `"`),
	"safety_identifier=u@example.com":         posing(`"safety_identifier":"u@example.com"`),
	"user+safety_identifier":                  posing(`"user":"u"`, `"safety_identifier":"v"`),
	"service_tier=auto":                       posing(`"service_tier":"auto"`),
	"service_tier=default":                    posing(`"service_tier":"default"`),
	"service_tier=flex":                       posing(`"service_tier":"flex"`),
	"service_tier=priority":                   posing(`"service_tier":"priority"`),
	"service_tier=*":                          posing(`"service_tier":"gold"`),
	"metadata":                                posing(`"metadata":{"a":"b"}`),
	"prompt_cache_key":                        posing(`"prompt_cache_key":"k"`),
	"prompt_cache_options":                    posing(`"prompt_cache_options":{}`),
	"prompt_cache_retention":                  posing(`"prompt_cache_retention":"24h"`),
	"store":                                   posing(`"store":true`),
	"generate":                                posing(`"generate":true`),
	"truncation":                              posing(`"truncation":"auto"`),
	"max_tool_calls":                          posing(`"max_tool_calls":3`),
	"context_management":                      posing(`"context_management":[{"type":"compaction"}]`),
	"client_metadata":                         posing(`"client_metadata":{"a":"b"}`),
	"moderation":                              posing(`"moderation":{"model":"m","policy":{"input":{"mode":"score"}}}`),
	"moderation.policy.output.mode=block":     posing(`"moderation":{"model":"m","policy":{"output":{"mode":"block"}}}`),
	"service_tier=fast":                       posing(`"service_tier":"fast"`),
	"service_tier=scale":                      posing(`"service_tier":"scale"`),
	"service_tier=ultrafast":                  posing(`"service_tier":"ultrafast"`),
	"access_programs":                         posing(`"access_programs":["a"]`),
	"*":                                       posing(`"unheard_of":1`),

	"previous_response_id":         posing(`"previous_response_id":"resp_1"`),
	"conversation":                 posing(`"conversation":"conv_1"`),
	"prompt":                       posing(`"prompt":{"id":"p"}`),
	"background":                   posing(`"background":true`),
	"input[*].type=item_reference": listing(`{"type":"item_reference","id":"x"}`),

	"text.format.type=text":        posing(`"text":{"format":{"type":"text"}}`).quiet(),
	"text.format.type=json_object": posing(`"text":{"format":{"type":"json_object"}}`),
	"text.format.type=json_schema": posing(`"text":{"format":{"type":"json_schema","name":"n","schema":{}}}`),
	"text.format.type=*":           posing(`"text":{"format":{"type":"novelty"}}`),
	"text.format.schema":           posing(`"text":{"format":{"type":"json_schema","name":"n","schema":{}}}`),
	"text.format.name":             posing(`"text":{"format":{"type":"json_schema","name":"n","schema":{}}}`).withTraits("extensions guided_json"),
	"text.format.description":      posing(`"text":{"format":{"type":"json_schema","name":"n","schema":{},"description":"d"}}`).withTraits("extensions guided_json"),
	"text.format.strict":           posing(`"text":{"format":{"type":"json_schema","name":"n","schema":{},"strict":true}}`).withTraits("extensions guided_json"),
	"text.format.type=text+schema": posing(`"text":{"format":{"type":"text","schema":{}}}`),
	"text.format.*":                posing(`"text":{"format":{"type":"text","unheard_of":1}}`),
	"text.verbosity":               posing(`"text":{"verbosity":"low"}`),
	"text.*":                       posing(`"text":{"unheard_of":1}`),

	"tools=[]+tool_choice=required":      posing(`"tool_choice":"required"`),
	"tool_choice=*":                      picking(`"novelty"`),
	"tool_choice.type=*":                 picking(`{"type":"web_search"}`),
	"tool_choice.type=image_generation":  posing(`"tool_choice":{"type":"image_generation"}`),
	"tool_choice.mode=*":                 picking(`{"type":"allowed_tools","mode":"novelty","tools":[{"type":"function","name":"f"}]}`),
	"tool_choice.tools[*].type=*":        picking(`{"type":"allowed_tools","mode":"auto","tools":[{"type":"mcp"}]}`),
	"tool_choice=auto":                   picking(`"auto"`),
	"tool_choice=required":               picking(`"required"`),
	"tool_choice=none":                   picking(`"none"`),
	"tool_choice.type=function":          picking(`{"type":"function","name":"f"}`),
	"tool_choice.type=custom":            arming(customTool, `"tool_choice":{"type":"custom","name":"f"}`),
	"tool_choice.name":                   picking(`{"type":"function","name":"f"}`),
	"tool_choice.namespace":              arming(`"type":"namespace","name":"n","tools":[{"type":"function","name":"f"}]`, `"tool_choice":{"type":"function","name":"f","namespace":"n"}`),
	"tool_choice.type=allowed_tools":     picking(`{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"}]}`),
	"tool_choice.mode=auto":              picking(`{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"}]}`),
	"tool_choice.mode=required":          picking(`{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"f"}]}`),
	"tool_choice.tools":                  picking(`{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"}]}`),
	"tool_choice.tools[*].type=function": picking(`{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"}]}`),
	"tool_choice.tools[*].type=custom":   arming(customTool, `"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"custom","name":"f"}]}`),
	"tool_choice.tools[*].name":          picking(`{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"}]}`),
	"tool_choice.tools[*].name=*":        picking(`{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"g"}]}`),
	"tool_choice.tools[*].*":             picking(`{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f","unheard_of":1}]}`),
	"tool_choice.*":                      picking(`{"type":"function","name":"f","unheard_of":1}`),
	"parallel_tool_calls":                arming(`"type":"function","name":"f"`, `"parallel_tool_calls":true`),
	"parallel_tool_calls=false":          arming(`"type":"function","name":"f"`, `"parallel_tool_calls":false`),

	"tools":                                      arming(`"type":"function","name":"f"`),
	"tool_choice=none+tools":                     picking(`"none"`),
	"input[*].type=additional_tools":             listing(`{"type":"additional_tools","tools":[{"type":"function","name":"f"}]}`),
	"input[*].tools":                             listing(`{"type":"additional_tools","tools":[{"type":"function","name":"f"}]}`),
	"tools[*].type=function":                     arming(`"type":"function","name":"f"`),
	"tools[*].type=custom":                       arming(customTool),
	"tools[*].type=namespace":                    arming(`"type":"namespace","name":"n","tools":[{"type":"function","name":"f"}]`),
	"tools[*].type=tool_search":                  arming(`"type":"tool_search","execution":"client"`),
	"tools[*].type=tool_search+execution=server": arming(`"type":"tool_search","execution":"server"`),
	"tools[*].type=web_search":                   hosted("web_search"),
	"tools[*].type=file_search":                  hosted("file_search"),
	"tools[*].type=code_interpreter":             hosted("code_interpreter"),
	"tools[*].type=image_generation":             hosted("image_generation"),
	"model=image+tools[*].type=image_generation": hosted("image_generation").forModel("gemini-3-pro-image-preview"),
	"tools[*].type=mcp":                          hosted("mcp"),
	"tools[*].type=local_shell":                  hosted("local_shell"),
	"tools[*].type=*":                            hosted("novelty"),
	"tools[*].name":                              arming(`"type":"function","name":"f"`),
	"tools[*].description":                       arming(`"type":"function","name":"f","description":"d"`),
	"tools[*].parameters":                        arming(`"type":"function","name":"f","parameters":{"type":"object"}`),
	"tools[*].strict":                            arming(`"type":"function","name":"f","strict":true`),
	"tools[*].tools":                             arming(`"type":"namespace","name":"n","tools":[{"type":"function","name":"f"}]`),
	"tools[*].execution":                         arming(`"type":"tool_search","execution":"client"`),
	"tools[*].format.type=text":                  arming(customTool + `,"format":{"type":"text"}`),
	"tools[*].format.type=grammar":               arming(grammarTool),
	"tools[*].format.type=*":                     arming(customTool + `,"format":{"type":"novelty"}`),
	"tools[*].format.syntax":                     arming(grammarTool),
	"tools[*].format.definition":                 arming(grammarTool),
	"tools[*].format.*":                          arming(customTool + `,"format":{"type":"text","unheard_of":1}`),
	"tools[*].allowed_callers=direct":            arming(`"type":"function","name":"f","allowed_callers":["direct"]`),
	"tools[*].allowed_callers=*":                 arming(`"type":"function","name":"f","allowed_callers":["programmatic"]`),
	"tools[*].defer_loading":                     arming(`"type":"function","name":"f","defer_loading":true`),
	"tools[*].output_schema":                     arming(`"type":"function","name":"f","output_schema":{"type":"object"}`),
	"tools[*].async":                             arming(`"type":"function","name":"f","async":true`),
	"tools[*].*":                                 arming(`"type":"function","name":"f","unheard_of":1`),

	"input[*].type=configuration_update":              listing(`{"type":"configuration_update","reasoning":{"effort":"low"}}`).quiet(),
	"input[*].reasoning":                              listing(`{"type":"configuration_update","reasoning":{"summary":"auto"}}`),
	"input[*].text":                                   listing(`{"type":"configuration_update","text":{"format":{"type":"json_object"}}}`),
	"input[*].type=web_search_call":                   ran("web_search_call"),
	"input[*].type=file_search_call":                  ran("file_search_call"),
	"input[*].type=code_interpreter_call":             ran("code_interpreter_call"),
	"input[*].type=image_generation_call":             ran("image_generation_call"),
	"input[*].type=mcp_call":                          ran("mcp_call"),
	"input[*].type=mcp_list_tools":                    ran("mcp_list_tools"),
	"input[*].type=tool_search_call+execution=server": going(`{"type":"tool_search_call","execution":"server"}`),
	"input[*].type=compaction":                        listing(`{"type":"compaction","encrypted_content":"x"}`),
	"input[*].type=compaction_trigger":                listing(`{"type":"compaction_trigger"}`),
	"input[*].type=local_shell_call":                  listing(`{"type":"local_shell_call","id":"x"}`),
	"input[*].type=*":                                 listing(`{"type":"novelty"}`),
	"input[*].id":                                     going(`{"type":"message","role":"assistant","content":"a","id":"msg_1"}`).quiet(),
	"input[*].status":                                 going(`{"type":"message","role":"assistant","content":"a","status":"completed"}`).quiet(),
	"input[*].phase":                                  going(`{"type":"message","role":"assistant","content":"a","phase":"commentary"}`),
	"input[*].caller":                                 going(`{"type":"function_call","call_id":"c1","name":"f","arguments":"{}","caller":{"type":"direct"}},` + outputItem),
	"input[*].*":                                      going(`{"type":"message","role":"assistant","content":"a","unheard_of":1}`),

	"input[*].type=message":                 listing(itemSaid("user", "more")),
	"input[*].type=[function_call,message]": going(callItemF + "," + itemSaid("assistant", "a") + "," + outputItem),
	"input[0].role=system":                  responding(itemSaid("system", "s") + "," + itemSaid("user", "hi")),
	"input[0].role=developer":               responding(itemSaid("developer", "s") + "," + itemSaid("user", "hi")),
	"input[0].content":                      responding(itemSaid("system", "s") + "," + itemSaid("user", "hi")),
	"input[*].role=system":                  going(itemSaid("system", "s")),
	"input[*].role=developer":               going(itemSaid("developer", "s")),
	"input[*].role=[assistant,system]":      going(itemSaid("assistant", "a") + "," + itemSaid("system", "s")).withTraits("mid_system keep"),
	"input[*].role=user":                    listing(itemSaid("user", "more")),
	"input[*].role=assistant":               going(itemSaid("assistant", "a")),
	"input[-1].role=assistant":              listing(itemSaid("assistant", "a")),
	`input[-1].role=assistant+content=" "`:  listing(itemSaid("assistant", "a ")),
	"input[*].content":                      listing(itemSaid("user", "more")),
	"input[*].content=[]":                   going(`{"type":"message","role":"assistant","content":[]}`),

	"input[*].type=function_call":    going(callItemF + "," + outputItem),
	"input[*].type=custom_tool_call": going(`{"type":"custom_tool_call","call_id":"c1","name":"f","input":"x"},{"type":"custom_tool_call_output","call_id":"c1","output":"r"}`),
	"input[*].type=tool_search_call": going(`{"type":"tool_search_call","call_id":"c1","execution":"client","arguments":{}},{"type":"tool_search_output","call_id":"c1","execution":"client","tools":[]}`),
	"input[*].execution":             going(`{"type":"tool_search_call","call_id":"c1","execution":"client","arguments":{}},{"type":"tool_search_output","call_id":"c1","execution":"client","tools":[]}`),
	"input[*].call_id":               going(callItemF + "," + outputItem),
	"input[*].name":                  going(callItemF + "," + outputItem),
	"input[*].namespace":             going(`{"type":"function_call","call_id":"c1","namespace":"n","name":"f","arguments":"{}"},` + outputItem),
	"input[*].arguments":             going(callItemF + "," + outputItem),
	"input[*].arguments=[]":          going(`{"type":"function_call","call_id":"c1","name":"f","arguments":"[]"},` + outputItem),
	"input[*].input":                 going(`{"type":"custom_tool_call","call_id":"c1","name":"f","input":"x"},{"type":"custom_tool_call_output","call_id":"c1","output":"r"}`),

	"input[*].type=function_call_output":           going(callItemF + "," + outputItem),
	"input[*].type=custom_tool_call_output":        going(freeCallItem + `,{"type":"custom_tool_call_output","call_id":"c1","output":"r"}`),
	"input[*].type=tool_search_output":             going(searchCall + `,{"type":"tool_search_output","call_id":"c1","execution":"client","tools":[]}`),
	"input[*].output":                              going(callItemF + "," + outputItem),
	"input[*].output[*].type=input_text":           going(callItemF + `,{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"r"}]}`),
	"input[*].output[*].type=input_image":          going(callItemF + `,{"type":"function_call_output","call_id":"c1","output":[{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}`),
	"input[*].output[*].type=input_file":           going(callItemF + `,{"type":"function_call_output","call_id":"c1","output":[{"type":"input_file","file_data":"data:text/plain;base64,AAAA"}]}`),
	"input[*].output[*].type=*":                    going(callItemF + `,{"type":"function_call_output","call_id":"c1","output":[{"type":"novelty"}]}`),
	"input[*].type=[message,function_call_output]": going(callItemF + "," + itemSaid("user", "b") + "," + outputItem),

	"input[*].type=reasoning":                       pondering(`,"summary":[],"encrypted_content":"` + signedSeal + `"`),
	"input[*].summary":                              pondering(summaryOfT),
	"input[*].summary[*].type=summary_text":         pondering(summaryOfT),
	"input[*].summary[*].text":                      pondering(summaryOfT),
	"input[*].content[*].type=reasoning_text":       pondering(`,"summary":[],"content":[{"type":"reasoning_text","text":"t"}]`),
	"input[*].encrypted_content=gwth1:*":            pondering(`,"summary":[],"encrypted_content":"` + signedSeal + `"`),
	"input[*].content+encrypted_content=gwth1:*":    pondering(`,"summary":[],"encrypted_content":"` + selfSignedSeal + `"`),
	"input[*].summary=[]+encrypted_content=gwth1:*": pondering(`,"summary":[],"encrypted_content":"` + redactedSeal + `"`),
	"input[*].encrypted_content=*":                  pondering(`,"summary":[],"encrypted_content":"gAAAA"`),
	"input[-1].type=reasoning":                      going(`{"type":"reasoning"` + summaryOfT + `}`),

	"input[*].content[*].type=input_text":                showing(`{"type":"input_text","text":"x"}`),
	"input[*].content[*].type=output_text":               going(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x"}]}`),
	"input[*].content[*].type=text":                      showing(`{"type":"text","text":"x"}`),
	"input[*].content[*].type=refusal":                   going(`{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"x"}]}`),
	"input[*].content[*].type=input_image":               showing(`{"type":"input_image","image_url":"data:image/png;base64,AAAA"}`),
	"input[*].content[*].type=input_file":                showing(`{"type":"input_file","file_data":"data:text/plain;base64,AAAA"}`),
	"input[*].content[*].type=*":                         showing(`{"type":"novelty"}`),
	"input[*].content[*].text":                           showing(`{"type":"input_text","text":"x"}`),
	"input[*].content[*].refusal":                        going(`{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"x"}]}`),
	"input[*].content[*].annotations":                    going(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x","annotations":[{"type":"a"}]}]}`),
	"input[*].content[*].logprobs":                       going(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x","logprobs":[{"token":"x"}]}]}`),
	"input[*].content[*].prompt_cache_breakpoint":        showing(`{"type":"input_text","text":"x","prompt_cache_breakpoint":{"mode":"explicit"}}`),
	"input[*].content[*].prompt_cache_breakpoint=...":    showing(strings.Repeat(markedInput+",", 4) + markedInput),
	"input[*].content[*].prompt_cache_breakpoint.ttl=1h": showing(`{"type":"input_text","text":"x","prompt_cache_breakpoint":{"mode":"explicit","ttl":"1h"}}`),
	"input[*].content[*].prompt_cache_breakpoint.ttl=*":  showing(`{"type":"input_text","text":"x","prompt_cache_breakpoint":{"mode":"explicit","ttl":"30m"}}`),
	"input[*].content[*].*":                              showing(`{"type":"input_text","text":"x","unheard_of":1}`),
	"input[*].content[*].image_url=https://*":            showing(`{"type":"input_image","image_url":"https://x/i.png"}`),
	"input[*].content[*].type=input_image+file_id":       showing(`{"type":"input_image","file_id":"f"}`),
	"input[*].content[*].detail":                         showing(`{"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"low"}`),
	"input[*].content[*].file_url":                       showing(`{"type":"input_file","file_url":"https://x/a.pdf"}`),
	"input[*].content[*].type=input_file+file_id":        showing(`{"type":"input_file","file_id":"f"}`),
	"input[*].content[*].filename":                       showing(`{"type":"input_file","file_data":"data:text/plain;base64,AAAA","filename":"f"}`),
}

const markedInput = `{"type":"input_text","text":"x","prompt_cache_breakpoint":{"mode":"explicit"}}`
