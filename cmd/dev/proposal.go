package main

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/models"
)

// listed is a model of a public list: prices for a million tokens, and lengths in tokens, 0 for what
// the list does not state.
type listed struct {
	provider, name                       string
	input, output, cacheRead, cacheWrite float64
	context, longest                     int64
}

// providersOf are the presets of the services in public lists.
var providersOf = map[string]string{
	"anthropic": "anthropic", "openai": "openai", "google": "gemini", "gemini": "gemini", "amazon-bedrock": "bedrock", "bedrock": "bedrock",
	"google-vertex": "vertex", "vertex_ai-language-models": "vertex", "azure": "azure", "xai": "xai", "mistral": "mistral", "deepseek": "deepseek",
	"groq": "groq", "togetherai": "together", "together_ai": "together", "openrouter": "openrouter", "cohere": "cohere", "voyage": "voyage",
	"moonshotai": "moonshot", "moonshot": "moonshot", "alibaba": "dashscope", "dashscope": "dashscope", "zai": "zai", "minimax": "minimax",
	"siliconflow": "siliconflow", "fireworks-ai": "fireworks", "fireworks_ai": "fireworks", "deepinfra": "deepinfra", "cerebras": "cerebras",
	"nvidia": "nvidia", "nvidia_nim": "nvidia",
}

// propose prints what a public list of models has and the tables have not, or have otherwise, as
// rows of a catalog file. Nothing is written to the tables: each row is to be compared with the page
// of the vendor. The list is a file in the form of models.dev (api.json) or of LiteLLM
// (model_prices_and_context_window.json).
func propose(path string, w io.Writer, today time.Time) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	list, err := readList(text)
	if err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	rows := csv.NewWriter(w)
	if err := rows.Write([]string{"provider", "models", "context", "longest", "input", "cache_read", "cache_write", "output", "as_of", "source", "note"}); err != nil {
		return err
	}
	for _, m := range list {
		if note := m.differs(today); note != "" {
			if err := rows.Write([]string{
				m.provider, m.name, tokens(m.context), tokens(m.longest), usd(m.input), usd(m.cacheRead), usd(m.cacheWrite), usd(m.output),
				today.Format(time.DateOnly), filepath.Base(path), note,
			}); err != nil {
				return err
			}
		}
	}
	rows.Flush()
	return rows.Error()
}

// differs returns how a listed model differs from the tables, "" if it does not.
func (m *listed) differs(today time.Time) string {
	facts, price := models.Builtin().Find(m.provider, m.name), prices.Builtin().Find(m.provider, m.name, today)
	switch {
	case facts == nil && price == nil:
		return "unknown model"
	case price == nil && m.input+m.output > 0:
		return "no price"
	case price != nil && (usd(m.input) != price.Base.Fresh.PerMillion() || usd(m.output) != price.Base.Answer.PerMillion()):
		return fmt.Sprintf("the table has input %s, output %s", price.Base.Fresh.PerMillion(), price.Base.Answer.PerMillion())
	case facts != nil && m.context > 0 && facts.Context() > 0 && m.context != facts.Context():
		return fmt.Sprintf("the table has context %d", facts.Context())
	case facts != nil && m.longest > 0 && facts.Longest() > 0 && m.longest != facts.Longest():
		return fmt.Sprintf("the table has longest %d", facts.Longest())
	}
	return ""
}

var errForm = errors.New("is no list of models.dev or LiteLLM")

// readList reads a public list, sorted by provider and name. Services without a preset are left out.
func readList(text []byte) (list []listed, err error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		var service struct {
			Models map[string]struct {
				Cost struct {
					Input, Output float64
					CacheRead     float64 `json:"cache_read"`
					CacheWrite    float64 `json:"cache_write"`
				}
				Limit struct{ Context, Output int64 }
			}
			LiteLLMProvider string  `json:"litellm_provider"`
			Input           float64 `json:"input_cost_per_token"`
			Output          float64 `json:"output_cost_per_token"`
			CacheRead       float64 `json:"cache_read_input_token_cost"`
			CacheWrite      float64 `json:"cache_creation_input_token_cost"`
			Context         any     `json:"max_input_tokens"`
			Longest         any     `json:"max_output_tokens"`
		}
		if json.Unmarshal(raw[name], &service) != nil {
			continue // the example of LiteLLM's list has texts for numbers
		}
		for id, m := range service.Models {
			list = append(list, listed{
				providersOf[name], id, m.Cost.Input, m.Cost.Output, m.Cost.CacheRead, m.Cost.CacheWrite, m.Limit.Context, m.Limit.Output,
			})
		}
		if service.LiteLLMProvider != "" {
			const million = 1_000_000
			list = append(list, listed{
				providersOf[service.LiteLLMProvider], name,
				service.Input * million, service.Output * million, service.CacheRead * million, service.CacheWrite * million,
				number(service.Context), number(service.Longest),
			})
		}
	}
	if len(list) == 0 {
		return nil, errForm
	}
	list = slices.DeleteFunc(list, func(m listed) bool { return m.provider == "" })
	slices.SortFunc(list, func(a, b listed) int { return cmp.Or(cmp.Compare(a.provider, b.provider), cmp.Compare(a.name, b.name)) })
	return list, nil
}

func number(value any) int64 {
	n, _ := value.(float64)
	return int64(n)
}

func tokens(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// usd returns a price with at most six decimals, as tables have them, "" for 0.
func usd(price float64) string {
	if price == 0 {
		return ""
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(price, 'f', 6, 64), 64)
	return strconv.FormatFloat(rounded, 'g', -1, 64)
}
