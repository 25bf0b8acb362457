package pairs

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// completionsChatFields and completionsMessagesFields are the fields of
// completions requests on their way to conversations (wire format B.8).
var (
	completionsChatFields     = slices.Concat(completionsTalk, completionsChatOptions)
	completionsMessagesFields = slices.Concat(completionsTalk, completionsMessagesOptions)
)

// completionsTalk are the fields that both conversations treat alike.
var completionsTalk = []Field{
	keep("model"),
	keep("prompt=one text"),
	keep("prompt=several texts", oneCall),
	refuse("prompt=tokens"),
	refuse("prompt=an empty text"),
	refuse("suffix", suffixInWords),
	keep("max_tokens"),
	keep("max_tokens=...", boundedAnswer),
	refuse("max_tokens=0 or less"),
	refuse("n=0 or less"),
	refuse("best_of=above n"),
	keep("stream"),
	keep("stream_options.include_usage"),
	hint("stream_options.include_obfuscation"),
	hint("stream_options.*"),
	keep("stop"),
	keep("echo"),
	keep("user", noUser),
	hint("*"),
}

var completionsChatOptions = []Field{
	keep("n=above 1"),
	keep("temperature", noSampling(translate.Chat)),
	keep("top_p", noSampling(translate.Chat), oneSampling(translate.Chat)),
	keep("logprobs"),
	refuse("logprobs=beside echo"),
	keep("presence_penalty"),
	keep("frequency_penalty"),
	keep("logit_bias"),
	keep("seed"),
}

var completionsMessagesOptions = []Field{
	hint("max_tokens=absent"),
	shape("user=other than letters, digits, _ and -", noUser),
	keep("n=above 1", oneCall),
	keep("temperature", noSampling(translate.Messages)),
	shape("temperature=above 1"),
	keep("top_p", noSampling(translate.Messages), oneSampling(translate.Messages)),
	keep("top_k", noSampling(translate.Messages)),
	as("stop[*]", refuse("stop=an empty text")),
	refuse("logprobs"),
	shape("presence_penalty"),
	shape("frequency_penalty"),
	shape("logit_bias"),
	shape("seed"),
}
