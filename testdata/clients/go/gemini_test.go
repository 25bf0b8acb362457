package clients

import (
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"
)

// geminiModels has a model of a provider of each format. The client is typed: what is not of the
// type of its member is an error of the whole answer.
var geminiModels = []string{"messages-only", "chat-only", "responses-only", "google-only"}

func googling(t *testing.T, url, key string) *genai.Client {
	t.Helper()
	client, err := genai.NewClient(t.Context(), &genai.ClientConfig{
		Backend: genai.BackendGeminiAPI, APIKey: key, HTTPOptions: genai.HTTPOptions{BaseURL: url},
	})
	require.NoError(t, err)
	return client
}

// joined reads a stream to its end, and returns its texts and its last answer.
func joined(stream iter.Seq2[*genai.GenerateContentResponse, error]) (text string, parts []*genai.Part, last *genai.GenerateContentResponse, err error) {
	for answer, err := range stream {
		if err != nil {
			return text, parts, last, err
		}
		last = answer
		if len(answer.Candidates) == 0 || answer.Candidates[0].Content == nil {
			continue
		}
		parts = append(parts, answer.Candidates[0].Content.Parts...)
		text += answer.Text()
	}
	return text, parts, last, nil
}

func TestGeminiTurnsWithParallelCalls(t *testing.T) {
	client := googling(t, gatewayURL, gatewayKey)
	config := &genai.GenerateContentConfig{
		Tools:          []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "get_weather"}, {Name: "get_time"}}}},
		ThinkingConfig: &genai.ThinkingConfig{IncludeThoughts: true},
	}
	for _, model := range geminiModels {
		t.Run(model, func(t *testing.T) {
			asked := genai.NewContentFromText(`[[think]] [[tool get_weather {"n":12345678901234567}]] [[tool get_time {}]]`, genai.RoleUser)
			_, parts, last, err := joined(client.Models.GenerateContentStream(t.Context(), model, []*genai.Content{asked}, config))
			require.NoError(t, err)
			require.NotNil(t, last.UsageMetadata)
			assert.Positive(t, last.UsageMetadata.TotalTokenCount)
			results := &genai.Content{Role: genai.RoleUser}
			for _, part := range parts {
				if call := part.FunctionCall; call != nil {
					results.Parts = append(results.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: call.ID, Name: call.Name, Response: map[string]any{"output": "it is " + call.Name}}})
				}
			}
			require.Len(t, results.Parts, 2)
			text, _, last, err := joined(client.Models.GenerateContentStream(t.Context(), model, []*genai.Content{asked, {Role: genai.RoleModel, Parts: parts}, results}, config))
			require.NoError(t, err)
			assert.Contains(t, text, "The tools answered: ")
			assert.Contains(t, text, "it is get_time")
			assert.Equal(t, genai.FinishReasonStop, last.Candidates[0].FinishReason)
		})
	}
}

func TestY035GoReadsAnAnswerForWhichItHadToWait(t *testing.T) {
	client := googling(t, strings.Replace(gatewayURL, "127.0.0.1", "localhost", 1), gatewayKey)
	text, _, _, err := joined(client.Models.GenerateContentStream(t.Context(), "gemini-any", genai.Text("[[fault:slow-headers=300ms]] Say hello to the gateway"), nil))
	require.NoError(t, err)
	assert.Contains(t, text, "hello to the gateway")
}

func TestY036GoFailsIfAStreamFailed(t *testing.T) {
	text, _, _, err := joined(googling(t, gatewayURL, gatewayKey).Models.GenerateContentStream(t.Context(), "chat-only", genai.Text("[[fault:error-event]] Tell a story that fails"), nil))
	var failure genai.APIError
	require.ErrorAs(t, err, &failure)
	assert.GreaterOrEqual(t, failure.Code, 500)
	assert.NotEmpty(t, text, "the text before the failure arrived")
}

func TestGeminiModelsCountsAndErrors(t *testing.T) {
	client := googling(t, gatewayURL, gatewayKey)
	counted, err := client.Models.CountTokens(t.Context(), "messages-only", genai.Text("Say hello"), nil)
	require.NoError(t, err)
	assert.Positive(t, counted.TotalTokens)
	model, err := client.Models.Get(t.Context(), "listed-small", nil)
	require.NoError(t, err)
	assert.Equal(t, "models/listed-small", model.Name)

	for key, status := range map[string]int{"wrong": 401, gatewayKey: 404} {
		_, err := googling(t, gatewayURL, key).Models.GenerateContent(t.Context(), "no-such-model", genai.Text("Hi"), nil)
		var failure genai.APIError
		require.ErrorAs(t, err, &failure)
		assert.Equal(t, status, failure.Code)
	}
}
