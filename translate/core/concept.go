package core

// Concept is something that a request may ask for, independent of any format. The
// tables of readers and writers are joined by their concepts.
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
	ReasoningShown  // the answer contains a summary of the reasoning
	ReasoningHidden // the answer contains no reasoning
	EffortNone
	EffortMinimal
	EffortLow
	EffortMedium
	EffortHigh
	EffortXHigh
	EffortMax
	EffortOther // any other word
	Verbosity
	Images      // the answer may have images beside texts
	ImagesAlone // the answer is to be images
	Prediction

	EndUser
	SafetyIdentifier // the EndUser by another name
	TierAuto
	TierStandard
	TierFlex
	TierPriority
	TierScale
	TierUltrafast
	TierOther
	Metadata // that the provider keeps with the answer
	CacheKey // which requests share a cache
	CacheOptions
	CacheRetention
	CacheRequest       // a breakpoint of the cache behind the whole request
	Moderation         // that the provider rates the texts
	BlockingModeration // a Moderation by which the provider withholds texts

	optionCount // the concepts below are not options

	// Cases of options that have outcomes of their own.

	NoMaxTokens // the answer is not bounded, where a format asks for a bound
	HighTemperature
	LongMaxTokens  // a MaxTokens beyond what the model gives
	ShortMaxTokens // a MaxTokens below what a format knows
	TopPBesideTemperature
	TemperatureBesideReasoning
	TopPBesideReasoning
	TopKBesideReasoning
	LogprobsBesideReasoning
	Prompts          // several, each of which is answered
	EmptyStop        // a stop without text
	TopLogprobsAlone // TopLogprobs without Logprobs
	LongEndUser      // an EndUser that is too long for the format
	TellingEndUser   // an EndUser of other bytes than letters, digits, "_" and "-"
	ToolChoiceWithoutTools
	UnusedTools // tools that must not be called

	// The conversation. Content is what every format can express: texts and the roles
	// of their turns.

	Content
	Conversation          // turns; a writer that joins them to one text keeps it, too
	SystemText            // a system text in front of the conversation
	TurnText              // a text of a turn
	EmptyTurn             // a turn without content
	LateSystem            // a system text after other turns
	SystemBehindAssistant // a LateSystem whose turn follows one of the assistant
	Prefill               // a last turn of the assistant, which the provider continues
	PrefillSpace          // white space at the end of a Prefill
	TextBehindCall        // a text of the assistant behind the call of a tool
	TextBeforeResult      // a text of the user before the result of a tool
	Image
	ImageAddress
	ImageReference // to a file that the vendor keeps
	ImageDetail    // the resolution at which the model sees an image
	RareImage      // of a media type that few formats have
	File           // a document in bytes: a PDF
	OfficeFile     // a File of an office program
	RareFile       // an OfficeFile that few formats have
	FileAddress
	FileReference
	Document // any document; the concepts around this one are its kinds
	TextDocument
	PartsDocument    // a document that consists of texts and images
	Sound            // in bytes
	RareSound        // of a media type that few formats have
	Video            // in bytes
	RareVideo        // of a media type that few formats have
	RecordingAddress // of a Sound or a Video
	SearchResult
	Citations // a document that the answer is asked to cite
	ToolCall
	BrokenArguments // of a ToolCall: the arguments are not an object
	FreeCall        // the call of a tool that takes a free text
	ToolResult
	ErrorResult   // the tool failed
	ToolReference // a tool that a search for tools has found
	Reasoning
	UnsignedReasoning   // without a signature
	SelfSignedReasoning // that only this gateway has signed
	Signature           // of reasoning, by the provider
	CallSignature       // of a ToolCall, by the provider
	RedactedReasoning   // that only the provider can read
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
	ToolSchema // of the arguments of a FunctionTool
	ToolStrict // the arguments must follow the ToolSchema
	FreeTool   // takes a free text
	FreeChoice // ToolChoiceNamed or ToolChoiceAllowed of a FreeTool
	Grammar    // that the text of a FreeTool follows
	VendorTool // defined by the vendor
	Namespace  // of a tool

	conceptCount
)
