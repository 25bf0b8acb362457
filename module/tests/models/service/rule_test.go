package service

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every rule refuses its example, for the first of its models, in its own words. The same request
// is accepted without the members of the example, or for another name if the rule is about the
// name.
func TestEachRuleRefuses(t *testing.T) {
	for i := range Rules {
		r := &Rules[i]
		for service := range strings.FieldsSeq(r.Services) {
			for format := range strings.FieldsSeq(formats[service]) {
				if r.Formats != "" && !slices.Contains(strings.Fields(r.Formats), format) {
					continue
				}
				t.Run(fmt.Sprint(r.ID, "/", i, "/", service, "/", format), func(t *testing.T) {
					q := New(service, Format(format), r.example(service), r.Example)
					require.Same(t, r, Refusal(q))
					accepted := New(service, Format(format), q.Model, nil)
					if r.When == "" {
						accepted.Model = "another"
					}
					assert.Nil(t, Refusal(accepted))

					answer := httptest.NewRecorder()
					r.refuse(answer, q)
					assert.Equal(t, r.status(), answer.Code)
					assert.Contains(t, texts(t, answer.Body.Bytes()), r.Sentence(q))
					assert.NotRegexp(t, `\{[a-z]+\}`, answer.Body.String(), "a part of the sentence is missing")
				})
			}
		}
	}
}

// example returns the name of a model of the rule, as the service names it.
func (r *Rule) example(service string) string {
	pattern, _, _ := strings.Cut(cmp.Or(r.Models, "any"), " ")
	name := strings.ReplaceAll(strings.TrimPrefix(pattern, "*"), "*", "1")
	if service == Bedrock && strings.HasPrefix(name, "claude") {
		name = "us.anthropic." + name
	}
	return name
}

// texts returns all texts in a JSON value, and the value within a message.
func texts(t *testing.T, raw []byte) (all []string) {
	var body any
	require.NoError(t, json.Unmarshal(raw, &body))
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			all = append(all, v, strings.TrimPrefix(v, "The model returned the following errors: "))
		case []any:
			for _, element := range v {
				walk(element)
			}
		case map[string]any:
			for _, member := range v {
				walk(member)
			}
		}
	}
	walk(body)
	return all
}

// noRule are the numbers of the list that are no refusals: members that models ignore, and the
// rules of Claude in another place.
var noRule = map[string]bool{"G8": true, "D2": true, "B4": true}

// The list and the table have the same numbers.
func TestEachRefusalOfTheListHasARule(t *testing.T) {
	list, err := os.ReadFile("../../../providers/models/README.md")
	require.NoError(t, err)
	listed, ruled := make(map[string]bool), make(map[string]bool)
	for _, row := range regexp.MustCompile(`(?m)^\| ([A-Z][0-9]+) \|`).FindAllSubmatch(list, -1) {
		if id := string(row[1]); !noRule[id] {
			listed[id] = true
		}
	}
	for _, r := range Rules {
		ruled[r.ID] = true
		assert.NotEmpty(t, r.Source, r.ID)
	}
	assert.Equal(t, listed, ruled)
}

// The services answer at their addresses, and refuse there.
func TestServicesAnswerAtTheirAddresses(t *testing.T) {
	s := Start(t)
	for path, body := range map[string]string{
		"/openai/v1/chat/completions":                    `{"model":"gpt-4.1","messages":[]}`,
		"/openai/v1/completions":                         `{"model":"gpt-3.5-turbo-instruct","prompt":"a"}`,
		"/azure/openai/v1/responses":                     `{"model":"gpt-4.1","input":"a"}`,
		"/anthropic/v1/messages":                         `{"model":"claude-sonnet-5-5"}`,
		"/gemini/v1beta/models/gemini-3:generateContent": `{}`,
		"/vertex/v1/projects/p/locations/global/publishers/google/models/gemini-3:generateContent":          `{}`,
		"/vertex/v1/projects/p/locations/global/publishers/anthropic/models/claude-sonnet-5-5@1:rawPredict": `{}`,
		"/bedrock/model/us.anthropic.claude-sonnet-5-5/invoke":                                              `{}`,
		"/bedrock/model/us.amazon.nova-pro-v1%3A0/converse":                                                 `{}`,
	} {
		response, err := http.Post(s.URL+path, "application/json", strings.NewReader(body))
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, http.StatusOK, response.StatusCode, path)
		q, rule := s.Last()
		require.NotNil(t, q, path)
		assert.Nil(t, rule)
		assert.NotEmpty(t, q.Model, path)
	}
	response, err := http.Post(s.URL+"/openai/v1/chat/completions", "application/json", strings.NewReader(`{"model":"o3","temperature":0.5}`))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, http.StatusBadRequest, response.StatusCode)
	_, rule := s.Last()
	assert.Equal(t, "O2", rule.ID)
}
