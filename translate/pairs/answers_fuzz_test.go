package pairs_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// fuzzWay feeds two kinds of streams: the bytes as they are, and a stream that is
// composed from them, which gets further: each byte chooses a step, so that mutations
// reorder, repeat and leave out steps.
func fuzzWay(f *testing.F, w way) {
	for _, r := range everyStream(f) {
		if r.format == w.source {
			f.Add(r.bytes, uint64(1))
		}
	}
	random := rand.New(rand.NewPCG(7, 8))
	for range 20 {
		f.Add(randomSteps(random), uint64(random.Uint32()))
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		for _, stream := range [][]byte{data, compose(w, data)} {
			requireInvariants(t, w, stream, seed)
		}
	})
}

// requireInvariants requires of any stream whatever: that both forms of the
// answer agree, that the streamed one follows the laws of its format, and that
// the chunks in which it came do not matter.
func requireInvariants(t *testing.T, w way, data []byte, seed uint64) {
	for _, enforce := range [][]string{nil, {"\n", "☂"}} {
		streaming, whole := w.remembered(true), w.remembered(false)
		streaming.Cuts.Enforced, whole.Cuts.Enforced = enforce, enforce
		streaming.Cuts.LeadingSpace, whole.Cuts.LeadingSpace = seed%5 == 0, seed%5 == 0
		streaming.Logprobs.Asked, whole.Logprobs.Asked = seed%2 == 0, seed%2 == 0
		stream := translated(w, streaming, [][]byte{data}, seed%3 > 0)
		answer := translated(w, whole, [][]byte{data}, seed%3 > 0)
		requireAgreement(t, w, stream, answer)

		random := rand.New(rand.NewPCG(seed, 0))
		repeated := translated(w, streaming, split(data, func() int { return 1 + random.IntN(50) }), seed%3 > 0)
		require.Equal(t, stream.out, repeated.out)
		require.Equal(t, stream.signals, repeated.signals)
	}
}

func FuzzAnswerChatToMessages(f *testing.F) { fuzzWay(f, chatToMessages) }

func FuzzAnswerChatToCompletions(f *testing.F) { fuzzWay(f, chatToCompletions) }

func FuzzAnswerMessagesToCompletions(f *testing.F) { fuzzWay(f, messagesToCompletions) }

func FuzzAnswerCompletionsToMessages(f *testing.F) { fuzzWay(f, completionsToMessages) }

func FuzzAnswerMessagesToChat(f *testing.F) { fuzzWay(f, messagesToChat) }

func FuzzAnswerCompletionsToChat(f *testing.F) { fuzzWay(f, completionsToChat) }

func FuzzAnswerResponsesToMessages(f *testing.F) { fuzzWay(f, responsesToMessages) }

func FuzzAnswerResponsesToChat(f *testing.F) { fuzzWay(f, responsesToChat) }

func FuzzAnswerResponsesToCompletions(f *testing.F) { fuzzWay(f, responsesToCompletions) }

func FuzzAnswerMessagesToResponses(f *testing.F) { fuzzWay(f, messagesToResponses) }

func FuzzAnswerChatToResponses(f *testing.F) { fuzzWay(f, chatToResponses) }

func FuzzAnswerCompletionsToResponses(f *testing.F) { fuzzWay(f, completionsToResponses) }

func FuzzAnswerGeminiToMessages(f *testing.F) { fuzzWay(f, geminiToMessages) }

func FuzzAnswerGeminiToChat(f *testing.F) { fuzzWay(f, geminiToChat) }

func FuzzAnswerGeminiToCompletions(f *testing.F) { fuzzWay(f, geminiToCompletions) }

func FuzzAnswerGeminiToResponses(f *testing.F) { fuzzWay(f, geminiToResponses) }

func FuzzAnswerConverseToMessages(f *testing.F) { fuzzWay(f, converseToMessages) }

func FuzzAnswerConverseToChat(f *testing.F) { fuzzWay(f, converseToChat) }

func FuzzAnswerConverseToCompletions(f *testing.F) { fuzzWay(f, converseToCompletions) }

func FuzzAnswerConverseToResponses(f *testing.F) { fuzzWay(f, converseToResponses) }
