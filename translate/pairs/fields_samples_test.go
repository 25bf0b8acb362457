package pairs_test

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// sample is a request that has the field of a row.
type sample struct {
	body   string
	traits string // beside those of the rule at hand
	model  string // the provider's name of the model; "" for upstreamName
	silent bool   // kept by omission, since the field asks for the default
	needed string // a field that the request needs, and that may be refused in place of the row's
}

// samples are the samples of a table by the names of its rows.
type samples map[string]sample

// option is a messages request with more at the top.
func option(members ...string) sample { return sample{body: conversation(hi, members...)} }

// fromUser returns a sample with a block of the user.
func fromUser(block string) sample {
	return sample{body: conversation(`{"role":"user","content":[` + block + `]}`)}
}

// replied is one with blocks of the assistant's.
func replied(blocks string) sample {
	return sample{body: conversation(hi + `,{"role":"assistant","content":[` + blocks + `]},` + hi)}
}

// turned is one with a turn of a role and more members.
func turned(role, members string) sample {
	return sample{body: conversation(hi + `,{"role":"` + role + `","content":"x"` + members + `},` + hi)}
}

// tooled is one with a tool that has these members.
func tooled(members string) sample {
	return option(`"tools":[{"name":"f","input_schema":{"type":"object"}` + members + `}]`)
}

// returned is one with the result of a tool, behind its call: Gemini needs the name of the tool.
func returned(members string) sample { return returnedBeside("", members) }

// returnedBeside is returned with blocks in front of the result, each with a comma behind it.
func returnedBeside(blocks, members string) sample {
	return sample{body: conversation(hi + `,{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{}}]},` +
		`{"role":"user","content":[` + blocks + `{"type":"tool_result","tool_use_id":"c1"` + members + `}]}`)}
}

func (s sample) withTraits(traits string) sample {
	s.traits = traits
	return s
}

func (s sample) forModel(model string) sample {
	s.model = model
	return s
}

func (s sample) quiet() sample {
	s.silent = true
	return s
}

const (
	image    = `{"type":"image","source":`
	document = `{"type":"document","source":`
	png      = image + `{"type":"base64","media_type":"image/png","data":"AAAA"}`
	picture  = image + `{"type":"url","url":"https://x/i.png"}`
	memo     = document + `{"type":"text","media_type":"text/plain","data":"d"}`
	oneTool  = `"tools":[{"name":"f","input_schema":{"type":"object"}}]`
)

var messagesSamples = samples{
	"model":                                 option().quiet(),
	"max_tokens":                            option().quiet(),
	"max_tokens=...":                        option().quiet(),
	"messages":                              option().quiet(),
	"system":                                option(`"system":"s"`),
	"system.*.type=text":                    option(`"system":[{"type":"text","text":"s"}]`),
	"system.*.text":                         option(`"system":[{"type":"text","text":"s"}]`),
	"system.*.cache_control":                option(`"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}]`),
	"system.*.citations":                    option(`"system":[{"type":"text","text":"s","citations":[{}]}]`),
	"system.*.*":                            option(`"system":[{"type":"text","text":"s","unheard_of":1}]`),
	"temperature":                           option(`"temperature":0.5`),
	"top_p":                                 option(`"top_p":0.5`),
	"top_k":                                 option(`"top_k":5`),
	"stop_sequences":                        option(`"stop_sequences":["x"]`),
	`stop_sequences=[""]`:                   option(`"stop_sequences":[""]`),
	"stream":                                option(`"stream":true`),
	"temperature+top_p":                     option(`"temperature":0.5`, `"top_p":0.5`),
	"tool_choice.type=auto":                 option(oneTool, `"tool_choice":{"type":"auto"}`),
	"tool_choice.type=any":                  option(oneTool, `"tool_choice":{"type":"any"}`),
	"tool_choice.type=none":                 option(oneTool, `"tool_choice":{"type":"none"}`),
	"tool_choice.type=tool":                 option(oneTool, `"tool_choice":{"type":"tool","name":"f"}`),
	"tools=[]+tool_choice.type=any":         option(`"tool_choice":{"type":"any"}`),
	"tool_choice.type=*":                    option(oneTool, `"tool_choice":{"type":"all"}`),
	"tool_choice.name":                      option(oneTool, `"tool_choice":{"type":"tool","name":"f"}`),
	"tool_choice.disable_parallel_tool_use": option(oneTool, `"tool_choice":{"type":"auto","disable_parallel_tool_use":true}`),
	"tool_choice.*":                         option(oneTool, `"tool_choice":{"type":"auto","unheard_of":1}`),
	"thinking.type=enabled":                 option(`"thinking":{"type":"enabled","budget_tokens":1024}`),
	"thinking.type=adaptive":                option(`"thinking":{"type":"adaptive"}`),
	"thinking.type=disabled":                option(`"thinking":{"type":"disabled"}`),
	"thinking.type=between_tools":           option(`"thinking":{"type":"between_tools"}`),
	"thinking.type=*":                       option(`"thinking":{"type":"telepathic"}`),
	"thinking.budget_tokens":                option(`"thinking":{"type":"enabled","budget_tokens":1024}`),
	"thinking.type=adaptive+budget_tokens":  option(`"thinking":{"type":"adaptive","budget_tokens":1024}`),
	"thinking.display":                      option(`"thinking":{"type":"adaptive","display":"omitted"}`),
	"thinking.*":                            option(`"thinking":{"type":"adaptive","unheard_of":1}`),
	"output_config.effort=low":              option(`"output_config":{"effort":"low"}`),
	"output_config.effort=medium":           option(`"output_config":{"effort":"medium"}`),
	"output_config.effort=high":             option(`"output_config":{"effort":"high"}`),
	"output_config.effort=xhigh":            option(`"output_config":{"effort":"xhigh"}`),
	"output_config.effort=max":              option(`"output_config":{"effort":"max"}`),
	"output_config.effort=*":                option(`"output_config":{"effort":"huge"}`),
	"output_config.format.type=json_schema": option(`"output_config":{"format":{"type":"json_schema","schema":{}}}`),
	"output_config.format.type=*":           option(`"output_config":{"format":{"type":"grammar"}}`),
	"output_config.format.schema":           option(`"output_config":{"format":{"type":"json_schema","schema":{}}}`),
	"output_config.format.*":                option(`"output_config":{"format":{"type":"json_schema","schema":{},"unheard_of":1}}`).withTraits("extensions structured_outputs"),
	"output_config.task_budget":             option(`"output_config":{"task_budget":{"type":"tokens"}}`),
	"output_config.*":                       option(`"output_config":{"unheard_of":1}`),
	"output_format.type=json_schema":        option(`"output_format":{"type":"json_schema","schema":{}}`),
	"output_format.type=*":                  option(`"output_format":{"type":"grammar"}`),
	"output_format.schema":                  option(`"output_format":{"type":"json_schema","schema":{}}`),
	"output_format.*":                       option(`"output_format":{"type":"json_schema","schema":{},"unheard_of":1}`).withTraits("extensions structured_outputs"),
	"metadata.user_id":                      option(`"metadata":{"user_id":"u"}`),
	"metadata.user_id=...":                  option(`"metadata":{"user_id":"` + strings.Repeat("u", 65) + `"}`),
	"metadata.*":                            option(`"metadata":{"unheard_of":1}`),
	"service_tier=auto":                     option(`"service_tier":"auto"`),
	"service_tier=standard_only":            option(`"service_tier":"standard_only"`),
	"service_tier=*":                        option(`"service_tier":"gold"`),
	"cache_control":                         option(`"cache_control":{"type":"ephemeral"}`),
	"inference_geo":                         option(`"inference_geo":"eu"`),
	"container":                             option(`"container":"c"`),
	"mcp_servers":                           option(`"mcp_servers":[{}]`),
	"thread":                                option(`"thread":{"type":"create"}`),
	"context_management":                    option(`"context_management":{}`),
	"compaction":                            option(`"compaction":{}`),
	"diagnostics":                           option(`"diagnostics":{}`),
	"speed":                                 option(`"speed":"fast"`),
	"fallbacks":                             option(`"fallbacks":[]`),
	"fallback_credit_token":                 option(`"fallback_credit_token":"t"`),
	"billing_policy":                        option(`"billing_policy":{}`),
	"*":                                     option(`"unheard_of":1`),

	"messages.*.role=user":                                             turned("user", ""),
	"messages.*.role=assistant":                                        turned("assistant", ""),
	"messages.-1.role=assistant":                                       {body: conversation(hi + `,{"role":"assistant","content":"x"}`)},
	`messages.-1.role=assistant+content=" "`:                           {body: conversation(hi + `,{"role":"assistant","content":"x "}`)},
	"messages.*.role=system":                                           turned("system", ""),
	"messages.*.content":                                               turned("user", ""),
	"messages.*.content=[]":                                            {body: conversation(hi + `,{"role":"assistant","content":[]},` + hi)},
	"messages.*.content=[tool_use,text]":                               replied(`{"type":"tool_use","id":"c1","name":"f","input":{}},{"type":"text","text":"x"}`),
	"messages.*.content=[text,tool_result]":                            returnedBeside(`{"type":"text","text":"x"},`, ""),
	"messages.*.output_config.effort=low":                              {body: conversation(hi + `,{"role":"system","output_config":{"effort":"low"}}`)},
	"messages.*.output_config.effort=medium":                           {body: conversation(hi + `,{"role":"system","output_config":{"effort":"medium"}}`)},
	"messages.*.output_config.effort=high":                             {body: conversation(hi + `,{"role":"system","output_config":{"effort":"high"}}`)},
	"messages.*.output_config.effort=xhigh":                            {body: conversation(hi + `,{"role":"system","output_config":{"effort":"xhigh"}}`)},
	"messages.*.output_config.effort=max":                              {body: conversation(hi + `,{"role":"system","output_config":{"effort":"max"}}`)},
	"messages.*.output_config.effort=*":                                {body: conversation(hi + `,{"role":"system","output_config":{"effort":"huge"}}`)},
	"messages.0.output_config.effort":                                  {body: conversation(`{"role":"system","output_config":{"effort":"high"}},` + hi)},
	"messages.*.output_config.*":                                       turned("system", `,"output_config":{"unheard_of":1}`),
	"messages.*.role=user+output_config":                               turned("user", `,"output_config":{"effort":"high"}`),
	"messages.*.clear_at":                                              turned("system", `,"clear_at":"next_user_message"`).quiet(),
	"messages.*.clear_at=*":                                            turned("system", `,"clear_at":"soon"`),
	"messages.*.role=user+clear_at":                                    turned("user", `,"clear_at":"never"`),
	"messages.*.*":                                                     turned("user", `,"unheard_of":1`),
	"messages.*.content.*.type=text":                                   fromUser(`{"type":"text","text":"x"}`),
	"messages.*.content.*.type=image":                                  fromUser(png + `}`),
	"messages.*.content.*.type=document":                               fromUser(memo + `}`),
	"messages.*.content.*.type=search_result":                          fromUser(`{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"a"}]}`),
	"messages.*.content.*.type=tool_use":                               replied(`{"type":"tool_use","id":"c1","name":"f","input":{}}`),
	"messages.*.content.*.type=tool_result":                            returned(""),
	"messages.*.content.*.type=thinking":                               replied(`{"type":"thinking","thinking":"t","signature":"s"}`),
	"messages.*.content.*.type=redacted_thinking":                      replied(`{"type":"redacted_thinking","data":"AAAA"}`),
	"messages.*.content.*.type=server_tool_use":                        replied(`{"type":"server_tool_use","id":"s","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s","content":[]}`),
	"messages.*.content.*.type=container_upload":                       fromUser(`{"type":"container_upload","file_id":"f"}`),
	"messages.*.content.*.type=*":                                      fromUser(`{"type":"novelty"}`),
	"messages.*.content.*.text":                                        fromUser(`{"type":"text","text":"x"}`),
	"messages.*.content.*.type=image+source.type=base64":               fromUser(png + `}`),
	"messages.*.content.*.type=image+source.type=url":                  fromUser(picture + `}`),
	"messages.*.content.*.type=image+source.type=file":                 fromUser(image + `{"type":"file","file_id":"f"}}`),
	"messages.*.content.*.type=document+source.type=base64":            fromUser(document + `{"type":"base64","media_type":"application/pdf","data":"AAAA"}}`),
	"messages.*.content.*.type=document+source.type=text":              fromUser(memo + `}`),
	"messages.*.content.*.type=document+source.type=content":           fromUser(document + `{"type":"content","content":"x"}}`),
	"messages.*.content.*.type=document+source.type=url":               fromUser(document + `{"type":"url","url":"https://x/d.pdf"}}`),
	"messages.*.content.*.type=document+source.type=file":              fromUser(document + `{"type":"file","file_id":"f"}}`),
	"messages.*.content.*.type=image+source.type=*":                    fromUser(image + `{"type":"beam"}}`),
	"messages.*.content.*.type=document+source.type=*":                 fromUser(document + `{"type":"beam"}}`),
	"messages.-1.content.*.type=server_tool_use":                       replied(`{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`),
	"messages.*.content.*.source.media_type":                           fromUser(png + `}`),
	"messages.*.content.*.source.data":                                 fromUser(png + `}`),
	"messages.*.content.*.source.url":                                  fromUser(picture + `}`),
	"messages.*.content.*.source.content":                              fromUser(document + `{"type":"content","content":"x"}}`),
	"messages.*.content.*.source.file_id":                              fromUser(image + `{"type":"file","file_id":"f"}}`),
	"messages.*.content.*.source.*":                                    fromUser(image + `{"type":"base64","media_type":"image/png","data":"AAAA","unheard_of":1}}`),
	"messages.*.content.*.title":                                       fromUser(memo + `,"title":"t"}`),
	"messages.*.content.*.context":                                     fromUser(memo + `,"context":"c"}`),
	"messages.*.content.*.thinking":                                    replied(`{"type":"thinking","thinking":"t","signature":"s"}`),
	"messages.*.content.*.signature":                                   replied(`{"type":"thinking","thinking":"t","signature":"s"}`).withTraits("reasoning_replay reasoning"),
	"messages.*.content.*.data":                                        replied(`{"type":"redacted_thinking","data":"AAAA"}`),
	"messages.*.content.*.id":                                          replied(`{"type":"tool_use","id":"c1","name":"f","input":{}}`),
	"messages.*.content.*.name":                                        replied(`{"type":"tool_use","id":"c1","name":"f","input":{}}`),
	"messages.*.content.*.input":                                       replied(`{"type":"tool_use","id":"c1","name":"f","input":{"a":1}}`),
	"messages.*.content.*.tool_use_id":                                 returned(""),
	"messages.*.content.*.content":                                     returned(`,"content":"r"`),
	"messages.*.content.*.content.*.type=tool_reference":               returned(`,"content":[{"type":"tool_reference","tool_name":"f"}]`),
	"messages.*.content.*.content.*.tool_name":                         returned(`,"content":[{"type":"tool_reference","tool_name":"f"}]`),
	"messages.*.content.*.content.*.type=*":                            returned(`,"content":[{"type":"browser_state"}]`),
	"messages.*.content.*.content.*.cache_control":                     returned(`,"content":[{"type":"text","text":"x","cache_control":{}}]`),
	"messages.*.content.*.content.*.*":                                 returned(`,"content":[{"type":"text","text":"x","unheard_of":1}]`),
	"messages.*.content.*.is_error":                                    returned(`,"is_error":true`),
	"messages.*.content.*.type=text+citations":                         replied(`{"type":"text","text":"x","citations":[{}]}`),
	"messages.*.content.*.type=document+citations":                     fromUser(memo + `,"citations":{"enabled":true}}`),
	"messages.*.content.*.cache_control=...":                           fromUser(strings.Repeat(`{"type":"text","text":"x","cache_control":{"type":"ephemeral"}},`, 4) + `{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}`),
	"messages.*.content.*.signature=gwts1:*":                           replied(`{"type":"thinking","thinking":"t","signature":"` + string(seal.AppendSelfSigned(nil, []byte("t"))) + `"},` + textBlock("a")),
	"messages.*.content.*.cache_control":                               fromUser(`{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}`),
	"messages.*.role=assistant+content.*.cache_control":                replied(`{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}`),
	"messages.*.content.*.type=tool_use+cache_control":                 replied(`{"type":"tool_use","id":"c1","name":"f","input":{},"cache_control":{"type":"ephemeral"}}`),
	"messages.*.content.*.type=tool_result+cache_control":              returned(`,"cache_control":{"type":"ephemeral"}`),
	"messages.*.content.*.cache_control.*":                             fromUser(`{"type":"text","text":"x","cache_control":{"type":"ephemeral","unheard_of":1}}`).withTraits("cache_breakpoints on"),
	"messages.*.content.*.cache_control.ttl":                           fromUser(`{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"1h"}}`).withTraits("cache_breakpoints on"),
	"messages.*.content.*.caller":                                      replied(`{"type":"tool_use","id":"c1","name":"f","input":{},"caller":{"type":"direct"}}`),
	"messages.*.content.*.toolset_name":                                returned(`,"toolset_name":"t"`),
	"messages.*.content.*.transformations":                             fromUser(png + `,"transformations":[{}]}`),
	"messages.*.content.*.*":                                           fromUser(`{"type":"text","text":"x","unheard_of":1}`),
	"messages.*.content.*.content.*.type=text":                         returned(`,"content":[{"type":"text","text":"x"}]`),
	"messages.*.content.*.content.*.type=image":                        returned(`,"content":[` + png + `}]`),
	"messages.*.content.*.content.*.type=document":                     returned(`,"content":[` + memo + `}]`),
	"messages.*.content.*.content.*.type=search_result":                returned(`,"content":[{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"a"}]}]`),
	"messages.*.content.*.type=web_search_tool_result":                 replied(`{"type":"web_search_tool_result","tool_use_id":"s","content":[]}`),
	"messages.*.content.*.type=web_fetch_tool_result":                  replied(`{"type":"web_fetch_tool_result","tool_use_id":"s","content":[]}`),
	"messages.*.content.*.type=code_execution_tool_result":             replied(`{"type":"code_execution_tool_result","tool_use_id":"s","content":[]}`),
	"messages.*.content.*.type=bash_code_execution_tool_result":        replied(`{"type":"bash_code_execution_tool_result","tool_use_id":"s","content":[]}`),
	"messages.*.content.*.type=text_editor_code_execution_tool_result": replied(`{"type":"text_editor_code_execution_tool_result","tool_use_id":"s","content":[]}`),
	"messages.*.content.*.type=mcp_tool_use":                           replied(`{"type":"mcp_tool_use","id":"s","name":"f","server_name":"m","input":{}},{"type":"mcp_tool_result","tool_use_id":"s","content":[]}`),
	"messages.*.content.*.type=mcp_tool_result":                        replied(`{"type":"mcp_tool_result","tool_use_id":"s","content":"r"}`),
	"messages.*.content.*.type=mcp_tool_listing":                       replied(`{"type":"mcp_tool_listing","server_name":"m","tools":[]}`),
	"messages.*.content.*.type=advisor_tool_result":                    replied(`{"type":"advisor_tool_result","tool_use_id":"s","content":{}}`),
	"messages.*.content.*.type=fallback":                               replied(`{"type":"fallback","from":{"model":"a"},"to":{"model":"b"}}`),
	"messages.*.content.*.type=compaction":                             replied(`{"type":"compaction","content":"summary"}`),
	"messages.*.content.*.type=compaction+content=null":                replied(`{"type":"compaction","content":null}`),
	"messages.*.content.*.type=tool_search_tool_result":                replied(`{"type":"tool_search_tool_result","tool_use_id":"s","content":[]}`),

	"tools":                                option(oneTool),
	"tool_choice.type=none+tools":          option(oneTool, `"tool_choice":{"type":"none"}`),
	"tools.*.type=custom":                  tooled(`,"type":"custom"`),
	"tools.*.type=bash_20250124":           option(`"tools":[{"type":"bash_20250124","name":"x"}]`),
	"tools.*.type=text_editor_20250728":    option(`"tools":[{"type":"text_editor_20250728","name":"x"}]`),
	"tools.*.type=memory_20250818":         option(`"tools":[{"type":"memory_20250818","name":"x"}]`),
	"tools.*.type=web_search_20250305":     option(`"tools":[{"type":"web_search_20250305","name":"x"}]`),
	"tools.*.type=web_fetch_20250910":      option(`"tools":[{"type":"web_fetch_20250910","name":"x"}]`),
	"tools.*.type=code_execution_20250825": option(`"tools":[{"type":"code_execution_20250825","name":"x"}]`),
	"tools.*.type=mcp_toolset":             option(`"tools":[{"type":"mcp_toolset","name":"x"}]`),
	"tools.*.type=*":                       option(`"tools":[{"type":"novelty","name":"x"}]`),
	"tools.*.name":                         tooled(""),
	"tools.*.description":                  tooled(`,"description":"d"`),
	"tools.*.input_schema":                 tooled(""),
	"tools.*.strict":                       tooled(`,"strict":true`),
	"tools.*.allowed_callers=direct":       tooled(`,"allowed_callers":["direct"]`),
	"tools.*.allowed_callers=*":            tooled(`,"allowed_callers":["code_execution_20250825"]`),
	"tools.*.defer_loading":                tooled(`,"defer_loading":true`),
	"tools.*.input_examples":               tooled(`,"input_examples":[{}]`),
	"tools.*.eager_input_streaming":        tooled(`,"eager_input_streaming":true`),
	"tools.*.cache_control":                tooled(`,"cache_control":{}`),
	"tools.*.*":                            tooled(`,"unheard_of":1`),
}

// completing is a completions request with more members.
func completing(members ...string) sample {
	return sample{body: strings.Join(append([]string{`{"model":"m1","prompt":"hi"`}, members...), ",") + `}`}
}

// promptOf is one with another prompt.
func promptOf(prompt string) sample { return sample{body: `{"model":"m1","prompt":` + prompt + `}`} }

var completionsSamples = samples{
	"model":                              completing().quiet(),
	"prompt":                             promptOf(`"other"`),
	`prompt=["a","b"]`:                   promptOf(`["a","b"]`),
	"prompt=[0]":                         promptOf(`[1,2]`),
	`prompt=""`:                          promptOf(`""`),
	"suffix":                             completing(`"suffix":"x"`),
	"max_tokens":                         completing(`"max_tokens":20`),
	"max_tokens=...":                     completing(`"max_tokens":20`),
	"max_tokens=1":                       completing(`"max_tokens":1`),
	"n=0":                                completing(`"n":0`),
	"max_tokens=0":                       completing(`"max_tokens":0`),
	"max_tokens=null":                    completing().quiet(),
	"n":                                  completing(`"n":2`),
	"best_of":                            completing(`"best_of":2`),
	"stream":                             completing(`"stream":true`),
	"stream_options.include_usage":       completing(`"stream":true`, `"stream_options":{"include_usage":true}`),
	"stream_options.include_obfuscation": completing(`"stream":true`, `"stream_options":{"include_obfuscation":true}`),
	"stream_options.*":                   completing(`"stream":true`, `"stream_options":{"unheard_of":true}`),
	"stop":                               completing(`"stop":"x"`),
	`stop=[""]`:                          completing(`"stop":[""]`),
	"echo":                               completing(`"echo":true`),
	"user":                               completing(`"user":"u"`),
	"user=u@example.com":                 completing(`"user":"u@example.com"`),
	"*":                                  completing(`"unheard_of":1`),
	"temperature":                        completing(`"temperature":0.5`),
	"temperature=2":                      completing(`"temperature":1.5`),
	"top_p":                              completing(`"top_p":0.5`),
	"temperature+top_p":                  completing(`"temperature":0.5`, `"top_p":0.5`),
	"user=...":                           completing(`"user":"` + strings.Repeat("u", 257) + `"`),
	`prompt=["a",""]`:                    promptOf(`["","b"]`),
	"top_k":                              completing(`"top_k":5`),
	"logprobs":                           completing(`"logprobs":2`),
	"echo+logprobs":                      completing(`"logprobs":2`, `"echo":true`),
	"presence_penalty":                   completing(`"presence_penalty":1`),
	"frequency_penalty":                  completing(`"frequency_penalty":1`),
	"logit_bias":                         completing(`"logit_bias":{"1":1}`),
	"seed":                               completing(`"seed":1`),
}
