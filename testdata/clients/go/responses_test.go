package clients

import (
	"encoding/json"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// conversational are the formats that carry a whole conversation, with tools and
// reasoning.
var conversational = []string{"responses", "chat", "messages"}

func responding() responses.ResponseService {
	return responses.NewResponseService(
		option.WithBaseURL(gatewayURL+"/v1"), option.WithAPIKey(gatewayKey), option.WithMaxRetries(0))
}

// respond is a request to the provider that speaks this format alone.
func respond(format string, change func(*responses.ResponseNewParams), input ...responses.ResponseInputItemUnionParam) responses.ResponseNewParams {
	params := responses.ResponseNewParams{Model: format + "-only", Store: openai.Bool(false)}
	params.Input.OfInputItemList = input
	if change != nil {
		change(&params)
	}
	return params
}

func user(text string) responses.ResponseInputItemUnionParam {
	return responses.ResponseInputItemParamOfMessage(text, responses.EasyInputMessageRoleUser)
}

// responded reads a stream to its end as the vendor's accumulator does, which
// refuses events that contradict each other.
func responded(t *testing.T, params responses.ResponseNewParams) (*responses.Response, error) {
	t.Helper()
	service := responding()
	stream := service.NewStreaming(t.Context(), params)
	var all responses.ResponseAccumulator
	for stream.Next() {
		var event responses.ResponsesServerEventUnion
		require.NoError(t, json.Unmarshal([]byte(stream.Current().RawJSON()), &event))
		require.NoError(t, all.AddEvent(event), "%s", stream.Current().RawJSON())
	}
	if err := stream.Err(); err != nil {
		return nil, err
	}
	return all.ReconstructedResponse()
}

func withFunctions(p *responses.ResponseNewParams) {
	for _, name := range []string{"get_weather", "get_time"} {
		p.Tools = append(p.Tools, responses.ToolParamOfFunction(name, map[string]any{"type": "object", "properties": map[string]any{}}, false))
	}
	p.Tools = append(p.Tools, responses.ToolParamOfCustom("note"))
}

func withReasoning(p *responses.ResponseNewParams) {
	p.Reasoning = shared.ReasoningParam{Effort: "high", Summary: "auto"}
	p.Include = []responses.ResponseIncludable{"reasoning.encrypted_content"}
}

func TestResponsesStreamAccumulatesToTheJSONAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		prompt string
		change func(*responses.ResponseNewParams)
		status responses.ResponseStatus
		items  []string
	}{
		"text":        {"Compare a stream", nil, "completed", []string{"message"}},
		"reasoning":   {"About primes", withReasoning, "completed", []string{"reasoning", "message"}},
		"two calls":   {"call get_weather and call get_time", withFunctions, "completed", []string{"message", "function_call", "function_call"}},
		"custom call": {`[[tool note {"input":"one\ntwo"}]]`, withFunctions, "completed", []string{"message", "custom_tool_call"}},
		"a budget":    {"Tell a long story about a river and the sea", func(p *responses.ResponseNewParams) { p.MaxOutputTokens = openai.Int(16) }, "incomplete", []string{"message"}},
		"a filter":    {"[[filter]] Tell a story", nil, "incomplete", []string{"message"}},
	} {
		for _, format := range conversational {
			t.Run(name+"/"+format, func(t *testing.T) {
				service := responding()
				plain, err := service.New(t.Context(), respond(format, c.change, user(c.prompt)))
				require.NoError(t, err)
				streamed, err := responded(t, respond(format, c.change, user(c.prompt)))
				require.NoError(t, err)
				assert.Equal(t, c.items, types(plain))
				for _, answer := range []*responses.Response{plain, streamed} {
					assert.Equal(t, c.status, answer.Status)
					require.Equal(t, c.items, types(answer))
				}
				assert.Equal(t, plain.OutputText(), streamed.OutputText())
				assert.Equal(t, plain.Usage.TotalTokens, streamed.Usage.TotalTokens)
				assert.Equal(t, plain.Model, streamed.Model)
				for i, want := range plain.Output {
					got := streamed.Output[i]
					assert.Equal(t, want.Name, got.Name)
					assert.Equal(t, want.Arguments, got.Arguments)
					assert.Equal(t, want.Input, got.Input)
					assert.Equal(t, summary(want), summary(got))
				}
			})
		}
	}
}

// types returns the types of the items of an answer.
func types(answer *responses.Response) (list []string) {
	for _, item := range answer.Output {
		list = append(list, item.Type)
	}
	return list
}

func summary(item responses.ResponseOutputItemUnion) (text string) {
	for _, part := range item.Summary {
		text += part.Text
	}
	return text
}

// A later turn has the items of the turns before as they came.
func TestResponsesToolLoopComesBackToTheProvider(t *testing.T) {
	for _, format := range conversational {
		t.Run(format, func(t *testing.T) {
			change := func(p *responses.ResponseNewParams) { withFunctions(p); withReasoning(p) }
			input := []responses.ResponseInputItemUnionParam{user("call get_weather and call get_time")}
			first, err := responded(t, respond(format, change, input...))
			require.NoError(t, err)
			results := map[string]string{"get_weather": "sunny", "get_time": "noon"}
			for _, item := range first.Output {
				input = append(input, param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(item.RawJSON())))
			}
			for _, item := range first.Output {
				if item.Type == "function_call" {
					input = append(input, responses.ResponseInputItemParamOfFunctionCallOutput(results[item.Name]))
					input[len(input)-1].OfFunctionCallOutput.CallID = openai.String(item.CallID)
				}
			}
			service := responding()
			answer, err := service.New(t.Context(), respond(format, change, input...))
			require.NoError(t, err)
			assert.Contains(t, answer.OutputText(), `The tools answered: "sunny", "noon"`)
		})
	}
}

// A response that failed is a state of the response: a stream of this format has
// no error of its own.
func TestAResponseThatBreaksOffHasFailed(t *testing.T) {
	for _, format := range append(conversational, "completions") {
		for _, fault := range []string{"cut", "no-finish", "error-event"} {
			service := responding()
			stream := service.NewStreaming(t.Context(), respond(format, nil, user("[[fault:"+fault+"]] Tell a story that breaks off")))
			var last string
			for stream.Next() {
				last = stream.Current().Type
			}
			require.NoError(t, stream.Err(), "%s %s", format, fault)
			assert.Equal(t, "response.failed", last, "%s %s", format, fault)
		}
	}
}
