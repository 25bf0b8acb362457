package service

// The models of Google.
const (
	gemini2   = "gemini-2*"
	gemini3   = "gemini-3*"
	gemini4   = "gemini-4-*"
	noMinimal = "gemini-3.7-flash* gemini-3.8-flash* gemini-3.1-pro* gemini-4-*"
	// userLast are the models whose conversations end with the user.
	userLast = "gemini-3.6-flash* gemini-3.5-flash-lite* gemini-3.7-flash* gemini-3.8-flash* gemini-4-*"
)

const (
	atGoogle    = "gemini vertex"
	ofConfig    = "generationConfig."
	ofThinking  = ofConfig + "thinkingConfig."
	geminiGuide = "Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini"
	withoutJSON = " with a response mime type: 'application/json' is unsupported"
)

// google are the refusals of the Gemini API, and of Vertex AI, whose sentences are others.
var google = concat([]Rule{
	{
		ID: "G1", Services: atGoogle, Formats: "gemini", Models: gemini4, When: "budget",
		Message: "Thinking budget is not supported for this model. Use thinking level instead.", Example: Set{"budget": 1024}, Source: "docs.apiyi.com: gemini-4-argon",
	},
	{
		ID: "G2", Services: GoogleAI, Formats: "gemini", Models: gemini2 + " gemini-3.1-flash-tts-preview", When: "effort",
		Message: "Thinking level is not supported for this model.", Example: Set{"effort": "HIGH"}, Source: "RooCodeInc/Roo-Code#10700, OpenMinis/OpenMinis#226",
	},
	{
		ID: "G2", Services: Vertex, Formats: "gemini", Models: gemini2 + " gemini-3.1-flash-tts-preview", When: "effort",
		Message: "Unable to submit request because thinking_level is not supported by this model.. " + geminiGuide, Example: Set{"effort": "HIGH"}, Source: "google-gemini/gemini-cli#14025, Kilo-Org/kilocode#5139",
	},
	{
		ID: "G3", Services: atGoogle, Formats: "gemini", Models: gemini3, When: "effort budget",
		Example: Set{"effort": "HIGH", "budget": 1024}, Source: "ChatGPTBox-dev/chatGPTBox#1041",
	},
}, levels(noMinimal, "minimal"), levels("gemini-3-pro-preview", "medium"), []Rule{
	{
		ID: "G5", Services: atGoogle, Formats: "gemini", Models: "gemini-2.5-pro gemini-3.1-pro-preview*", When: "budget=0",
		Message: "Budget 0 is invalid. This model only works in thinking mode.", Example: Set{"budget": 0}, Source: "docker/docker-agent#2051, vercel/ai#8027",
	},
}, budgets("gemini-2.5-pro", "128", "32768"), budgets("gemini-2.5-flash gemini-2.5-flash-preview*", "0", "24576"), budgets("gemini-2.5-flash-lite*", "512", "24576"),
	[]Rule{
		{
			ID: "G7", Services: GoogleAI, Formats: "gemini", Models: gemini3, When: ofConfig + "candidateCount>1",
			Message: "Multiple candidates is not enabled for this model", Example: Set{ofConfig + "candidateCount": 2}, Source: "googleapis/js-genai#1609",
		},
		{
			ID: "G7", Services: Vertex, Formats: "gemini", Models: "gemini-1*", When: ofConfig + "candidateCount>1",
			Message: "Unable to submit request because candidateCount must be 1 but the entered value was {value}. Update the candidateCount value and try again.",
			Example: Set{ofConfig + "candidateCount": 3}, Source: "genkit-ai/genkit#546",
		},
		{
			ID: "G9", Services: GoogleAI, Formats: "gemini", Models: gemini3 + " " + gemini4, When: "contents.*.parts@unsigned",
			Message: "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:f` , position 2. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.",
			Example: unsignedCall, Source: "lbjlaq/Antigravity-Manager#3202, nanbingxyz/5ire#405, allenhutchison/obsidian-gemini#228",
		},
		{
			ID: "G9", Services: Vertex, Formats: "gemini", Models: gemini3 + " " + gemini4, When: "contents.*.parts@unsigned",
			Message: "Unable to submit request because function call `f` in the 2. content block is missing a `thought_signature`. Learn more: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures",
			Example: unsignedCall, Source: "GewoonJaap/gemini-cli-openai#156, RooCodeInc/Roo-Code#10331",
		},
		{
			ID: "G10", Services: GoogleAI, Formats: "gemini", When: "stops>5",
			Message: "the number of stop_sequences must not exceed {limit}", Example: Set{"stops": []string{"a", "b", "c", "d", "e", "f"}}, Source: "continuedev/continue#2702",
		},
		{
			ID: "G10", Services: Vertex, Formats: "gemini", When: "stops>5",
			Message: "Unable to submit request because it has a stopSequences value of {count} but the supported range is from 1 (inclusive) to 6 (exclusive). Update the value and try again.",
			Example: Set{"stops": []string{"a", "b", "c", "d", "e", "f"}}, Source: "continuedev/continue#7849",
		},
		{
			ID: "G11", Services: atGoogle, Formats: "gemini", Models: gemini2, When: "toolConfig.functionCallingConfig.mode=ANY tools.*.functionDeclarations " + ofConfig + "responseMimeType=application/json",
			Message: "Forced function calling (ANY mode)" + withoutJSON,
			Example: Set{"toolConfig.functionCallingConfig.mode": "ANY", "tools": declarations, ofConfig + "responseMimeType": "application/json"}, Source: "vercel/ai#16540",
		},
		{
			ID: "G11", Services: atGoogle, Formats: "gemini", Models: gemini2, When: "tools.*.functionDeclarations " + ofConfig + "responseMimeType=application/json",
			Message: "Function calling" + withoutJSON,
			Example: Set{"tools": declarations, ofConfig + "responseMimeType": "application/json"},
			Source:  "symfony/ai#1777, #803, analyticalrohit/ai-blog-generator#17, googleapis/python-genai#867",
		},
		{
			ID: "G11", Services: atGoogle, Formats: "gemini", Models: gemini2, When: "tools.*.googleSearch " + ofConfig + "responseMimeType=application/json",
			Message: "Tool use" + withoutJSON,
			Example: Set{"tools": []any{Set{"googleSearch": Set{}}}, ofConfig + "responseMimeType": "application/json"}, Source: "snailyp/gemini-balance#264",
		},
		{
			ID: "G12", Services: GoogleAI, Formats: "gemini", Models: "gemini-2.5* gemini-3* gemini-4*", When: ofConfig + "presencePenalty !" + ofConfig + "presencePenalty=0",
			Message: "Penalty is not enabled for models/{model}", Example: Set{ofConfig + "presencePenalty": 0.5}, Source: "PublicAffairs/openai-gemini#63, google-gemini/cookbook#1290",
		},
		{
			ID: "G12", Services: GoogleAI, Formats: "gemini", Models: "gemini-2.5* gemini-3* gemini-4*", When: ofConfig + "frequencyPenalty !" + ofConfig + "frequencyPenalty=0",
			Message: "Penalty is not enabled for models/{model}", Example: Set{ofConfig + "frequencyPenalty": 0.5}, Source: "PublicAffairs/openai-gemini#63, google-gemini/cookbook#1290",
		},
		{
			ID: "G13", Services: atGoogle, Formats: "gemini", Models: "gemma-3-*", When: "systemInstruction",
			Message: "Developer instruction is not enabled for models/{model}", Example: Set{"systemInstruction": Set{}}, Source: "0xPlaygrounds/rig#788, MaKTaiL/gemini-srt-translator#101, microsoft/vscode#258088",
		},
		{
			ID: "G14", Services: GoogleAI, Formats: "gemini", Models: "gemini-1.* gemini-2.0-*", Status: 404, Type: "NOT_FOUND",
			Message: "models/{model} is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.",
			Source:  "ECuiDev/obsidian-quiz-generator#43, wwardaww/gnome-gemini-ai#22",
		},
		{
			ID: "G15", Services: GoogleAI, Formats: "gemini", Models: userLast + " gemini-3.5-flash", When: "contents.-1.role=model",
			Message: "Requests ending with a model turn are not supported unless the last part is a function response.",
			Example: modelLast, Source: "LibreChat-AI/agents#323, pipecat-ai/pipecat#5821; 3.5-flash: ai.google.dev/gemini-api/docs/changelog (routed to 3.6-flash)",
		},
		{
			ID: "G15", Services: Vertex, Formats: "gemini", Models: userLast, When: "contents.-1.role=model",
			Message: "Requests ending with a model turn are not supported.", Example: modelLast, Source: "envoyproxy/ai-gateway#2686",
		},
		{
			ID: "G16", Services: Vertex, Formats: "gemini", When: "contents.*.parts.*.text=",
			Message: "Unable to submit request because Model input cannot be empty.",
			Example: Set{"contents": []any{Set{"role": "user", "parts": []any{Set{"text": ""}}}}}, Source: "envoyproxy/ai-gateway#2686",
		},
		{
			ID: "G16", Services: Vertex, Formats: "gemini", When: "contents.*.parts<1",
			Message: "Unable to submit request because it must include at least one parts field, which describes the prompt input.",
			Example: Set{"contents": []any{Set{"role": "user", "parts": []any{}}}}, Source: "envoyproxy/ai-gateway#2686",
		},
		{
			ID: "G17", Services: Vertex, Formats: "gemini", Models: "gemini-2.5-*", When: "bound>65535",
			Message: "Unable to submit request because it has a maxOutputTokens value of {value} but the supported range is from 1 (inclusive) to 65536 (exclusive). Update the value and try again.",
			Example: Set{"bound": 65536}, Source: "BerriAI/litellm#10548, aaif-goose/goose#11364, can1357/oh-my-pi#10595",
		},
	})

// Members of examples.
var (
	declarations = []any{Set{"functionDeclarations": []any{Set{"name": "f"}}}}
	unsignedCall = Set{"contents": []any{Set{"role": "model", "parts": []any{Set{"functionCall": Set{"name": "f", "args": Set{}}}}}, Set{"role": "user", "parts": []any{Set{"text": "a"}}}}}
	modelLast    = Set{"contents": []any{Set{"role": "user", "parts": []any{Set{"text": "a"}}}, Set{"role": "model", "parts": []any{Set{"text": "b"}}}}}
)

// levels returns the rules of models that lack a level of thinking.
func levels(models, level string) []Rule {
	return []Rule{
		{
			ID: "G4", Services: GoogleAI, Formats: "gemini", Models: models, When: "effort=" + level,
			Message: "Thinking level {word} is not supported for this model. Please retry with other thinking level.",
			Example: Set{"effort": level}, Source: "earendil-works/pi#9455, theJayTea/WritingTools#282",
		},
		{
			ID: "G4", Services: Vertex, Formats: "gemini", Models: models, When: "effort=" + level,
			Message: "Unable to submit request because thinking_level {word} is not supported by this model. " + geminiGuide,
			Example: Set{"effort": level}, Source: "jenslys/opencode-gemini-auth#14",
		},
	}
}

// budgets returns the rules of models whose budget of thinking is between two numbers; -1 lets
// the model choose.
func budgets(models, least, most string) []Rule {
	const message = "The thinking budget ({value}) is invalid."
	return []Rule{
		{
			ID: "G6", Services: atGoogle, Formats: "gemini", Models: models, When: "budget>" + most,
			Message: message, Example: Set{"budget": 52428}, Source: "RooCodeInc/Roo-Code#4399",
		},
		{
			ID: "G6", Services: atGoogle, Formats: "gemini", Models: models, When: "budget<" + least + " !budget=-1",
			Message: message, Example: Set{"budget": -2}, Source: "RooCodeInc/Roo-Code#4399",
		},
	}
}
