package pairs_test

import (
	"encoding/base64"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// behindCall returns the sample, whose call may be refused in place of the row's field.
func (s sample) behindCall() sample {
	s.needed = "contents[*].parts[*].functionCall"
	return s
}

// saying is a content of the user.
const saying = `{"role":"user","parts":[{"text":"hi"}]}`

// generating is a gemini request with more at the top.
func generating(members ...string) sample { return contents(saying, members...) }

// contents is one with these contents.
func contents(list string, members ...string) sample {
	return sample{body: "{" + strings.Join(append([]string{`"contents":[` + list + `]`}, members...), ",") + "}"}
}

// configured is one with options.
func configured(members ...string) sample {
	return generating(`"generationConfig":{` + strings.Join(members, ",") + `}`)
}

// thinkingBy is one that asks for thinking.
func thinkingBy(members string) sample { return configured(`"thinkingConfig":{` + members + `}`) }

// ofParts is one with these parts of the user.
func ofParts(parts string) sample { return contents(`{"role":"user","parts":[` + parts + `]}`) }

// declaring is one with the declaration of a function.
func declaring(members string, more ...string) sample {
	return generating(append([]string{`"tools":[{"functionDeclarations":[{"name":"f"` + members + `}]}]`}, more...)...)
}

// hosting is one with a tool of the service.
func hosting(tool string) sample { return generating(`"tools":[{"` + tool + `":{}}]`) }

// choosing is one with a choice among its tools.
func choosing(members string) sample {
	return declaring("", `"toolConfig":{"functionCallingConfig":{`+members+`}}`)
}

// exchanging is one with a call and its result.
func exchanging(call, result string) sample {
	return contents(saying + `,{"role":"model","parts":[` + call + `]},{"role":"user","parts":[` + result + `]}`)
}

const (
	geminiCall   = `{"functionCall":{"id":"c1","name":"f","args":{"a":1}}}`
	geminiResult = `{"functionResponse":{"id":"c1","name":"f","response":{"output":"x"}}}`
)

// signedCall is one with a call whose signature seals reasoning.
func signedCall(kind, thoughts string) sample {
	sealed := base64.StdEncoding.EncodeToString(sealer.Append(nil, kind, []byte(thoughts)))
	return exchanging(`{"functionCall":{"id":"c1","name":"f","args":{}},"thoughtSignature":"`+sealed+`"}`, geminiResult)
}

// answeredBy is one with a result of more members.
func answeredBy(members string) sample {
	return exchanging(geminiCall, `{"functionResponse":{"id":"c1","name":"f","response":{"output":"x"}`+members+`}}`)
}

var geminiSamples = samples{
	"contents":                              ofParts(`{"text":"b"}`),
	"model":                                 generating(`"model":"models/m"`).quiet(),
	"generationConfig.maxOutputTokens":      configured(`"maxOutputTokens":20`),
	"generationConfig.maxOutputTokens=...":  configured(`"maxOutputTokens":20`),
	"generationConfig.maxOutputTokens=1":    configured(`"maxOutputTokens":1`),
	"generationConfig.maxOutputTokens=null": generating().quiet(),
	"generationConfig.candidateCount":       configured(`"candidateCount":2`),
	"generationConfig.stopSequences":        configured(`"stopSequences":["x"]`),
	`generationConfig.stopSequences=[""]`:   configured(`"stopSequences":[""]`),
	"generationConfig.responseLogprobs":     configured(`"responseLogprobs":true`),
	"generationConfig.logprobs":             configured(`"responseLogprobs":true`, `"logprobs":3`),
	"generationConfig.responseLogprobs=false+generationConfig.logprobs": configured(`"logprobs":3`),
	"generationConfig.mediaResolution":                                  configured(`"mediaResolution":"MEDIA_RESOLUTION_LOW"`),
	"generationConfig.enableEnhancedCivicAnswers":                       configured(`"enableEnhancedCivicAnswers":true`),
	"generationConfig.speechConfig":                                     configured(`"speechConfig":{"languageCode":"de"}`),
	"generationConfig.imageConfig":                                      configured(`"imageConfig":{"aspectRatio":"1:1"}`),
	"generationConfig.*":                                                configured(`"unheard_of":1`),
	"safetySettings[*].threshold=BLOCK_NONE":                            generating(`"safetySettings":[{"category":"c","threshold":"BLOCK_NONE"}]`),
	"safetySettings[*].threshold=OFF":                                   generating(`"safetySettings":[{"category":"c","threshold":"OFF"}]`),
	"safetySettings[*].threshold=*":                                     generating(`"safetySettings":[{"category":"c","threshold":"BLOCK_ALL"}]`),
	"cachedContent":                                                     generating(`"cachedContent":"cachedContents/c"`),
	"continuationToken":                                                 generating(`"continuationToken":"t"`),
	"modelArmorConfig":                                                  generating(`"modelArmorConfig":{"promptTemplateName":"t"}`),
	"serviceTier=standard":                                              generating(`"serviceTier":"standard"`),
	"serviceTier=flex":                                                  generating(`"serviceTier":"flex"`),
	"serviceTier=priority":                                              generating(`"serviceTier":"priority"`),
	"serviceTier=*":                                                     generating(`"serviceTier":"gold"`),
	"labels":                                                            generating(`"labels":{"a":"b"}`),
	"store":                                                             generating(`"store":true`),
	"*":                                                                 generating(`"unheard_of":1`),

	"generationConfig.temperature":                       configured(`"temperature":0.5`),
	"generationConfig.temperature=1":                     configured(`"temperature":1`),
	"generationConfig.temperature=2":                     configured(`"temperature":2`),
	"generationConfig.topP":                              configured(`"topP":0.5`),
	"generationConfig.topP=0.95":                         configured(`"topP":0.95`),
	"generationConfig.topK":                              configured(`"topK":40`),
	"generationConfig.topK=64":                           configured(`"topK":64`),
	"generationConfig.seed":                              configured(`"seed":7`),
	"generationConfig.presencePenalty":                   configured(`"presencePenalty":0.5`),
	"generationConfig.frequencyPenalty":                  configured(`"frequencyPenalty":0.5`),
	"generationConfig.temperature+generationConfig.topP": configured(`"temperature":0.5`, `"topP":0.5`),
	"generationConfig.thinkingConfig.thinkingLevel+generationConfig.temperature":             configured(`"thinkingConfig":{"thinkingLevel":"low"}`, `"temperature":0.5`).withTraits("thinking_style adaptive; reasoning_effort on"),
	"generationConfig.thinkingConfig.thinkingLevel+generationConfig.topP":                    configured(`"thinkingConfig":{"thinkingLevel":"low"}`, `"topP":0.5`).withTraits("thinking_style adaptive; reasoning_effort on"),
	"generationConfig.thinkingConfig.thinkingLevel+generationConfig.topK":                    configured(`"thinkingConfig":{"thinkingLevel":"low"}`, `"topK":40`).withTraits("thinking_style adaptive; reasoning_effort on"),
	"generationConfig.responseMimeType=text/plain":                                           configured(`"responseMimeType":"text/plain"`).quiet(),
	"generationConfig.responseMimeType=application/json":                                     configured(`"responseMimeType":"application/json"`),
	"generationConfig.responseMimeType=*":                                                    configured(`"responseMimeType":"text/x.enum"`),
	"generationConfig.responseMimeType=application/json+generationConfig.responseSchema":     configured(`"responseMimeType":"application/json"`, `"responseSchema":{"type":"OBJECT"}`),
	"generationConfig.responseMimeType=application/json+generationConfig.responseJsonSchema": configured(`"responseMimeType":"application/json"`, `"responseJsonSchema":{"type":"object"}`),
	"generationConfig.responseSchema":                                                        configured(`"responseMimeType":"application/json"`, `"responseSchema":{"type":"OBJECT"}`),
	"generationConfig.responseJsonSchema":                                                    configured(`"responseMimeType":"application/json"`, `"responseJsonSchema":{"type":"object"}`),
	"generationConfig.responseSchema.propertyOrdering":                                       configured(`"responseMimeType":"application/json"`, `"responseSchema":{"type":"OBJECT","properties":{"a":{"type":"STRING"}},"propertyOrdering":["b"]}`),
	"generationConfig.responseFormat":                                                        configured(`"responseFormat":[{"type":"text"}]`),
	`generationConfig.responseModalities=["TEXT"]`:                                           configured(`"responseModalities":["TEXT"]`).quiet(),
	`generationConfig.responseModalities=["TEXT","IMAGE"]`:                                   configured(`"responseModalities":["TEXT","IMAGE"]`),
	`generationConfig.responseModalities=["IMAGE"]`:                                          configured(`"responseModalities":["IMAGE"]`),
	"generationConfig.responseModalities=*":                                                  configured(`"responseModalities":["AUDIO"]`),

	"generationConfig.thinkingConfig.includeThoughts":       configured(`"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"HIGH"}`, `"maxOutputTokens":64000`),
	"generationConfig.thinkingConfig.includeThoughts=false": thinkingBy(`"includeThoughts":false`).quiet(),
	"generationConfig.thinkingConfig.thinkingLevel=minimal": thinkingBy(`"thinkingLevel":"MINIMAL"`),
	"generationConfig.thinkingConfig.thinkingLevel=low":     thinkingBy(`"thinkingLevel":"LOW"`),
	"generationConfig.thinkingConfig.thinkingLevel=medium":  thinkingBy(`"thinkingLevel":"medium"`),
	"generationConfig.thinkingConfig.thinkingLevel=high":    thinkingBy(`"thinkingLevel":"HIGH"`),
	"generationConfig.thinkingConfig.thinkingLevel=xhigh":   configured(`"thinkingConfig":{"thinkingLevel":"XHIGH"}`, `"maxOutputTokens":64000`),
	"generationConfig.thinkingConfig.thinkingLevel=*":       thinkingBy(`"thinkingLevel":"utmost"`),
	"generationConfig.thinkingConfig.thinkingBudget=-1":     thinkingBy(`"thinkingBudget":-1`).quiet(),
	"generationConfig.thinkingConfig.thinkingBudget=0":      thinkingBy(`"thinkingBudget":0`),
	"generationConfig.thinkingConfig.thinkingBudget=1024":   thinkingBy(`"thinkingBudget":1024`),
	"generationConfig.thinkingConfig.thinkingBudget=4096":   thinkingBy(`"thinkingBudget":4096`),
	"generationConfig.thinkingConfig.thinkingBudget=16384":  thinkingBy(`"thinkingBudget":16384`),
	"generationConfig.thinkingConfig.thinkingBudget=32768":  configured(`"thinkingConfig":{"thinkingBudget":32768}`, `"maxOutputTokens":64000`),
	"generationConfig.thinkingConfig.*":                     thinkingBy(`"unheard_of":1`),

	"tools": declaring(""),
	"toolConfig.functionCallingConfig.mode=NONE+tools":       choosing(`"mode":"NONE"`),
	"tools[*].functionDeclarations":                          declaring(""),
	"tools[*].functionDeclarations[*].name":                  declaring(""),
	"tools[*].functionDeclarations[*].description":           declaring(`,"description":"d"`),
	"tools[*].functionDeclarations[*].parameters":            declaring(`,"parameters":{"type":"OBJECT"}`),
	"tools[*].functionDeclarations[*].parametersJsonSchema":  declaring(`,"parametersJsonSchema":{"type":"object"}`),
	"tools[*].functionDeclarations[*].response":              declaring(`,"response":{"type":"STRING"}`),
	"tools[*].functionDeclarations[*].responseJsonSchema":    declaring(`,"responseJsonSchema":{"type":"string"}`),
	"tools[*].functionDeclarations[*].behavior=NON_BLOCKING": declaring(`,"behavior":"NON_BLOCKING"`),
	"tools[*].functionDeclarations[*].*":                     declaring(`,"unheard_of":1`),
	"tools[*].googleSearch":                                  hosting("googleSearch"),
	"tools[*].googleSearchRetrieval":                         hosting("googleSearchRetrieval"),
	"tools[*].urlContext":                                    hosting("urlContext"),
	"tools[*].codeExecution":                                 hosting("codeExecution"),
	"tools[*].computerUse":                                   hosting("computerUse"),
	"tools[*].fileSearch":                                    hosting("fileSearch"),
	"tools[*].googleMaps":                                    hosting("googleMaps"),
	"tools[*].enterpriseWebSearch":                           hosting("enterpriseWebSearch"),
	"tools[*].mcpServers":                                    hosting("mcpServers"),
	"tools[*].retrieval":                                     hosting("retrieval"),
	"tools[*].*":                                             generating(`"tools":[{"functionDeclarations":[{"name":"f"}],"unheard_of":1}]`),
	"tools=[]+toolConfig.functionCallingConfig.mode=ANY":     generating(`"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}`),
	"toolConfig.functionCallingConfig.mode=*":                choosing(`"mode":"SOME"`),
	"toolConfig.retrievalConfig":                             generating(`"toolConfig":{"retrievalConfig":{"languageCode":"de"}}`),
	"toolConfig.*":                                           generating(`"toolConfig":{"unheard_of":1}`),
	"toolConfig.functionCallingConfig.mode=AUTO":             choosing(`"mode":"AUTO"`),
	"toolConfig.functionCallingConfig.mode=VALIDATED":        choosing(`"mode":"VALIDATED"`),
	"tools+toolConfig.functionCallingConfig.mode=VALIDATED": generating(
		`"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object","properties":{},"additionalProperties":false}}]}]`,
		`"toolConfig":{"functionCallingConfig":{"mode":"VALIDATED"}}`),
	"toolConfig.functionCallingConfig.mode=ANY":                                                             choosing(`"mode":"ANY"`),
	`toolConfig.functionCallingConfig.mode=ANY+toolConfig.functionCallingConfig.allowedFunctionNames=["f"]`: choosing(`"mode":"ANY","allowedFunctionNames":["f"]`),
	`toolConfig.functionCallingConfig.allowedFunctionNames=["f"]`:                                           choosing(`"mode":"ANY","allowedFunctionNames":["f"]`),
	"toolConfig.functionCallingConfig.allowedFunctionNames":                                                 choosing(`"mode":"VALIDATED","allowedFunctionNames":["f"]`),
	"toolConfig.functionCallingConfig.allowedFunctionNames[*]=*":                                            choosing(`"mode":"VALIDATED","allowedFunctionNames":["f","g"]`),
	"toolConfig.functionCallingConfig.*":                                                                    choosing(`"unheard_of":1`),
	"toolConfig.functionCallingConfig.mode=NONE":                                                            choosing(`"mode":"NONE"`),

	"systemInstruction.parts[*].text":           generating(`"systemInstruction":{"parts":[{"text":"s"}]}`),
	"systemInstruction.parts[*]=*":              generating(`"systemInstruction":{"parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}`),
	"contents[*].role=user":                     contents(saying + "," + saying),
	"contents[*].role=model":                    contents(saying + `,{"role":"model","parts":[{"text":"a"}]},` + saying),
	"contents[-1].role=model":                   contents(saying + `,{"role":"model","parts":[{"text":"a"}]}`),
	`contents[-1].role=model+parts[*].text=" "`: contents(saying + `,{"role":"model","parts":[{"text":"a "}]}`),
	"contents[*].*":                             contents(`{"role":"user","unheard_of":1,"parts":[{"text":"hi"}]}`),
	"contents[*].parts[*].text":                 ofParts(`{"text":"b"}`),
	"contents[*].parts[*].executableCode":       ofParts(`{"text":"b"},{"executableCode":{"code":"x"}}`),
	"contents[*].parts[*].codeExecutionResult":  ofParts(`{"text":"b"},{"codeExecutionResult":{"output":"x"}}`),
	"contents[*].parts[*].toolCall":             ofParts(`{"text":"b"},{"toolCall":{"id":"x"}}`),
	"contents[*].parts[*].toolResponse":         ofParts(`{"text":"b"},{"toolResponse":{"id":"x"}}`),
	"contents[*].parts[*].videoMetadata":        ofParts(`{"text":"b","videoMetadata":{"fps":1}}`),
	"contents[*].parts[*]=*":                    ofParts(`{"text":"b"},{"unheardOf":1}`),
	"contents[*].parts[*].mediaResolution":      ofParts(`{"text":"b","mediaResolution":{"level":"x"}}`),
	"contents[*].parts[*].partMetadata":         ofParts(`{"text":"b","partMetadata":{"a":1}}`),
	"contents[*].parts[*].*":                    ofParts(`{"text":"b","unheard_of":1}`),
	"contents[*].parts[*].thought":              contents(saying + `,{"role":"model","parts":[{"text":"t","thought":true},{"text":"a"}]},` + saying),
	"contents[*].parts[*].thoughtSignature":     contents(saying + `,{"role":"model","parts":[{"text":"a","thoughtSignature":"c2ln"}]},` + saying),

	"contents[*].parts[*].functionCall":                            exchanging(geminiCall, geminiResult),
	"contents[*].parts[*].functionCall.id":                         exchanging(geminiCall, geminiResult),
	"contents[*].parts[*].functionCall.name":                       exchanging(geminiCall, geminiResult),
	"contents[*].parts[*].functionCall.args":                       exchanging(geminiCall, geminiResult),
	"contents[*].parts[*].functionCall.*":                          exchanging(`{"functionCall":{"id":"c1","name":"f","unheard_of":1}}`, geminiResult),
	"contents[*].parts[*].functionCall+thoughtSignature":           signedCall(seal.Block, `[{"type":"thinking","thinking":"t","signature":"s"}]`),
	"contents[*].parts=[]":                                         contents(saying + `,{"role":"model","parts":[{"text":"t","thought":true}]},` + saying),
	"contents[*].parts[*].functionCall+thoughtSignature=redacted":  signedCall(seal.Block, `[{"type":"redacted_thinking","data":"ZA=="}]`),
	"contents[*].parts[*].functionCall+thoughtSignature=encrypted": signedCall(seal.Item, `[{"type":"thinking","thinking":"t","signature":"call:rs_1.1.gAAA"}]`),
	"contents[*].parts=[functionCall,text]":                        exchanging(geminiCall+`,{"text":"behind"}`, geminiResult),
	"contents[*].parts[*].functionResponse":                        exchanging(geminiCall, geminiResult).behindCall(),
	"contents[*].parts[*].functionResponse.id":                     exchanging(geminiCall, geminiResult).behindCall(),
	"contents[*].parts[*].functionResponse.name":                   exchanging(geminiCall, geminiResult).behindCall(),
	"contents[*].parts[*].functionResponse.response":               exchanging(geminiCall, geminiResult).behindCall(),
	"contents[*].parts[*].functionResponse.response.error":         exchanging(geminiCall, `{"functionResponse":{"id":"c1","name":"f","response":{"error":"x"}}}`).behindCall(),
	"contents[*].parts[*].functionResponse.parts":                  answeredBy(`,"parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]`).behindCall(),
	"contents[*].parts[*].functionResponse.willContinue":           answeredBy(`,"willContinue":true`).behindCall(),
	"contents[*].parts[*].functionResponse=...":                    exchanging(geminiCall, geminiResult+","+geminiResult).behindCall(),
	"contents[*].parts[*].functionResponse.scheduling":             answeredBy(`,"scheduling":"SILENT"`).behindCall(),
	"contents[*].parts[*].functionResponse.*":                      answeredBy(`,"unheard_of":1`).behindCall(),
	"contents[*].parts=[text,functionResponse]":                    exchanging(geminiCall, `{"text":"in front"},`+geminiResult).behindCall(),
	"contents[*].parts[*].fileData.mimeType=image/png":             ofParts(`{"fileData":{"mimeType":"image/png","fileUri":"https://h/i.png"}}`),
	"contents[*].parts[*].fileData.mimeType=application/pdf":       ofParts(`{"fileData":{"mimeType":"application/pdf","fileUri":"https://h/d.pdf"}}`),
	"contents[*].parts[*].fileData.mimeType=video/mp4":             ofParts(`{"fileData":{"mimeType":"video/mp4","fileUri":"https://h/v.mp4"}}`),
	"contents[*].parts[*].fileData.mimeType=*":                     ofParts(`{"fileData":{"mimeType":"application/zip","fileUri":"https://h/v.zip"}}`),
	"contents[*].parts[*].fileData.fileUri=*":                      ofParts(`{"fileData":{"mimeType":"image/png","fileUri":"gs://b/i.png"}}`),
}
