package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// chatRequest is a request with further members.
func chatRequest(more string) json.RawMessage {
	return json.RawMessage(`{"model":"m","messages":[{"role":"user","content":"hi"}]` + more + `}`)
}

func TestFindingsAreWhatIsLostWithoutAWord(t *testing.T) {
	for _, c := range []struct {
		path, more, finding string
	}{
		{"temperature", `,"temperature":1`, ""},                  // passed
		{"moderation", `,"moderation":{"model":"x"}`, ""},        // reported
		{"functions.*", `,"functions":[{"name":"f"}]`, ""},       // refused by its name
		{"stop=null", `,"stop":null`, ""},                        // the absence of a member
		{"max_tokens", `,"max_tokens":"x"`, refusedByFormat},     // of a wrong type
		{"stream=false", `,"stream":false`, silent},              // a default
		{"other", `,"moderation":{"model":"x"}`, unnamed},        // by the name of another one
		{"other", `,"functions":[{"name":"f"}]`, unnamed},        // the same
		{"moderation.policy", `,"moderation":{"policy":{}}`, ""}, // within a larger member
	} {
		s := sample{Format: "chat", Side: "request", Path: c.path, With: chatRequest(c.more), Without: chatRequest("")}
		found := s.findings()
		if c.finding == "" {
			assert.Empty(t, found, c.path)
			continue
		}
		require.NotEmpty(t, found, c.path)
		assert.Contains(t, found[0], "request chat "+c.path+": "+c.finding+": ")
	}
}

// A word of a vendor that is read as no word at all shows in no difference and in no report.
func TestAWordThatIsNotKnownIsAFinding(t *testing.T) {
	answer := func(category string) json.RawMessage {
		return json.RawMessage(`{"id":"x","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"words"}],"stop_reason":"` + category + `","usage":{"input_tokens":1,"output_tokens":1}}`)
	}
	s := sample{Format: "messages", Side: "answer", Path: "stop_reason=max_tokens", With: answer("max_tokens"), Without: answer("end_turn"), Other: answer("invented_word")}
	assert.Empty(t, s.findings())
	s.Path, s.With = "stop_reason=later_word", answer("later_word")
	assert.Contains(t, s.findings()[0], "stop_reason=later_word: "+unknown)
}

func TestJudgedLinesCoverFindings(t *testing.T) {
	findings := []string{"request chat n: lost", "request chat stream=false: lost: gemini", "answer gemini a.*.b: lost"}
	unjudged, unused := judge(findings, []byte("# a default\nrequest * stream=false: lost: *\n\nanswer gemini a.*: lost\nrequest chat stop: lost\n"))
	assert.Equal(t, []string{"request chat n: lost"}, unjudged)
	assert.Equal(t, []string{"request chat stop: lost"}, unused)
	assert.False(t, matches("ab*ba", "aba"))
	assert.True(t, matches("ab*b*a", "ab--b--a"))
	assert.False(t, matches("a*b*c", "ac"))
}
