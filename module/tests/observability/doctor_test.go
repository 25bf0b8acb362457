package observability_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/doctor"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// quirk is a peculiarity of a provider of the chat format.
type quirk struct {
	name  string
	step  gatewaytest.Step
	lines []string // the lines that fix it
}

var quirks = []quirk{
	{"another name of max_tokens", refusing("max_tokens", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."), []string{"max_tokens_field max_completion_tokens"}},
	{"short answers", refusingIf(func(r map[string]any) bool { n, _ := r["max_tokens"].(float64); return n > 32 }, "max_tokens must be less than or equal to 32"), []string{"max_output_tokens 32"}},
	{"no usage in streams", refusing("stream_options", "Unrecognized request argument supplied: stream_options"), []string{"include_usage off", "estimate_input_tokens on"}},
	{"a developer instead of a system", refusingRole("system", "Unsupported value: 'messages[0].role' does not support 'system' with this model."), []string{"system_role developer"}},
	{"no sampling", refusing("temperature", "Unsupported parameter: 'temperature' is not supported with this model."), []string{"sampling none"}},
	{"streams without [DONE]", withoutDone, []string{"stream_end finish"}},
}

// A provider with a quirk breaks a probe of a messages client. The doctor names lines until
// no probe is broken, and these must be exactly the lines for the quirk.
func TestTheDoctorNamesTheLineThatMends(t *testing.T) {
	for _, q := range quirks {
		t.Run(q.name, func(t *testing.T) {
			p := gatewaytest.NewProvider(t)
			p.Always(q.step)
			var lines []string
			healthy := false
			for round := 0; round <= len(q.lines) && !healthy; round++ {
				t.Run(fmt.Sprint(len(lines), " lines"), func(t *testing.T) {
					results := examine(t, site.Start(t, provider(p, lines...)))
					healthy = doctor.Healthy(resultsOf("messages", results))
					lines = append(lines, adviceOf(t, results)...)
				})
			}
			assert.True(t, healthy)
			assert.Equal(t, q.lines, lines)
		})
	}
}

// A provider without a quirk passes all probes, in its own format and with translation. The
// number of requests must not exceed the documented bound.
func TestAHealthyModelIsHealthy(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, provider(p))
	results := examine(t, s)
	assert.True(t, doctor.Healthy(results), "%+v", results)
	for _, r := range results {
		assert.Equal(t, doctor.Works, r.State, "%+v", r)
	}
	assert.LessOrEqual(t, p.Count(), doctor.MostRequests)
}

// A feature that a model does not support is not broken. If a provider cannot be reached,
// the doctor stops after the first probe.
func TestWhatIsUnsupportedIsNotBroken(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	p.Always(refusingIf(func(r map[string]any) bool { return strings.Contains(text(r), "image_url") }, "this model takes no images"))
	s := site.Start(t, provider(p), site.Direct.ProviderAt("away", gatewaytest.RefusedAddress(t), "models away"))
	for _, r := range examine(t, s) {
		want := doctor.Works
		if r.Probe == "image" {
			want = doctor.Unsupported
		}
		assert.Equal(t, want, r.State, "%+v", r)
	}
	var away []doctor.Result
	doctor.Examine(t.Context(), gateway(s), doctor.Model{Name: "away"}, func(r doctor.Result) { away = append(away, r) })
	require.Len(t, away, len(doctor.Formats()), "one of each format")
	assert.Equal(t, doctor.Broken, away[0].State)
	assert.Equal(t, "base_url <the address of the provider>", away[0].Advice)
}

// Clients of the responses and completions formats were not tested, although a preset led
// the first to a server whose events their SDKs cannot read.
func TestTheDoctorIsAClientOfEveryFormat(t *testing.T) {
	var names []string
	for _, name := range formats.Names() {
		names = append(names, string(name))
	}
	assert.Equal(t, names, doctor.Formats())
}

// llama.cpp's server and Ollama answer an image for a model without eyes with 500: every
// such model was broken, without a line that mends it.
func TestAServerErrorThatNamesAMissingFeatureIsNotBroken(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	p.Always(func(c *gatewaytest.Call) {
		body, _ := io.ReadAll(c.Request.Body)
		c.Request.Body = io.NopCloser(bytes.NewReader(body))
		if bytes.Contains(body, []byte(`"image`)) {
			gatewaytest.Body(http.StatusInternalServerError, "application/json", []byte(`{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}`))(c)
			return
		}
		gatewaytest.Answer()(c)
	})
	results := examine(t, site.Start(t, site.Direct.Provider("p", p, "models m")))
	assert.True(t, doctor.Healthy(results), "%+v", results)
	for _, r := range results {
		assert.Equal(t, r.Probe == "image", r.State == doctor.Unsupported, "%+v", r)
	}
}

// A probe that a guard of the gateway blocks was once unsupported, as if the model lacked the feature.
func TestTheDoctorNamesTheGuardThatBlocks(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	results := examine(t, site.Start(t, "guard agents tools {\ndeny *\n}", provider(p)))
	assert.True(t, doctor.Healthy(results), "%+v", results)
	for _, r := range results {
		assert.Equal(t, r.Probe == "tools", r.State == doctor.Blocked, "%+v", r)
		if r.State == doctor.Blocked {
			assert.Equal(t, "blocked by the guard 'agents', rule 'deny'", r.Reason)
			assert.Empty(t, r.Advice)
		}
	}
}

// A responses client of llama.cpp's server gets its events as they are, and fails: the
// doctor did not look at them.
func TestTheDoctorFindsIncompleteEvents(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	p.Always(withoutIndexes)
	lines := []string{"models m", "format responses chat"}
	for _, healthy := range []bool{false, true} {
		t.Run(lines[1], func(t *testing.T) {
			results := resultsOf("responses", examine(t, site.Start(t, site.Direct.Provider("p", p, lines...))))
			assert.Equal(t, healthy, doctor.Healthy(results), "%+v", results)
			for _, r := range results {
				if r.State == doctor.Broken {
					assert.Equal(t, "stream", r.Probe)
					assert.Equal(t, "the events of the stream are incomplete: response.output_item.added has no output_index", r.Reason)
					lines[1] = r.Advice
				}
			}
		})
	}
}

func provider(p *gatewaytest.Provider, lines ...string) string {
	return site.Direct.Provider("p", p, append([]string{"models m", "format chat"}, lines...)...)
}

func gateway(s *site.Site) doctor.Gateway {
	return doctor.Gateway{URL: s.URL("site", ""), Key: site.ClientKey}
}

func examine(t *testing.T, s *site.Site) (results []doctor.Result) {
	t.Helper()
	models, err := gateway(s).Models(t.Context(), []string{"m"})
	require.NoError(t, err)
	doctor.Examine(t.Context(), gateway(s), models[0], func(r doctor.Result) { results = append(results, r) })
	return results
}

func resultsOf(format string, results []doctor.Result) (some []doctor.Result) {
	for _, r := range results {
		if r.Format == format {
			some = append(some, r)
		}
	}
	return some
}

// adviceOf returns the distinct lines for what is broken.
func adviceOf(t *testing.T, results []doctor.Result) (lines []string) {
	t.Helper()
	for _, r := range results {
		if r.State == doctor.Broken && r.Format == "messages" {
			require.NotEmpty(t, r.Advice, "%+v", r)
		}
		if r.Advice != "" && !contains(lines, r.Advice) {
			lines = append(lines, r.Advice)
		}
	}
	return lines
}

func contains(lines []string, line string) bool {
	return strings.Contains("\n"+strings.Join(lines, "\n")+"\n", "\n"+line+"\n")
}

// refusing answers 400 to requests with a member.
func refusing(member, message string) gatewaytest.Step {
	return refusingIf(func(r map[string]any) bool { return r[member] != nil }, message)
}

func refusingRole(role, message string) gatewaytest.Step {
	return refusingIf(func(r map[string]any) bool { return strings.Contains(text(r["messages"]), `"role":"`+role+`"`) }, message)
}

func text(value any) string {
	raw, _ := json.Marshal(value) // it was JSON
	return string(raw)
}

func refusingIf(refuses func(request map[string]any) bool, message string) gatewaytest.Step {
	return func(c *gatewaytest.Call) {
		body, _ := io.ReadAll(c.Request.Body) // the ledger's copy is whole
		c.Request.Body = io.NopCloser(bytes.NewReader(body))
		var request map[string]any
		_ = json.Unmarshal(body, &request)
		if refuses(request) {
			raw, _ := json.Marshal(map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error"}})
			gatewaytest.Body(http.StatusBadRequest, "application/json", raw)(c)
			return
		}
		gatewaytest.Answer()(c)
	}
}

// withoutDone lets the engine answer, and leaves the last event of streams out.
func withoutDone(c *gatewaytest.Call) {
	c.ResponseWriter = &silent{c.ResponseWriter, regexp.MustCompile(`data: \[DONE\]\n\n`)}
	gatewaytest.Answer()(c)
}

// withoutIndexes lets the engine answer, and leaves the indexes of items out.
func withoutIndexes(c *gatewaytest.Call) {
	c.ResponseWriter = &silent{c.ResponseWriter, regexp.MustCompile(`"output_index":\d+,`)}
	gatewaytest.Answer()(c)
}

// silent leaves parts of an answer out.
type silent struct {
	http.ResponseWriter
	about *regexp.Regexp
}

func (s *silent) Write(p []byte) (int, error) {
	_, err := s.ResponseWriter.Write(s.about.ReplaceAll(p, nil))
	return len(p), err
}

// Unwrap lets a ResponseController flush.
func (s *silent) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// The error of a translated request is in the words of the client's format. Only those of the
// messages format were known, so that clients of others got no line.
func TestTheDoctorKnowsTheSentencesOfAllFormats(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	p.Always(quirks[1].step) // short answers
	formats := make(map[string]bool)
	for _, r := range examine(t, site.Start(t, provider(p))) {
		if r.Format != "chat" { // whose requests are not translated
			assert.Equal(t, "max_output_tokens 32", r.Advice, "%+v", r)
			formats[r.Format] = true
		}
	}
	assert.Len(t, formats, 4, "messages, completions, responses and gemini")
}
