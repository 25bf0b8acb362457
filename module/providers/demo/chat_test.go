package demo_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

func quote(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func TestChoicesDifferAndAreNumberedByPromptAndSample(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		body := `{"model":"m1","prompt":["first","second"],"n":2,"echo":true`
		for _, answer := range []*client.Completion{
			c.completion(completionsPath, body+`}`),
			c.completion(completionsPath, body+`,"stream":true}`),
		} {
			require.Len(t, answer.Choices, 4)
			for i, begin := range []string{"first", "first", "second", "second"} {
				assert.Equal(t, i, answer.Choices[i].Index)
				assert.True(t, strings.HasPrefix(answer.Choices[i].Text, begin+"This"), answer.Choices[i].Text)
			}
			assert.Contains(t, answer.Choices[2].Text, "Choice 1 of 2.")
			assert.Contains(t, answer.Choices[3].Text, "Choice 2 of 2.")
		}
		chat := c.completion(chatPath, ask(chatPath, "hi", `,"n":3,"stream":true`))
		require.Len(t, chat.Choices, 3)
		assert.Equal(t, "assistant", chat.Choices[2].Message.Role)
		assert.Contains(t, chat.Choices[2].Text, "Choice 3 of 3.")
	})
}

func TestTheFourFormsOfAPromptAreRead(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		for prompt, choices := range map[string]int{
			`"text"`: 1, `["a","b"]`: 2, `[1,2,3]`: 1, `[[1,2],[3]]`: 2,
		} {
			answer := c.completion(completionsPath, `{"model":"m1","prompt":`+prompt+`}`)
			assert.Len(t, answer.Choices, choices, prompt)
		}
	})
}

func TestLegacyLogprobsRunOnFromTheEndOfThePrompt(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		type arrays struct {
			Tokens        []string   `json:"tokens"`
			TokenLogprobs []*float64 `json:"token_logprobs"`
			TextOffset    []int      `json:"text_offset"`
		}
		read := func(more string) (a arrays) {
			answer := c.completion(completionsPath, ask(completionsPath, "héllo", `,"max_tokens":2,"logprobs":1`+more))
			require.NoError(t, json.Unmarshal(answer.Choices[0].Logprobs, &a))
			return a
		}
		plain := read("")
		assert.Equal(t, []string{"This", " is"}, plain.Tokens)
		assert.Equal(t, []int{5, 9}, plain.TextOffset)
	})
}

func TestChatLogprobsCoverEveryToken(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		answer := c.completion(chatPath, ask(chatPath, "hi", `,"logprobs":true,"top_logprobs":1,"max_tokens":2`))
		var l struct {
			Content []struct {
				Token string           `json:"token"`
				Bytes []int            `json:"bytes"`
				Top   []map[string]any `json:"top_logprobs"`
			} `json:"content"`
		}
		require.NoError(t, json.Unmarshal(answer.Choices[0].Logprobs, &l))
		require.Len(t, l.Content, 2)
		assert.Equal(t, "This", l.Content[0].Token)
		assert.Len(t, l.Content[0].Bytes, 4)
		assert.Len(t, l.Content[0].Top, 1)
	})
}
