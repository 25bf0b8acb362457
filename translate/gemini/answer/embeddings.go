package answer

import (
	"cmp"
	"errors"
	"slices"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// The members of an answer with embeddings.
var (
	embeddings        = members.New("")
	oneEmbedding      = embeddings.Maybe(members.Object, "embedding")
	manyEmbeddings    = embeddings.Maybe(members.Array, "embeddings")
	embeddingsUsage   = embeddings.Maybe(members.Object, "usageMetadata")
	embeddingTokens   = embeddings.Maybe(members.Any, "tokenCount") // in batches
	embeddingsFailure = embeddings.Maybe(members.Any, "error")
)

var errNoVectors = errors.New("no vectors")

// inspectEmbeddings reads an answer with embeddings, whose usage is often unknown.
func inspectEmbeddings(body []byte) (signal.Answer, *fault.Fault) {
	var v members.Values
	c := jsonscan.New(body)
	switch err := v.ReadDocument(&c, embeddings, nil); {
	case err != nil:
		return signal.Answer{}, fault.Unusable(err)
	case v.Set(embeddingsFailure):
		return signal.Answer{}, fault.ReadAnswer(body)
	case v.Raw(oneEmbedding) == nil && v.Raw(manyEmbeddings) == nil:
		return signal.Answer{}, fault.Unusable(errNoVectors)
	case v.Set(embeddingTokens):
		tokens := v.Cursor(embeddingTokens)
		return signal.Answer{Usage: token.Usage{Counts: token.Counts{Fresh: countAt(&tokens)}, Known: true}}, nil
	case v.Raw(embeddingsUsage) == nil:
		return signal.Answer{}, nil
	}
	var report token.Report
	usage := v.Cursor(embeddingsUsage)
	if report.Read(&usage, words.Usage); !report.Positive() {
		return signal.Answer{}, nil
	}
	return signal.Answer{Usage: report.Usage()}, nil
}

// AppendEmbeddings appends the answer to a request for embeddings that a provider of OpenAI's endpoint has
// answered. used is the usage of that answer.
func AppendEmbeddings(dst, answer []byte, op translate.Operation, used token.Usage) ([]byte, *fault.Fault) {
	vectors, ok := vectorsOf(answer)
	if !ok || len(vectors) == 0 || op == translate.Embed && len(vectors) > 1 {
		return nil, fault.Unusable(errNoVectors)
	}
	if op == translate.Embed {
		dst = append(append(append(dst, `{"embedding":{"values":`...), vectors[0]...), '}')
	} else {
		dst = append(dst, `{"embeddings":[`...)
		for i, vector := range vectors {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(append(append(dst, `{"values":`...), vector...), '}')
		}
		dst = append(dst, ']')
	}
	if used.Known {
		dst = append(jsonscan.AppendCount(dst, `,"usageMetadata":{"promptTokenCount":`, used.Input()), '}')
	}
	return append(dst, '}'), nil
}

// vectorsOf returns the raw vectors of an answer of OpenAI's endpoint, in the order of their inputs. ok is
// false for an answer that has none for an input.
func vectorsOf(answer []byte) (vectors [][]byte, ok bool) {
	type placed struct {
		index int
		raw   []byte
	}
	var all []placed
	c := jsonscan.Again(jsonscan.MemberOf(answer, "data"))
	for c.OpenArray(); c.Element(); {
		p := placed{index: len(all)}
		for c.OpenObject(); c.Member(); {
			switch isList := c.Kind() == jsonscan.Array; string(c.Name()) {
			case "index":
				p.index, _ = strconv.Atoi(string(c.Skip()))
			case "embedding":
				if raw := c.Skip(); isList {
					p.raw = raw
				}
			default:
				c.Skip()
			}
		}
		all = append(all, p)
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.index, b.index) })
	for i, p := range all {
		if p.index != i || p.raw == nil {
			return nil, false
		}
		vectors = append(vectors, p.raw)
	}
	return vectors, true
}
