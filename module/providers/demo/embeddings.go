package demo

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"math"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// dimensions is the default length of a vector.
const dimensions = 8

type embedding struct {
	Object    string `json:"object"`
	Index     int    `json:"index"`
	Embedding any    `json:"embedding"`
}

// embed answers with vectors of texts. Equal texts have equal vectors, which mean nothing else.
func (x *exchange) embed() {
	form, body := x.route.format, x.body
	view, refused := form.Requests.Inspect(body, x.route.op)
	if translated := form.Embeddings.Request; refused == nil && translated != nil {
		body, _, refused = translated(nil, body, &core.RequestInfo{Upstream: x.route.model})
	}
	if refused != nil {
		x.refuse(refused)
		return
	}
	asked := struct {
		Input      json.RawMessage
		Encoding   string `json:"encoding_format"`
		Dimensions int
	}{Dimensions: dimensions}
	if err := json.Unmarshal(body, &asked); err != nil || asked.Dimensions < 1 {
		x.refuse(fault.InvalidField("dimensions", "must be an integer of at least 1"))
		return
	}
	inputs := []json.RawMessage{asked.Input}
	if !jsonscan.IsString(asked.Input) {
		_ = json.Unmarshal(asked.Input, &inputs) // any other value is one input
	}
	data, tokens := []embedding{}, 0
	for i, input := range inputs {
		v := vector(input, min(asked.Dimensions, 4096))
		e := embedding{Object: "embedding", Index: i, Embedding: v}
		if asked.Encoding == "base64" {
			raw, _ := binary.Append(nil, binary.LittleEndian, v) // numbers
			e.Embedding = base64.StdEncoding.EncodeToString(raw)
		}
		data, tokens = append(data, e), tokens+len(input)/4+1
	}
	answer := reply.Encode(map[string]any{
		"object": "list", "data": data, "model": view.Model, "usage": map[string]int{"prompt_tokens": tokens, "total_tokens": tokens},
	})
	if translated := form.Embeddings.Answer; translated != nil {
		answer, _ = translated(nil, answer, x.route.op, token.Usage{}) // it is valid
	}
	x.writeJSON(http.StatusOK, answer)
}

// vector returns the vector of an input, of length 1.
func vector(input []byte, length int) []float32 {
	v, sum := make([]float32, length), 0.0
	h := fnv.New32a()
	_, _ = h.Write(input)
	for i := range v {
		_, _ = h.Write([]byte{byte(i)})
		v[i] = float32(h.Sum32())/math.MaxUint32 - 0.5
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(max(math.Sqrt(sum), 1e-9))
	}
	return v
}
