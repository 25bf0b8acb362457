package tracing

// The names of attributes: those of OpenTelemetry's conventions for generative AI, which are
// not stable yet, and the gateway's own.
const (
	operationName  = "gen_ai.operation.name"
	providerName   = "gen_ai.provider.name"
	requestModel   = "gen_ai.request.model"
	requestStream  = "gen_ai.request.stream"
	requestMax     = "gen_ai.request.max_tokens"
	requestChoices = "gen_ai.request.choice.count"
	responseModel  = "gen_ai.response.model"
	firstChunk     = "gen_ai.response.time_to_first_chunk"

	inputTokens      = "gen_ai.usage.input_tokens" // cached ones included
	cacheReadTokens  = "gen_ai.usage.cache_read.input_tokens"
	cacheWriteTokens = "gen_ai.usage.cache_write.input_tokens"
	outputTokens     = "gen_ai.usage.output_tokens"
	reasoningTokens  = "gen_ai.usage.reasoning.output_tokens"

	systemInstructions = "gen_ai.system_instructions" // texts of clients: only if asked for
	inputMessages      = "gen_ai.input.messages"
	outputMessages     = "gen_ai.output.messages"

	errorType     = "error.type"
	serverAddress = "server.address"
	serverPort    = "server.port"

	ownRequestID   = "ai_gateway.request_id"
	ownUpstreamID  = "ai_gateway.upstream_request_id"
	ownKeyID       = "ai_gateway.key_id"
	ownProvider    = "ai_gateway.provider" // name in the configuration
	ownOutcome     = "ai_gateway.outcome"
	ownAttempts    = "ai_gateway.attempts"
	ownCost        = "ai_gateway.cost_usd"
	ownCallOutcome = "ai_gateway.call_outcome"
)

// services maps names of presets to the names of their services in the conventions, if the
// two differ.
var services = map[string]string{"mistral": "mistral_ai", "xai": "x_ai"}
