package pairs_test

import (
	"maps"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages"
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

const (
	someArguments = `,"arguments":"{\"a\":1}"`
	somePDF       = `"file_data":"data:application/pdf;base64,AAAA"`
	someAddress   = `"url":"https://x/i.png"`
)

func init() {
	maps.Copy(samplesOfChat, samples{
		"max_completion_tokens=absent":                              wanting(),
		"temperature=above 1":                                       wanting(`"temperature":1.5`),
		"stop=an empty text":                                        wanting(`"stop":[""]`),
		"service_tier=any other":                                    wanting(`"service_tier":"flex"`),
		"tools[*].type=function":                                    equipped("", ""),
		"tools[*].type=custom":                                      wanting(`"tools":[{"type":"custom","custom":{"name":"g"}}]`),
		"tools[*].type=any other":                                   wanting(`"tools":[{"type":"novelty"}]`),
		"tools[*].function":                                         equipped("", ""),
		"tools[*].function.name":                                    equipped("", ""),
		"tools[*].function.description":                             equipped("", `,"description":"d"`),
		"tools[*].function.parameters":                              equipped("", `,"parameters":{}`),
		"tools[*].function.strict":                                  equipped("", `,"strict":true`),
		"tools[*].function.arguments":                               equipped("", `,"arguments":"{}"`),
		"tools[*].function.*":                                       equipped("", `,"unheard_of":1`),
		"tools[*].cache_control":                                    equipped(`,"cache_control":{}`, ""),
		"tools[*].id":                                               equipped(`,"id":"c1"`, ""),
		"tools[*].*":                                                equipped(`,"unheard_of":1`, ""),
		"tool_choice=any other":                                     selecting(`"novelty"`),
		"tool_choice.type=any other":                                selecting(`{"type":"novelty"}`),
		"tool_choice.function.name":                                 selecting(`{"type":"function","function":{"name":"f"}}`),
		"tool_choice.function.*":                                    selecting(`{"type":"function","function":{"name":"f","unheard_of":1}}`),
		"tool_choice.allowed_tools.mode":                            selecting(`{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"f"}}]}}`),
		"tool_choice.allowed_tools.tools":                           selecting(`{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"f"}}]}}`),
		"tool_choice.allowed_tools.tools[*].function.*":             selecting(`{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"f","unheard_of":1}}]}}`),
		"tool_choice.allowed_tools.tools[*].*":                      selecting(`{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"f"},"unheard_of":1}]}}`),
		"tool_choice.allowed_tools.*":                               selecting(`{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[],"unheard_of":1}}`),
		"tool_choice.*":                                             selecting(`{"type":"function","function":{"name":"f"},"unheard_of":1}`),
		"messages[*].role=tool, behind a user":                      discussing(`{"role":"tool","tool_call_id":"c1","content":"r"},` + hi + `,{"role":"tool","tool_call_id":"c2","content":"r"}`),
		"messages[*].content=nothing of the user's":                 discussing(`{"role":"user","content":[]}`),
		"messages[*].tool_calls[*].type=function":                   calling(`,"type":"function"`, someArguments),
		"messages[*].tool_calls[*].type=custom":                     uttered("assistant", `,"tool_calls":[{"id":"c1","type":"custom","custom":{"name":"f","input":""}}]`),
		"messages[*].tool_calls[*].cache_control":                   calling(`,"cache_control":{}`, someArguments),
		"messages[*].tool_calls[*].*":                               calling(`,"unheard_of":1`, someArguments),
		"messages[*].tool_calls[*].function.name":                   calling("", someArguments),
		"messages[*].tool_calls[*].function.arguments=no object":    calling("", `,"arguments":"[1]"`),
		"messages[*].tool_calls[*].function.description":            calling("", someArguments+`,"description":"d"`),
		"messages[*].tool_calls[*].function.parameters":             calling("", someArguments+`,"parameters":{"type":"object"}`),
		"messages[*].tool_calls[*].function.strict":                 calling("", someArguments+`,"strict":true`),
		"messages[*].tool_calls[*].function.*":                      calling("", someArguments+`,"unheard_of":1`),
		"messages[*].thinking_blocks=without a signature":           minding(`{"type":"thinking","thinking":"t"}`),
		"messages[*].thinking_blocks=signed by this gateway":        minding(`{"type":"thinking","thinking":"t","signature":"` + string(messages.AppendMinted(nil, []byte("t"))) + `"}`),
		"messages[*].thinking_blocks[*].type=any other":             minding(`{"type":"novelty"}`),
		"messages[*].thinking_blocks[*].thinking":                   minding(`{"type":"thinking","thinking":"t","signature":"s"}`),
		"messages[*].thinking_blocks[*].signature":                  minding(`{"type":"thinking","thinking":"t","signature":"s"}`),
		"messages[*].thinking_blocks[*].data":                       minding(`{"type":"redacted_thinking","data":"d"}`),
		"messages[*].thinking_blocks[*].*":                          minding(`{"type":"thinking","thinking":"t","signature":"s","unheard_of":1}`),
		"messages[*].content[*].image_url.url=data":                 pieced(pngPart),
		"messages[*].content[*].image_url.url=data of another kind": pictured(`"url":"data:image/tiff;base64,AAAA"`),
		"messages[*].content[*].image_url.url=an address":           pictured(someAddress),
		"messages[*].content[*].image_url.detail":                   pictured(someAddress + `,"detail":"low"`),
		"messages[*].content[*].image_url.*":                        pictured(someAddress + `,"unheard_of":1`),
		"messages[*].content[*].file.file_data=a PDF, a plain text": filed(somePDF),
		"messages[*].content[*].file.file_data=any other":           filed(`"file_data":"data:text/html;base64,AAAA"`),
		"messages[*].content[*].file.file_id":                       filed(`"file_id":"f"`),
		"messages[*].content[*].file.filename":                      filed(somePDF + `,"filename":"f"`),
		"messages[*].content[*].file.*":                             filed(somePDF + `,"unheard_of":1`),
		"messages[*].content[*].prompt_cache_breakpoint.ttl":        pieced(`{"type":"text","text":"x","prompt_cache_breakpoint":{"mode":"explicit","ttl":"30m"}}`),
	})
	samplesOfChat["tool_choice.type=function, allowed_tools"] = samplesOfChat["tool_choice.function.name"]
	samplesOfChat["messages[*].thinking_blocks[*].type=thinking, redacted_thinking"] = samplesOfChat["messages[*].thinking_blocks"]
}
