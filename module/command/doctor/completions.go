package doctor

import "encoding/json"

// completions is the format of POST /v1/completions. Many models have no answers in it.
var completions = format{
	name: "completions", path: "/v1/completions", optional: true,
	limit:      "max_tokens",
	changes:    changes{streaming: chat.changes.streaming},
	parse:      parseTextCompletion,
	parseEvent: parseChunk,
}

func parseTextCompletion(body []byte) (a answer, err error) {
	var c struct {
		Choices []struct {
			Text   string
			Reason string `json:"finish_reason"`
		}
		Usage any
	}
	if json.Unmarshal(body, &c) != nil || len(c.Choices) == 0 {
		return a, errNoAnswer
	}
	a.text, a.cut = c.Choices[0].Text, c.Choices[0].Reason == "length"
	a.usage = counts(c.Usage, "prompt_tokens", "completion_tokens")
	return a, nil
}
