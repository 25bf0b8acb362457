package request

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// rows are the fields of completions requests, in the order in which faults are reported.
var rows = core.NewRows(strict.Brackets, slices.Concat(promptRows, boundRows, samplingRows, otherRows)...)

// fields are those that the strict pass checks.
var fields = rows.Fields()

var promptRows = []core.Row{
	core.Structural("model", core.Model).Is(strict.Model).Required(),
	core.Structural("prompt", core.Content).Is(checkPrompt).Required(),
	core.Structural(`prompt=["a","b"]`, core.Prompts),
	core.Structural(`prompt=""`, core.Nothing),
	core.Structural(`prompt=["a",""]`, core.Nothing).As("prompt[*]"),
	core.Structural("prompt=[0]", core.Nothing),
}

var boundRows = []core.Row{
	core.Structural("max_tokens", core.MaxTokens).Is(checkMaxTokens),
	core.Structural("max_tokens=0", core.Nothing),
	core.Structural("max_tokens=...", core.LongMaxTokens),
	core.Structural("max_tokens=1", core.ShortMaxTokens),
	core.Hint("max_tokens=null", core.NoMaxTokens),
}

var samplingRows = []core.Row{
	core.Shaping("temperature", core.Temperature).Is(strict.Number),
	core.Shaping("temperature=2", core.HighTemperature),
	core.Shaping("top_p", core.TopP).Is(strict.Number),
	core.Shaping("temperature+top_p", core.TopPBesideTemperature),
	core.Structural("n", core.Samples).Is(checkAnswers),
	core.Structural("n=0", core.Nothing),
	core.Structural("stream", core.Stream).Is(strict.Stream),
	core.Structural("stop", core.Stops).Is(strict.Stop),
	core.Structural(`stop=[""]`, core.EmptyStop).As("stop[*]"),
	core.Structural("suffix", core.Suffix).Is(strict.Text),
	core.Structural("echo", core.Echo).Is(strict.Flag),
	core.Member("stream_options").Is(strict.StreamOptions).OrNull(),
	core.Structural("stream_options.include_usage", core.StreamUsage),
	core.Hint("stream_options.include_obfuscation", core.Nothing),
	core.Hint("stream_options.*", core.Nothing),
	core.Structural("logprobs", core.Logprobs).Is(strict.Integer),
	core.Structural("echo+logprobs", core.Nothing),
	core.Structural("best_of", core.BestOf).Is(checkAnswers),
	core.Shaping("seed", core.Seed).Is(strict.Integer).OrNothing(),
}

var otherRows = slices.Concat([]core.Row{
	core.Shaping("top_k", core.TopK),
	core.Shaping("presence_penalty", core.PresencePenalty).OrNothing(),
	core.Shaping("frequency_penalty", core.FrequencyPenalty).OrNothing(),
	core.Shaping("logit_bias", core.LogitBias).OrNothing(),
}, parts.UserRows("user", core.EndUser), []core.Row{
	core.Hint("*", core.Nothing),
})

// The rows of decisions that the reader takes itself.
var (
	emptyPromptRow    = rows.Named(`prompt=""`)
	emptyElementRow   = rows.Named(`prompt=["a",""]`)
	tokensRow         = rows.Named("prompt=[0]")
	noTokensRow       = rows.Named("max_tokens=0")
	noSamplesRow      = rows.Named("n=0")
	echoedLogprobsRow = rows.Named("echo+logprobs")
)
