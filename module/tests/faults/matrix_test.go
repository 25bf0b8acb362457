package faults_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// leastCases is how many cases the matrix has at least.
const leastCases = 400

// Every fault meets clients of every format, in the format of the provider and in
// another one, by JSON and as a stream, over HTTP/1.1 and HTTP/2. Each case has one
// status, one body, one outcome, one record, and as many calls of the provider as its
// fault allows; no case leaves a call, a connection or a goroutine behind.
func TestFaultMatrix(t *testing.T) {
	m := newMatrix(t)
	t.Run("case", func(t *testing.T) {
		for _, f := range faults {
			for _, c := range m.casesOf(f) {
				t.Run(c.String(), func(t *testing.T) {
					t.Parallel()
					m.run(t, c)
				})
			}
		}
	})
	assert.GreaterOrEqual(t, len(m.all), leastCases)
	t.Logf("%d faults, %d cases", len(faults), len(m.all))
	m.assertCalls(t)
	m.assertRecords(t)
	m.assertNothingLeft(t)
	assert.NotContains(t, m.site.Logs.String(), `"msg":"panic"`)
}

// faultCase is a fault that one client meets.
type faultCase struct {
	fault
	site.Lane
	http2     bool
	streaming bool
	id        string // in the prompt

	hasRead *gatewaytest.Gate // opens when the client has read content
	request string            // the id that the gateway gives
	outcome string            // that the record has
}

func (c *faultCase) String() string {
	kind, protocol := "JSON", "HTTP/1.1"
	if c.streaming {
		kind = "stream"
	}
	if c.http2 {
		protocol = "HTTP/2"
	}
	return strings.Join([]string{c.name, c.Lane.String(), kind, protocol}, ", ")
}

// failure returns the failure that the client gets, nil for none.
func (c *faultCase) failure() *site.ErrorAnswer {
	if !c.want.relayed || !c.IsBytes() {
		return c.want.failure
	}
	failure := *c.want.failure
	failure.MessagesStatus = 0
	return &failure
}

// call is a request that reaches the provider of a case.
type call struct {
	*gatewaytest.Call
	streaming bool
	hasRead   *gatewaytest.Gate // opens when the client has read content
	never     *gatewaytest.Gate // opens at the end of all cases
}

// matrix runs the cases in one gateway.
type matrix struct {
	site      *site.Site
	providers []*gatewaytest.Provider // HTTP/1.1, HTTP/2
	framed    []*gatewaytest.Framed
	never     *gatewaytest.Gate
	clients   map[bool]*http.Client // by HTTP/2

	mu  sync.Mutex // guards the fields below
	all map[string]*faultCase
}

func newMatrix(t *testing.T) *matrix {
	m := &matrix{
		providers: []*gatewaytest.Provider{gatewaytest.NewProvider(t), gatewaytest.NewTLSProvider(t)},
		never:     gatewaytest.NewGate(t),
		clients:   map[bool]*http.Client{false: site.NewClient(t, false), true: site.NewClient(t, true)},
		all:       make(map[string]*faultCase),
	}
	for _, p := range m.providers {
		p.Always(m.answer)
	}
	m.site = site.StartCaddyfile(t, "{\nservers {\nprotocols h1 h2c\n}\n}\n"+site.Block("", append(m.blocks(t), m.framedBlocks(t)...)...))
	t.Cleanup(func() {
		m.clients[false].CloseIdleConnections()
		m.clients[true].CloseIdleConnections()
	})
	return m
}

// blocks returns the providers of all kinds, a block for each protocol and format.
func (m *matrix) blocks(t *testing.T) (blocks []string) {
	closed := gatewaytest.RefusedAddress(t)
	trust := "transport http {\ntls_trust_pool inline {\ntrust_der " + base64.StdEncoding.EncodeToString(m.providers[1].Certificate()) + "\n}\n}\n"
	kinds := map[string][]string{
		"":          {m.providers[0].URL, ""},
		"hasty":     {m.providers[0].URL, "response_header_timeout 3s\nfirst_event_timeout 3s\n"},
		"idle":      {m.providers[0].URL, "idle_timeout 1s\n"},
		"narrow":    {m.providers[0].URL, "max_event_bytes 4KiB\n"},
		"refused":   {"http://" + closed, ""},
		"unnamed":   {"http://llm.invalid", "transport http {\nresolvers tcp/" + closed + "\n}\n"},
		"plain":     {strings.Replace(m.providers[0].URL, "http:", "https:", 1), ""},
		"untrusted": {m.providers[1].URL, ""},
	}
	for kind, k := range kinds {
		for _, http2 := range []bool{false, true} {
			address, lines := k[0], k[1]
			if http2 && address == m.providers[0].URL {
				address, lines = m.providers[1].URL, trust+lines
			}
			for _, path := range site.ClientPaths {
				name := providerName(kind, http2, path)
				blocks = append(blocks, fmt.Sprintf("provider %s vllm {\nbase_url %s/v1\nmodels %s\nusage_details keep\n%s\n%s}", name, address, name, formatLine(path), lines))
			}
		}
	}
	return blocks
}

// framedBlocks returns the providers that do not take a stream at first.
func (m *matrix) framedBlocks(t *testing.T) (blocks []string) {
	for kind, fate := range map[string]gatewaytest.Fate{"refusing": gatewaytest.Refuse, "leaving": gatewaytest.Leave} {
		for _, path := range site.ClientPaths {
			f := gatewaytest.NewFramed(t, []byte(answers[path]), firstTime(fate))
			m.framed = append(m.framed, f)
			name := providerName(kind, true, path)
			blocks = append(blocks, fmt.Sprintf("provider %s vllm {\nbase_url http://%s/v1\nmodels %s\nusage_details keep\n%s\ntransport http {\nversions h2c 2\n}\n}", name, f.Address, name, formatLine(path)))
		}
	}
	return blocks
}

// firstTime returns a fate for the first stream of each case; the second is taken.
func firstTime(fate gatewaytest.Fate) func(int, string) gatewaytest.Fate {
	seen := make(map[string]bool)
	return func(_ int, body string) gatewaytest.Fate {
		id := caseID.FindString(body)
		if seen[id] {
			return gatewaytest.Take
		}
		seen[id] = true
		return fate
	}
}

// formatLine returns the line that leaves a provider the format of an endpoint.
func formatLine(path string) string {
	i := slices.IndexFunc(site.ClientLanes, func(l site.Lane) bool { return l.Upstream == path })
	return site.ClientLanes[i].Format
}

func providerName(kind string, http2 bool, path string) string {
	return strings.Trim(strings.NewReplacer("/", "-", "{model}:", "").Replace(fmt.Sprint(kind, path, "-h2-", http2)), "-")
}

// casesOf returns the cases of a fault: each client format with a provider of the same
// format, and with one of another.
func (m *matrix) casesOf(f fault) (cases []*faultCase) {
	for i, lane := range m.lanes() {
		for _, http2 := range []bool{false, true} {
			for _, streaming := range []bool{false, true} {
				if f.excludes(lane, http2, streaming) {
					continue
				}
				c := &faultCase{
					fault: f, Lane: lane, http2: http2, streaming: streaming, outcome: outcomeOf(f),
					id: fmt.Sprintf("case-%d-%d-%t-%t;", len(m.all), i, http2, streaming),
				}
				m.all[c.id] = c
				cases = append(cases, c)
			}
		}
	}
	return cases
}

// excludes reports whether a request cannot meet the fault.
func (f fault) excludes(lane site.Lane, http2, streaming bool) bool {
	is := map[kind]bool{
		http1Only: !http2, http2Only: http2, jsonOnly: !streaming, streamOnly: streaming, translatedOnly: !lane.IsBytes(),
		endOnly: lane.Upstream != site.GeminiPath, laxOnly: lane.Path != site.GeminiPath || !lane.IsBytes(),
	}
	for kind, holds := range is {
		if f.only&kind != 0 && !holds {
			return true
		}
	}
	return false
}

func outcomeOf(f fault) string {
	switch {
	case f.want.failure == nil:
		return "answered"
	case f.want.cut:
		return "cut"
	}
	return "failed"
}

// lanes returns the byte lane of each format, and one translated lane.
func (m *matrix) lanes() (lanes []site.Lane) {
	for i, path := range site.ClientPaths {
		for _, lane := range site.ClientLanes {
			if lane.Path == path && (lane.IsBytes() || lane.Upstream == site.ClientPaths[(i+1)%len(site.ClientPaths)]) {
				lanes = append(lanes, lane)
			}
		}
	}
	return lanes
}

var caseID = regexp.MustCompile(`case-[0-9a-z-]+;`)

// answer carries out the fault of the case to which a request belongs.
func (m *matrix) answer(c *gatewaytest.Call) {
	body, _ := io.ReadAll(c.Request.Body) // the ledger's copy is whole
	c.Request.Body = io.NopCloser(strings.NewReader(string(body)))
	m.mu.Lock()
	cell := m.all[caseID.FindString(string(body))]
	m.mu.Unlock()
	cell.step(&call{c, cell.streaming, cell.hasRead, m.never})
}

func (m *matrix) run(t *testing.T, c *faultCase) {
	m.mu.Lock()
	c.hasRead = gatewaytest.NewGate(t)
	m.mu.Unlock()
	answer := m.ask(t, c)
	m.mu.Lock()
	c.request = answer.ID()
	m.mu.Unlock()
	failure := c.failure()
	switch {
	case failure == nil:
		assertWhole(t, c, answer)
	case c.want.cut:
		assertCut(t, c, answer, *failure)
	case c.want.or != nil && strings.Contains(answer.Body, c.want.or.Message):
		c.want.or.Assert(t, c.Path, answer)
	default:
		failure.Assert(t, c.Path, answer)
	}
	assert.NotContains(t, answer.Body, "127.0.0.1", "an address of the provider")
	assert.NotContains(t, answer.Body, "4711", "the words of the provider about its account")
}

// ask sends the request of a case, and reads the answer to its end.
func (m *matrix) ask(t *testing.T, c *faultCase) site.Reply {
	model := providerName(c.provider, c.http2, c.Upstream)
	ctx, cancel := context.WithTimeout(context.Background(), site.Patience)
	defer cancel()
	target, body := site.Addressed(c.Path, site.BodyFor(c.Path, model, "hello "+c.id, c.streaming))
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.site.URL("site", target), strings.NewReader(body))
	require.NoError(t, err)
	site.SetClientHeaders(request)
	response, err := m.clients[c.http2].Do(request)
	require.NoError(t, err)
	assert.Equal(t, c.http2, response.ProtoMajor == 2)
	response.Body = &opener{ReadCloser: response.Body, gate: c.hasRead}
	return site.ReadReply(response)
}

// opener opens a gate when content was read.
type opener struct {
	io.ReadCloser
	gate *gatewaytest.Gate
	read strings.Builder // until the gate is open

	opened bool
}

func (o *opener) Read(p []byte) (int, error) {
	n, err := o.ReadCloser.Read(p)
	if o.opened {
		return n, err
	}
	o.read.Write(p[:n])
	if strings.Contains(o.read.String(), `"Hi"`) { // with quotes: an id may contain the letters
		o.opened = true
		o.gate.Open()
	}
	return n, err
}

func assertWhole(t *testing.T, c *faultCase, answer site.Reply) {
	require.Equal(t, http.StatusOK, answer.Status, answer.Body)
	if !c.streaming {
		assert.NotEmpty(t, answer.Text(t, c.Path))
		return
	}
	read := answer.Read(t, c.Path)
	assert.True(t, read.Complete, answer.Body)
	assert.Nil(t, read.Failure)
	assert.NotEmpty(t, read.Text())
}

// assertCut checks a stream that has content, the event of the error, and nothing behind
// it.
func assertCut(t *testing.T, c *faultCase, answer site.Reply, failure site.ErrorAnswer) {
	require.Equal(t, http.StatusOK, answer.Status, answer.Body)
	if c.Path != site.GeminiPath { // whose stream breaks off behind the event
		require.NoError(t, answer.Err, "the body itself ends in order")
	}
	read := answer.Read(t, c.Path)
	assert.Equal(t, "Hi", read.Text())
	assert.False(t, read.Complete, "a stream that did not finish is shown as finished: %s", answer.Body)
	require.NotNil(t, read.Failure, answer.Body)
	assert.Equal(t, failure.Message, read.Failure.Message)
}

// assertCalls checks that the provider of each case was called as often as its fault
// allows: nobody pays twice, but for a connection that may have ended before the call.
func (m *matrix) assertCalls(t *testing.T) {
	calls := make(map[string]int)
	for _, p := range m.providers {
		for _, r := range p.Requests() {
			calls[caseID.FindString(string(r.Body))]++
		}
	}
	for _, f := range m.framed {
		taken, _ := f.Taken()
		for _, body := range taken {
			calls[caseID.FindString(body)]++
		}
	}
	for id, c := range m.all {
		if c.repeated && calls[id] == c.calls+1 {
			continue
		}
		assert.Equal(t, c.calls, calls[id], c.String())
	}
}

// assertRecords checks that each exchange has exactly one record, with the outcome that
// its client saw.
func (m *matrix) assertRecords(t *testing.T) {
	outcomes := make(map[string][]any)
	for _, entry := range m.site.Logs.Entries() {
		if id, _ := entry["request_id"].(string); entry["logger"] == site.Exchanges {
			outcomes[id] = append(outcomes[id], entry["outcome"])
		}
	}
	for _, c := range m.all {
		assert.Equal(t, []any{c.outcome}, outcomes[c.request], c.String())
	}
}

// assertNothingLeft checks that no provider is still being called: goroutines that
// outlive the tests fail the package.
func (m *matrix) assertNothingLeft(t *testing.T) {
	m.never.Open()
	for _, p := range m.providers {
		require.NoError(t, p.WaitSettled(site.Waiting(t)))
	}
}
