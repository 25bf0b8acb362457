package usage_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math/big"
	mathrand "math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// unitCall is an exchange that is charged for units, or for tokens of several prices.
type unitCall struct {
	kind, model             string
	path, body, contentType string // of the request
	answerType, answer      string
	charged                 map[string]int64 // by the column of the price
}

// unitKind is a kind of such exchanges. A further kind is one more row.
type unitKind struct {
	price  price
	script func(g *generator, c *unitCall)
}

const (
	imagesPath, transcriptPath = "/v1/images/generations", "/v1/audio/transcriptions"
	jsonType                   = "application/json"
)

var (
	painter  = price{"painter", "input 5 cache_read 1.25 output 10 image_input 8 image_cache_read 2 image_output 30"}
	listener = price{"listener", "minute 0.006"}
	sorter   = price{"sorter", "input 0 output 0 search 0.002"}
)

// unitKinds are the kinds by the beginnings of the names of their models.
var unitKinds = map[string]unitKind{
	"number":    {price{"number", "image 0.04"}, (*generator).images},
	"painter":   {painter, (*generator).paint},
	"gemini":    {painter, (*generator).paintInGemini},
	"speaker":   {price{"speaker", "characters 15"}, (*generator).speak},
	"stated":    {listener, (*generator).statedLength},
	"header":    {listener, (*generator).lengthOfHeader},
	"subtitles": {listener, (*generator).lengthOfSubtitles},
	"units":     {sorter, (*generator).statedUnits},
	"query":     {sorter, (*generator).query},
	"vectors":   {price{"vectors", "input 0.13 output 0"}, (*generator).vectors},
}

func (g *generator) images(c *unitCall) {
	n := g.IntN(5) // none if a filter has taken all of them
	c.path, c.body = imagesPath, encoded(object{"model": c.model, "prompt": "p", "n": max(1, n) + g.IntN(3)})
	c.answer = encoded(object{"data": slices.Repeat([]any{object{"url": "u"}}, n)})
	c.charged["image"] = int64(n)
}

// tokensOfImages charges random tokens of texts and images.
func (g *generator) tokensOfImages(c *unitCall) {
	for _, column := range []string{"input", "image_input", "cache_read", "image_cache_read", "output", "image_output"} {
		c.charged[column] = g.Int64N(2) * g.Int64N(9000)
	}
	c.charged["image_input"]++
}

func (g *generator) paint(c *unitCall) {
	g.tokensOfImages(c)
	n, output := c.charged, object{}
	if g.IntN(3) == 0 { // as earlier versions of the service: all of the output is an image
		n["image_output"], n["output"] = n["image_output"]+n["output"], 0
	} else {
		output["output_tokens_details"] = object{"text_tokens": n["output"], "image_tokens": n["image_output"]}
	}
	output["input_tokens"], output["output_tokens"] = n["input"]+n["image_input"]+n["cache_read"]+n["image_cache_read"], n["output"]+n["image_output"]
	output["input_tokens_details"] = object{
		"text_tokens": n["input"] + n["cache_read"], "image_tokens": n["image_input"] + n["image_cache_read"], "cached_tokens": n["cache_read"] + n["image_cache_read"],
		"cached_tokens_details": object{"text_tokens": n["cache_read"], "image_tokens": n["image_cache_read"]},
	}
	stream := g.IntN(2) == 0
	c.path, c.body = imagesPath, encoded(object{"model": c.model, "prompt": "p", "stream": stream})
	if c.answer = encoded(object{"data": []any{object{"b64_json": "AAAA"}}, "usage": output}); stream {
		c.answerType, c.answer = "text/event-stream", event{"", object{"type": "image_generation.completed", "b64_json": "AAAA", "usage": output}}.String()
		if g.IntN(2) == 0 { // each event has the usage of its own image
			for column := range n {
				n[column] *= 2
			}
			c.answer += c.answer
		}
	}
}

func (g *generator) paintInGemini(c *unitCall) {
	g.tokensOfImages(c)
	n, stream := c.charged, g.IntN(2) == 0
	list := func(text, image int64) []any {
		return []any{object{"modality": "TEXT", "tokenCount": text}, object{"modality": "IMAGE", "tokenCount": image}}
	}
	n["output"]++
	c.path = pick(g, site.MessagesPath, site.ChatPath, site.ResponsesPath, site.GeminiPath)
	c.body = site.BodyFor(c.path, c.model, "hello", stream)
	c.answer = encoded(object{
		"candidates": []any{object{"content": object{"role": "model", "parts": []any{object{"text": "a"}}}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": object{
			"promptTokenCount":        n["input"] + n["image_input"] + n["cache_read"] + n["image_cache_read"],
			"cachedContentTokenCount": n["cache_read"] + n["image_cache_read"], "candidatesTokenCount": n["output"] + n["image_output"],
			"promptTokensDetails":     list(n["input"]+n["cache_read"], n["image_input"]+n["image_cache_read"]),
			"cacheTokensDetails":      list(n["cache_read"], n["image_cache_read"]),
			"candidatesTokensDetails": list(n["output"], n["image_output"]),
		},
	})
	if stream {
		c.answerType, c.answer = "text/event-stream", "data: "+c.answer+"\n\n"
	}
}

func (g *generator) speak(c *unitCall) {
	text := strings.Repeat(pick(g, "word ", "敏捷的", "é\""), 1+g.IntN(200))
	c.path, c.body = "/v1/audio/speech", encoded(object{"model": c.model, "input": text, "voice": "v"})
	c.answerType, c.answer = "audio/mpeg", "ID3"
	c.charged["characters"] = int64(utf8.RuneCountInString(text))
}

func (g *generator) statedLength(c *unitCall) {
	c.charged["second"] = 1 + g.Int64N(9000)
	c.record("xxxx")
	c.answer = encoded(object{"text": "a", "usage": object{"type": "duration", "seconds": c.charged["second"]}})
}

func (g *generator) lengthOfHeader(c *unitCall) {
	const rate = 8000 // bytes a second
	c.charged["second"] = 1 + g.Int64N(20)
	size := uint32(c.charged["second"]*rate) - uint32(g.IntN(rate))
	header := append(binary.LittleEndian.AppendUint32([]byte("RIFF"), size+36), "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data"...)
	c.record(string(binary.LittleEndian.AppendUint32(header, size)) + strings.Repeat("x", int(size)))
	c.answerType, c.answer = "text/plain", "hello"
}

func (g *generator) lengthOfSubtitles(c *unitCall) {
	end := 1 + g.IntN(59_000) // milliseconds
	c.charged["second"] = int64(end+999) / 1000
	c.record("xxxx")
	c.answerType, c.answer = "text/vtt", fmt.Sprintf("WEBVTT\n\n00:00.000 --> 00:%02d.%03d\nhi\n", end/1000, end%1000)
}

// record makes the request that of a transcript of a file.
func (c *unitCall) record(file string) {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	_ = w.WriteField("model", c.model)
	part, _ := w.CreateFormFile("file", "a.wav")
	_, _ = io.WriteString(part, file)
	_ = w.Close()
	c.path, c.body, c.contentType = transcriptPath, body.String(), w.FormDataContentType()
}

func (g *generator) statedUnits(c *unitCall) {
	c.query(1 + g.IntN(9))
	c.charged["search"] = 1 + g.Int64N(5)
	c.answer = encoded(pick(g, object{"results": []any{}, "meta": object{"billed_units": object{"search_units": c.charged["search"]}}},
		object{"results": []any{}, "usage": object{"rerank_units": c.charged["search"]}}))
}

func (g *generator) query(c *unitCall) {
	n := 1 + g.IntN(300)
	c.query(n)
	c.charged["search"] = 1
	c.answer = pick(g, `{"results":[]}`, `[]`, `{"results":[],"usage":{"total_tokens":5}}`)
}

// query makes the request a rerank of a number of documents.
func (c *unitCall) query(documents int) {
	c.path, c.body = "/v1/rerank", encoded(object{"model": c.model, "query": "q", "documents": slices.Repeat([]any{"a"}, documents)})
}

func (g *generator) vectors(c *unitCall) {
	c.charged["input"] = 1 + g.Int64N(9000)
	c.path, c.body = "/v1/embeddings", encoded(object{"model": c.model, "input": "a"})
	c.answer = encoded(object{"data": []any{object{"embedding": []any{0.5}, "index": 0}}, "usage": object{"prompt_tokens": c.charged["input"], "total_tokens": c.charged["input"]}})
}

// nanos returns what the provider charges.
func (c *unitCall) nanos() *big.Rat {
	sum, kindPrice := new(big.Rat), unitKinds[c.kind].price
	for column, count := range c.charged {
		rate := kindPrice.column(column)
		switch column {
		case "image", "search":
			rate = new(big.Rat).Mul(rate, big.NewRat(1e9, 1))
		case "second":
			rate = new(big.Rat).Mul(kindPrice.column("minute"), big.NewRat(1e9, 60))
		default: // for a million
			rate = new(big.Rat).Mul(rate, big.NewRat(1000, 1))
		}
		sum.Add(sum, rate.Mul(rate, big.NewRat(count, 1)))
	}
	return sum
}

// What images, speech, transcripts and reranks are charged for was compared with no truth but that
// of single examples, and calls from before a price could not be corrected. Of each kind, half of
// the calls have a price later.
func TestTheLedgerHasWhatIsChargedBesideText(t *testing.T) {
	g := &generator{Rand: mathrand.New(mathrand.NewPCG(seed, seed))}
	var calls []*unitCall
	for _, kind := range slices.Repeat(slices.Sorted(maps.Keys(unitKinds)), 16) {
		c := &unitCall{kind: kind, answerType: jsonType, charged: make(map[string]int64), contentType: jsonType}
		c.model = fmt.Sprintf("%s-%s-x%05d", kind, pick(g, "now", "later"), len(calls))
		unitKinds[kind].script(g, c)
		calls = append(calls, c)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		number, _ := strconv.Atoi(numbered.FindStringSubmatch(r.URL.Path + string(body))[1])
		w.Header().Set("Content-Type", calls[number].answerType)
		_, _ = io.WriteString(w, calls[number].answer)
	}))
	t.Cleanup(server.Close)
	store := withLedger(t)
	lines := func(models string) []string {
		var up, gemini strings.Builder
		up.WriteString("provider up openai_compatible {env.CLIENT_KEY} {\nbase_url " + server.URL + "/v1\nmodels *-x*\n")
		gemini.WriteString("provider gem gemini {env.CLIENT_KEY} {\nbase_url " + server.URL + "\nmodels gemini-*\n")
		for kind, of := range unitKinds {
			provider := &up
			if kind == "gemini" {
				provider = &gemini
			}
			provider.WriteString("price " + kind + "-" + models + " " + of.price.columns + "\n")
		}
		return append(slices.Clone(store), gemini.String()+"}", up.String()+"}")
	}
	s := site.Start(t, lines("now-*")...)
	for _, c := range calls {
		reply := s.Ask(c.path, c.body, "Content-Type", c.contentType)
		require.Equal(t, http.StatusOK, reply.Status, "%s: %s", c.model, reply.Body)
	}
	compareUnits(t, s, calls, "later")
	require.NoError(t, s.Reload(site.Block("", lines("*")...)))
	site.RunCommand(t, "ai-gateway usage reprice --address "+strings.TrimPrefix(s.AdminURL(""), "http://"))
	compareUnits(t, s, calls, "none")
}

// compareUnits compares the records of all calls with what the provider charges. Those of models
// with a word in their names have no price yet.
func compareUnits(t *testing.T, s *site.Site, calls []*unitCall, unpriced string) {
	records := recordsOf(t, s, len(calls))
	for _, c := range calls {
		recorded := records[c.model].Calls[0]
		if strings.Contains(c.model, unpriced) {
			assert.Equal(t, "unknown", recorded.CostSource, c.model)
			continue
		}
		difference := new(big.Rat).Sub(c.nanos(), big.NewRat(recorded.Cost, 1))
		assert.LessOrEqual(t, difference.Abs(difference).Cmp(big.NewRat(1, 1)), 0, "%s: %d of %s nanos for %v", c.model, recorded.Cost, c.nanos().FloatString(3), c.charged)
		assert.Equal(t, "price", recorded.CostSource, c.model)
	}
}
