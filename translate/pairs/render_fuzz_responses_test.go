package pairs_test

import (
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

func FuzzRequestResponsesToMessages(f *testing.F) { fuzzResponses(f, translate.Messages) }

func FuzzRequestResponsesToChat(f *testing.F) { fuzzResponses(f, translate.Chat) }

func FuzzRequestResponsesToCompletions(f *testing.F) { fuzzResponses(f, translate.Completions) }

func FuzzRequestCompletionsToResponses(f *testing.F) {
	completionSeeds(f)
	fuzzRender(f, translate.Completions, translate.Responses)
}

// fuzzResponses begins with the samples of all rows, and with requests that have every
// kind of object.
func fuzzResponses(f *testing.F, target translate.Format) {
	n := byte(0)
	for _, s := range responsesSamples {
		f.Add([]byte(s.body), n)
		n++
	}
	for i := range fuzzTraits {
		f.Add([]byte(fullOfItems(messageParts+","+reasonedItems+calledItems, `"type":"grammar","syntax":"lark","definition":"d"`)), byte(i))
	}
	fuzzRender(f, translate.Responses, target)
}
