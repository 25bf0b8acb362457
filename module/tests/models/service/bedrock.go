package service

// byProfile are the models that are only called by the ids of profiles.
const byProfile = "anthropic.claude-* amazon.nova-2-* meta.llama3-3-* meta.llama4-*"

const (
	notClaude  = "* !*anthropic.*"
	endOfLife  = "This model version has reached the end of its life. Please refer to the AWS documentation for more details."
	legacyName = "Access denied. This Model is marked by provider as Legacy and you have not been actively using the model in the last 30 days. Please upgrade to an active model on Amazon Bedrock"
	noResource = "ResourceNotFoundException"
)

// bedrock are the refusals of Bedrock. Those of B4 are the rules of claude.
var bedrock = concat([]Rule{
	{
		ID: "B1", Services: Bedrock, Formats: "converse", Models: "*amazon.nova* *meta.llama* *mistral.*", When: "messages.*.content.*.reasoningContent",
		Message: "User messages cannot contain reasoning content. Please remove the reasoning content and try again.",
		Example: Set{"messages": []any{turn("assistant", []any{Set{"reasoningContent": Set{}}}), turn("user", []any{Set{"text": "a"}})}},
		Source:  "module/providers/models/README.md: reported",
	},
}, noChoice("any"), noChoice("tool"), []Rule{
	{
		ID: "B3", Services: Bedrock, Models: byProfile,
		Message: "Invocation of model ID {model} with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model.",
		Source:  "logancyang/obsidian-copilot#2472, FlowiseAI/Flowise#4253, terricain/aioboto3#352",
	},
}, bedrockLongest("*amazon.nova-pro* *amazon.nova-micro*", "10000"), bedrockLongest("us.amazon.nova-2-lite* *amazon.nova-2-lite*", "65535"), bedrockLongest("us.meta.llama3-3-* *meta.llama3-3-*", "4096"),
	bedrockLongest("us.meta.llama4-* *meta.llama4-*", "8192"), []Rule{
		{
			ID: "B6", Services: Bedrock, Formats: "converse", When: "messages.*.content.*.toolUse !toolConfig", Message: noToolConfig,
			Example: Set{"messages": []any{turn("assistant", []any{Set{"toolUse": Set{}}}), turn("user", []any{Set{"text": "a"}})}}, Source: "langgenius/dify#7328",
		},
		{
			ID: "B6", Services: Bedrock, Formats: "converse", When: "messages.*.content.*.toolResult !toolConfig", Message: noToolConfig,
			Example: Set{"messages": []any{turn("user", []any{Set{"toolResult": Set{}}})}}, Source: "langgenius/dify#7328",
		},
		{ID: "B7", Services: Bedrock, Formats: "converse", When: "stops>4", Example: Set{"stops": []string{"a", "b", "c", "d", "e"}}, Source: "boto/botocore#3354"},
		{
			ID: "B8", Services: Bedrock, Models: "us.anthropic.claude-3-5-* *anthropic.claude-3-5-* *anthropic.claude-opus-4-20250514*", Status: 404, Type: noResource,
			Message: endOfLife, Source: "aws-solutions-library-samples/accelerated-intelligent-document-processing-on-aws#708, griptape-ai/griptape-nodes-engine#4498",
		},
		{
			ID: "B9", Services: Bedrock, Models: "us.anthropic.claude-opus-4-1-* *anthropic.claude-opus-4-1-*", Status: 404, Type: noResource,
			Message: legacyName, Source: "fourTheorem/podwhisperer#24, awslabs/llmeter#35",
		},
		{
			ID: "B10", Services: Bedrock, Formats: "converse", Models: "mistral.mistral-7b-* mistral.mixtral-* amazon.titan-text-*", When: "system",
			Message: "This model doesn't support system messages. Try again without a system message or use a model that supports system messages.",
			Example: Set{"system": []any{Set{"text": "a"}}}, Source: "567-labs/instructor#1753, danny-avila/LibreChat#6456",
		},
	}, notPermitted("messages", "output_config.format", "output_config.format", noFormat, schemaExample, "anthropics/anthropic-sdk-python#1759, vercel/ai#14773, BerriAI/litellm#39070"),
	notPermitted("converse", "outputConfig.textFormat", "output_config.format", noFormat, Set{"outputConfig.textFormat": Set{}}, "presenton/presenton#939, vectorize-io/hindsight#3300"),
	notPermitted("messages", "tools.*.strict", "tools.0.custom.strict", notStrict, Set{"tools": []any{Set{"name": "f", "strict": true}}}, "lobehub/lobehub#19876"),
	notPermitted("converse", "toolConfig.tools.*.toolSpec.strict", "tools.0.custom.strict", notStrict,
		Set{"toolConfig": Set{"tools": []any{Set{"toolSpec": Set{"name": "f", "strict": true}}}}}, "BerriAI/litellm#31582, BerriAI/litellm#33193"))

const noFormat = claude47 + " " + claude5

var schemaExample = Set{"output_config.format": Set{"type": "json_schema", "schema": Set{"type": "object", "additionalProperties": false}}}

// notStrict are the models of Anthropic that refuse the demand that calls follow the schema of their
// tool. It follows from no version.
const notStrict = "*claude-sonnet-4-2025* " + claude47 + " *claude-sonnet-5* *claude-opus-5-5* *claude-haiku-5-5* *claude-fable-*"

// notPermitted returns the rule of a member that Anthropic takes, and Bedrock does not.
func notPermitted(format, path, member, models string, example Set, source string) []Rule {
	return []Rule{{
		ID: "B11", Services: Bedrock, Formats: format, Models: models, When: path, Message: member + ": Extra inputs are not permitted",
		Example: example, Source: source,
	}}
}

const noToolConfig = "The toolConfig field must be defined when using toolUse and toolResult content blocks."

// noChoice returns the rule of models whose tools cannot be chosen.
func noChoice(kind string) []Rule {
	path := "toolConfig.toolChoice." + kind
	return []Rule{{
		ID: "B2", Services: Bedrock, Formats: "converse", Models: notClaude + " !*amazon.nova* !*mistral.mistral-large*", When: path,
		Message: "This model doesn't support the " + path + " field. Remove " + path + " and try again.",
		Example: Set{path: Set{}}, Source: "strands-agents/harness-sdk#1241, 2FastLabs/agent-squad#134",
	}}
}

// bedrockLongest returns the rule of models whose longest answer has a number of tokens.
func bedrockLongest(models, tokens string) []Rule {
	return []Rule{{
		ID: "B5", Services: Bedrock, Formats: "converse", Models: models, When: "bound>" + tokens,
		Message: "The maximum tokens you requested exceeds the model limit of {limit}. Try again with a maximum tokens value that is lower than {limit}.",
		Example: Set{"bound": 1000000}, Source: "langgenius/dify#10390, sigoden/aichat#813, charmbracelet/crush#946",
	}}
}
