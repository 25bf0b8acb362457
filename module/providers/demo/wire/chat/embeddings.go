package chat

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"math"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
)

// embeddings is the endpoint for vectors of texts. Equal texts have equal vectors, which mean
// nothing else.
var embeddings = wire.Endpoint{Path: "/v1/embeddings", Methods: []string{http.MethodPost}, Compute: embed}

// dimensions is the default length of a vector.
const dimensions = 8

type embedding struct {
	Object    string `json:"object"`
	Index     int    `json:"index"`
	Embedding any    `json:"embedding"`
}

func embed(body *wire.Body, _ reply.Seed) any {
	o := body.Object
	o.Known("model", "input", "encoding_format", "dimensions", "user")
	model := o.Need("model")
	length := min(o.Integer("dimensions", 1, dimensions), 4096)
	encoded := o.OneOf("encoding_format", "float", "base64") == "base64"
	inputs := []json.RawMessage{o.Raw("input")}
	if raw := inputs[0]; raw == nil {
		o.Missing("input")
	} else if raw[0] == '[' {
		inputs = o.Items("input")
	}
	data, tokens := []embedding{}, 0
	for i, input := range inputs {
		e := embedding{Object: "embedding", Index: i, Embedding: vector(input, length)}
		if encoded {
			raw, _ := binary.Append(nil, binary.LittleEndian, vector(input, length)) // numbers
			e.Embedding = base64.StdEncoding.EncodeToString(raw)
		}
		data, tokens = append(data, e), tokens+len(input)/4+1
	}
	return map[string]any{
		"object": "list", "data": data, "model": model, "usage": map[string]int{"prompt_tokens": tokens, "total_tokens": tokens},
	}
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
