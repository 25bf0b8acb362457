package core

// Concept is something that a request may ask for, in the words of no format. It
// is what the rows of readers and those of writers have in common.
type Concept uint8

const (
	// Nothing is the concept of fields that only one format has: no writer can
	// express them.
	Nothing Concept = iota

	// The options of a request. Of those that exclude each other, such as the
	// words of one field, each has a concept of its own.

	Model
	MaxTokens
	OlderMaxTokens // MaxTokens by another name
	Temperature
	TopP
	TopK
	PresencePenalty
	FrequencyPenalty
	Seed
	LogitBias
	Samples // how many answers to each prompt
	BestOf  // how many answers the Samples are chosen from
	Stops   // texts that end the answer
	Stream
	StreamUsage // a usage chunk at the end of the stream
	Logprobs
	TopLogprobs
	Echo   // the prompt in front of the answer
	Suffix // what follows the text to be filled in

	ToolChoiceAuto
	ToolChoiceRequired
	ToolChoiceNone
	ToolChoiceNamed
	ToolChoiceAllowed // some of the tools only
	ToolChoiceName    // of ToolChoiceNamed
	OneCallAtATime
	ParallelCalls

	FormatText
	FormatObject // a JSON object of any kind
	FormatSchema
	Schema // of FormatSchema
	SchemaName
	SchemaDescription
	SchemaStrict

	ReasoningOn
	ReasoningAdaptive
	ReasoningOff
	ReasoningBudget
	ReasoningShown  // what the assistant thinks is told, in short
	ReasoningHidden // it is not
	EffortNone
	EffortMinimal
	EffortLow
	EffortMedium
	EffortHigh
	EffortXHigh
	EffortMax
	EffortOther // a word that is none of these
	Verbosity
	Prediction

	EndUser
	SafetyIdentifier // the EndUser by another name
	TierAuto
	TierStandard
	TierFlex
	TierPriority
	TierOther
	Metadata // that the provider keeps with the answer
	CacheKey // which requests share a cache
	CacheOptions
	CacheRetention
	CacheRequest // a breakpoint of the cache behind the whole request

	optionCount // what stands below is no option

	// Options that are decided about in another way than on their own.

	NoMaxTokens // the answer is not bounded, where a format asks for a bound
	HighTemperature
	LongMaxTokens  // a MaxTokens beyond what the model gives
	ShortMaxTokens // a MaxTokens below what a format knows
	TopPBesideTemperature
	TemperatureBesideReasoning
	TopPBesideReasoning
	TopKBesideReasoning
	Prompts          // several, each of which is answered
	EmptyStop        // a stop without text
	TopLogprobsAlone // TopLogprobs without Logprobs
	LongEndUser      // an EndUser that is too long for the format
	TellingEndUser   // an EndUser of other bytes than letters, digits, "_" and "-"
	ToolChoiceWithoutTools
	UnusedTools // tools that must not be called

	// The conversation. Content is what every format can express: who says which
	// text.

	Content
	Conversation          // turns; a writer that joins them to one text keeps it, too
	SystemText            // what the system says in front of the conversation
	TurnText              // what is said in a turn
	EmptyTurn             // a turn that says nothing
	LateSystem            // system texts that do not stand in front
	SystemBehindAssistant // a LateSystem whose turn follows one of the assistant
	Prefill               // the assistant has the last word, which the provider goes on with
	TextBehindCall        // an assistant says something after it called a tool
	TextBeforeResult      // a user says something before the result of a tool
	Image
	ImageAddress
	ImageReference // to a file that the vendor keeps
	ImageDetail    // how closely an image is looked at
	RareImage      // of a media type that few formats have
	File           // a document in bytes
	FileAddress
	FileReference
	Document // any; the others say where it is
	TextDocument
	PartsDocument // a document that is made of texts and images
	Audio
	SearchResult
	Citations // a document that the answer shall cite
	ToolCall
	BrokenArguments // of a ToolCall: they are no object
	FreeCall        // the call of a tool that takes a free text
	ToolResult
	ErrorResult   // the tool failed
	ToolReference // a tool that a search for tools has found
	Reasoning
	UnsignedReasoning   // that nobody vouches for
	SelfSignedReasoning // that only this gateway has signed
	Signature           // of reasoning, by the provider
	RedactedReasoning   // that nobody but the provider can read
	EncryptedReasoning  // that a provider of the responses format has encrypted
	IdleReasoning       // that led to nothing: neither a text nor a call follows
	CachePart           // a breakpoint of the cache behind a part
	OtherCachePart      // CachePart by another name
	CachePartsBeyond    // more breakpoints than the format has
	CachePartTTL
	CacheAssistantPart
	CacheNestedPart
	CacheCall
	CacheResult
	CacheTool
	CacheToolsBeyond // CachePartsBeyond, on tools
	ItemReference    // to something that the provider keeps

	// Tools.

	FunctionTool
	FreeTool   // takes a free text
	FreeChoice // ToolChoiceNamed or ToolChoiceAllowed of a FreeTool
	Grammar    // that the text of a FreeTool follows
	VendorTool // defined by the vendor
	Namespace  // of a tool

	conceptCount
)
