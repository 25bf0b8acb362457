package pairs_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

// known are the names of the formats of clients, and spoken those of providers.
var (
	known  = formats.Names()
	spoken = namesOf(formats.OfProviders())
)

func namesOf(all []*format.Descriptor) (names []translate.Format) {
	for _, d := range all {
		names = append(names, d.Name)
	}
	return names
}

// way is the way of a request, from a client's format to a provider's, or of an
// answer, from a provider's format to a client's.
type way struct{ from, to translate.Format }

// requestWays are all ways of requests, and ways those of answers. Both follow from
// the registered formats, so that no test leaves a new format out.
var (
	requestWays = waysWhere(func(w way) bool { return pairs.CanTranslate(w.from, w.to) })
	ways        = waysWhere(func(w way) bool { return w.from != w.to && formats.Of(w.to).Answers.NewEmitter != nil })
)

func waysWhere(exists func(way) bool) (all []way) {
	for _, from := range spoken {
		for _, to := range spoken {
			if w := (way{from, to}); exists(w) {
				all = append(all, w)
			}
		}
	}
	return all
}

// The ways of answers that tests of single cases take.
var (
	chatToMessages         = way{translate.Chat, translate.Messages}
	chatToCompletions      = way{translate.Chat, translate.Completions}
	chatToResponses        = way{translate.Chat, translate.Responses}
	messagesToChat         = way{translate.Messages, translate.Chat}
	messagesToCompletions  = way{translate.Messages, translate.Completions}
	messagesToResponses    = way{translate.Messages, translate.Responses}
	completionsToMessages  = way{translate.Completions, translate.Messages}
	completionsToChat      = way{translate.Completions, translate.Chat}
	completionsToResponses = way{translate.Completions, translate.Responses}
	responsesToMessages    = way{translate.Responses, translate.Messages}
	responsesToChat        = way{translate.Responses, translate.Chat}
	responsesToCompletions = way{translate.Responses, translate.Completions}
	geminiToMessages       = way{translate.Gemini, translate.Messages}
	geminiToChat           = way{translate.Gemini, translate.Chat}
	geminiToCompletions    = way{translate.Gemini, translate.Completions}
	geminiToResponses      = way{translate.Gemini, translate.Responses}
	converseToMessages     = way{translate.Converse, translate.Messages}
	converseToChat         = way{translate.Converse, translate.Chat}
	converseToCompletions  = way{translate.Converse, translate.Completions}
	converseToResponses    = way{translate.Converse, translate.Responses}
)

func (w way) name() string { return string(w.from) + " to " + string(w.to) }

func waysFrom(provider translate.Format) []way {
	return slices.DeleteFunc(slices.Clone(ways), func(w way) bool { return w.from != provider })
}

// client is how the clients of a format read streams.
type client struct {
	// added adds up a stream. If asked is set, the client has asked for the usage.
	added func(stream []byte, asked bool) (translatetest.Object, error)
	// ends are texts that only a finished stream contains.
	ends []string
}

var clients = map[translate.Format]client{
	translate.Messages:    {addedMessage, []string{"event: message_stop", "event: message_delta"}},
	translate.Chat:        {translatetest.Chat, []string{"[DONE]"}},
	translate.Completions: {translatetest.Completion, []string{"[DONE]"}},
	translate.Responses: {
		func(stream []byte, _ bool) (translatetest.Object, error) { return translatetest.Response(stream) },
		[]string{"event: response.completed", "event: response.incomplete"},
	},
	translate.Gemini: {
		func(stream []byte, _ bool) (translatetest.Object, error) { return translatetest.Generated(stream) },
		[]string{`"finishReason"`},
	},
}

func addedMessage(stream []byte, _ bool) (translatetest.Object, error) {
	answer, err := translatetest.Message(stream)
	if err != nil {
		return nil, err
	}
	return translatetest.Settled(answer), nil
}

// added adds up a stream of the client's format.
func (w way) added(stream string, asked bool) (translatetest.Object, error) {
	c, known := clients[w.to]
	if !known {
		return nil, fmt.Errorf("clients has no format %q", w.to)
	}
	return c.added([]byte(stream), asked)
}

// The pairs of formats were once listed by hand, so that all tests of translated
// answers passed without one answer of a new format.
func TestEveryFormatIsTested(t *testing.T) {
	for _, name := range known {
		assert.Contains(t, clients, name)
		assert.Contains(t, sampled, name)
		assert.NotEmpty(t, waysFrom(name))
	}
}
