package usage_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math/big"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// cloudPrice is the price of all services that state no cost.
var cloudPrice = price{"cloud", "input 2 cache_read 0.2 cache_write 2.5 cache_write_1h 4 output 10 search 0.014 flex 0.5 priority 1.8 regional 1.1"}

// service is a service with whole answers of its own form. A further service is one more row.
type service struct {
	provider string // the lines of its block, without the address and the price
	path     string // below the address
	model    string // the beginning of the names of its models
	format   string // the endpoint whose writer writes its answers
	frames   bool   // its streams are those of AWS
	converse bool
	regional bool
	stated   string // the member of the usage that states the cost, "" for none
	claim    func(g *generator, u *usage, extra object)
}

const reserved = "reserved"

// services are the services by the names of their providers.
var services = map[string]service{
	"gem": {provider: "gemini {env.CLIENT_KEY}", model: "gemini-", format: site.GeminiPath, claim: func(g *generator, u *usage, extra object) {
		if u.tier = pick(g, "", "flex", "priority"); u.tier != "" {
			extra["serviceTier"] = u.tier
		}
	}},
	"vxg": {provider: "vertex {file.ACCOUNT}", model: "google-", format: site.GeminiPath, regional: true, claim: func(g *generator, u *usage, extra object) {
		u.tier = pick(g, "", "flex", "priority", reserved)
		extra["trafficType"] = map[string]string{"": "ON_DEMAND", "flex": "ON_DEMAND_FLEX", "priority": "ON_DEMAND_PRIORITY", reserved: "PROVISIONED_THROUGHPUT"}[u.tier]
	}},
	"vxc": {provider: "vertex {file.ACCOUNT}", model: "claude-v", format: site.MessagesPath, regional: true, claim: cacheWrites},
	"inv": {provider: "bedrock {env.CLIENT_KEY}", model: "anthropic.claude-", format: site.MessagesPath, frames: true, claim: cacheWrites},
	"con": {provider: "bedrock {env.CLIENT_KEY}", model: "amazon.nova-", format: site.MessagesPath, frames: true, converse: true, claim: func(g *generator, u *usage, extra object) {
		u.cacheWrite, u.cacheWriteLong = g.Int64N(2)*g.Int64N(900), g.Int64N(2)*g.Int64N(500)
		u.tier = pick(g, "", "flex", "priority", reserved)
	}},
	"azu": {provider: "azure {env.CLIENT_KEY}", path: "/openai/v1", model: "gpt-", format: site.ChatPath, claim: func(*generator, *usage, object) {}},
	"orp": {provider: "openrouter {env.CLIENT_KEY}", path: "/api/v1", model: "any/", format: site.ChatPath, stated: "cost", claim: func(*generator, *usage, object) {}},
	"xai": {provider: "xai {env.CLIENT_KEY}", path: "/v1", model: "grok-4.3-", format: site.ResponsesPath, stated: "cost_in_usd_ticks", claim: func(g *generator, u *usage, _ object) { u.searches = g.Int64N(4) }},
}

func cacheWrites(g *generator, u *usage, _ object) {
	u.cacheWrite, u.cacheWriteLong, u.searches = g.Int64N(2)*g.Int64N(900), g.Int64N(2)*g.Int64N(500), g.Int64N(3)
}

// cloudCall is an exchange with a service.
type cloudCall struct {
	service        string
	model          string
	path           string // the endpoint of the client
	stream         bool
	claim          usage
	extra          object // members of the usage
	grounding      object // nil for none
	stated, absurd bool
	nanos          int64 // stated
	modelVersion   string
}

// In a comparison with a scripted provider of the native formats, searches, tiers, regions and
// stated costs were missing in 5 of 32 kinds of answers.
func TestTheLedgerHasWhatCloudsCharge(t *testing.T) {
	g := &generator{Rand: mathrand.New(mathrand.NewPCG(seed, seed))}
	calls := make([]*cloudCall, 600)
	for i := range calls {
		calls[i] = g.cloudCall(i)
	}
	c := &clouds{t: t, calls: calls}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	s := site.Start(t, c.configuration(server.URL, t.TempDir())...)
	work := make(chan *cloudCall, len(calls))
	for _, call := range calls {
		work <- call
	}
	close(work)
	var running sync.WaitGroup
	for range clients {
		running.Go(func() {
			for call := range work {
				reply := s.Ask(call.path, site.BodyFor(call.path, call.model, "hello", call.stream))
				assert.Equal(t, http.StatusOK, reply.Status, "%s %s: %s", call.service, call.path, reply.Body)
			}
		})
	}
	running.Wait()
	records := recordsOf(t, s, len(calls))
	wrong := 0
	for _, call := range calls {
		if problem := call.problem(records[call.model]); problem != "" {
			if wrong++; wrong <= 10 {
				t.Errorf("%s %s stream=%v, %+v %+v: %s", call.service, call.path, call.stream, call.claim, call.grounding, problem)
			}
		}
	}
}

// cloudCall returns a random exchange.
func (g *generator) cloudCall(i int) *cloudCall {
	names := []string{"gem", "vxg", "vxc", "inv", "con", "azu", "orp", "xai"}
	call := &cloudCall{service: names[i%len(names)], stream: g.IntN(2) == 0, extra: object{}, modelVersion: "x"}
	cloud := services[call.service]
	call.model = fmt.Sprintf("%sx%05d", cloud.model, i)
	call.path = pick(g, site.MessagesPath, site.ChatPath, site.ResponsesPath, site.GeminiPath)
	u := &call.claim
	u.input, u.output, u.cacheRead = 1+g.Int64N(30_000), 1+g.Int64N(4000), g.Int64N(2)*g.Int64N(20_000)
	if cloud.format == site.GeminiPath {
		u.reasoning = g.Int64N(2) * g.Int64N(u.output)
		g.ground(call)
	}
	cloud.claim(g, u, call.extra)
	switch call.nanos = g.Int64N(2_000_000_000); {
	case cloud.stated == "":
	case g.IntN(8) == 0:
		call.absurd, call.extra[cloud.stated] = true, pick[any](g, -1, 1e300, "NaN")
	case cloud.stated == "cost":
		call.stated, call.extra[cloud.stated] = true, json.RawMessage(new(big.Rat).SetFrac64(call.nanos, 1e9).FloatString(9))
	default:
		call.stated, call.extra[cloud.stated] = true, call.nanos*10
	}
	return call
}

// ground lets the model search, and says so in one of the ways of the format.
func (g *generator) ground(call *cloudCall) {
	queries := []any{}
	for i := range g.IntN(4) {
		queries = append(queries, fmt.Sprint("query ", i))
	}
	n := int64(len(queries))
	if call.modelVersion = pick(g, "gemini-3.1-pro-preview", "gemini-2.5-flash"); call.modelVersion == "gemini-2.5-flash" {
		n = min(n, 1)
	}
	call.grounding = object{"webSearchQueries": append(queries, "")}
	if g.IntN(4) == 0 {
		n = g.Int64N(5)
		call.extra["billedToolCalls"] = []any{object{"tool": "GOOGLE_SEARCH", "successfulToolCallCount": n}, object{"tool": "URL_CONTEXT", "successfulToolCallCount": 3}}
	}
	call.claim.searches = n
}

// problem returns what is wrong with the record of the exchange, "" for nothing.
func (c *cloudCall) problem(r record) string {
	if len(r.Calls) != 1 {
		return fmt.Sprintf("%d calls, %s", len(r.Calls), r.Outcome)
	}
	recorded, cloud := r.Calls[0], services[c.service]
	costing, truth := "price", new(big.Rat)
	switch {
	case c.stated:
		costing, truth = "provider", big.NewRat(c.nanos, 1)
	case c.absurd && c.service == "orp":
		costing = "unknown"
	case c.absurd: // the price of the table counts, which the next case does not know
		if recorded.CostSource != "price" || recorded.Source != "partial" {
			return recorded.CostSource + " from " + recorded.Source
		}
		return ""
	default:
		u := c.claim
		if u.tier == reserved {
			u = usage{searches: u.searches}
		}
		truth.Mul(cloudPrice.cost(u), big.NewRat(1000, 1))
		if cloud.regional {
			truth.Mul(truth, cloudPrice.column("regional"))
		}
	}
	missing := new(big.Rat).Sub(truth, big.NewRat(recorded.Cost, 1))
	if recorded.CostSource != costing || missing.Abs(missing).Cmp(big.NewRat(1, 1)) > 0 {
		return fmt.Sprintf("%d nanos by %s of %s by %s", recorded.Cost, recorded.CostSource, truth.FloatString(3), costing)
	}
	return ""
}

// clouds is the server of all services.
type clouds struct {
	t     testing.TB
	calls []*cloudCall
}

// configuration returns the lines of a site with all services.
func (c *clouds) configuration(address, dir string) []string {
	lines := []string{"store sqlite " + dir + "/gateway.db", "ledger {\njournal " + dir + "/journal\n}"}
	for name, of := range services {
		block := "provider " + name + " " + strings.Replace(of.provider, "ACCOUNT", c.account(address, dir), 1) + " {\nbase_url " + address + "/" + name + of.path + "\nmodels " + of.model + "*\n"
		if of.stated == "" {
			block += "price * " + cloudPrice.columns + "\n"
		}
		switch {
		case strings.HasPrefix(of.provider, "vertex"):
			block += "project p\nlocation us-east5\n"
		case strings.HasPrefix(of.provider, "bedrock"):
			block += "region us-east-1\n"
		}
		if name == "vxg" {
			block += "format gemini\n"
		}
		lines = append(lines, block+"}")
	}
	return lines
}

// account writes the file of a service account whose tokens the server gives.
func (c *clouds) account(address, dir string) string {
	path := filepath.Join(dir, "account.json")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(c.t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(c.t, err)
	account := encoded(object{"type": "service_account", "project_id": "p", "client_email": "a@p.example", "client_id": "1", "private_key_id": "k",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": address + "/token"})
	require.NoError(c.t, os.WriteFile(path, []byte(account), 0o600))
	return path
}

var numbered = regexp.MustCompile(`x(\d{5})`)

// ServeHTTP answers a call as its script says.
func (c *clouds) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if r.URL.Path == "/token" {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token":"t","expires_in":3599,"token_type":"Bearer"}`)
		return
	}
	match := numbered.FindStringSubmatch(r.URL.Path + string(body))
	if !assert.NotNil(c.t, match, r.URL.Path) {
		return
	}
	number, _ := strconv.Atoi(match[1])
	call := c.calls[number]
	cloud := services[call.service]
	format := writers[cloud.format]
	for _, path := range []string{site.MessagesPath, site.ChatPath, site.ResponsesPath} {
		if strings.HasSuffix(r.URL.Path, strings.TrimPrefix(path, "/v1")) { // of services with several formats
			format = writers[path]
		}
	}
	parts := []part{{text, []string{"some ", "text"}}}
	switch {
	case cloud.converse:
		call.writeConverse(w)
	case !call.stream:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, encoded(call.completed(format.answer(parts, &call.claim))))
	case cloud.frames:
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
		for _, e := range call.events(format, parts) {
			_, _ = w.Write(framed("chunk", encoded(object{"bytes": base64.StdEncoding.EncodeToString([]byte(encoded(e.data)))})))
		}
	default:
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range call.events(format, parts) {
			_, _ = io.WriteString(w, e.String())
		}
	}
}

// events returns the events of a stream.
func (c *cloudCall) events(format writer, parts []part) []event {
	events := slices.Concat(format.begin(&c.claim), format.deltas(0, parts[0]), format.end(parts, &c.claim))
	for i := range events {
		if data, ok := events[i].data.(object); ok {
			c.completed(data)
		}
	}
	return events
}

// completed adds what the service states about its charge to an answer or an event.
func (c *cloudCall) completed(answer object) object {
	for _, outer := range []any{answer, answer["response"], answer["message"]} {
		outer, _ := outer.(object)
		for _, name := range []string{"usage", "usageMetadata"} {
			if counts, ok := outer[name].(object); ok {
				maps.Copy(counts, c.extra)
			}
		}
	}
	if candidates := list(answer["candidates"]); candidates != nil {
		answer["modelVersion"] = c.modelVersion
		if c.grounding != nil {
			candidates[0]["groundingMetadata"] = c.grounding // in each event, as the service may do
		}
	}
	return answer
}

// writeConverse writes an answer of Converse.
func (c *cloudCall) writeConverse(w http.ResponseWriter) {
	u := &c.claim
	end := object{"usage": object{
		"inputTokens": u.input, "outputTokens": u.output, "totalTokens": u.prompt() + u.output, "cacheReadInputTokens": u.cacheRead, "cacheWriteInputTokens": u.cacheWrite + u.cacheWriteLong,
		"cacheDetails": []any{object{"ttl": "5m", "inputTokens": u.cacheWrite}, object{"ttl": "1h", "inputTokens": u.cacheWriteLong}},
	}}
	if u.tier != "" {
		end["serviceTier"] = object{"type": u.tier}
	}
	if !c.stream {
		end["output"], end["stopReason"] = object{"message": object{"role": "assistant", "content": []any{object{"text": "some text"}}}}, "end_turn"
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, encoded(end))
		return
	}
	w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
	for _, e := range []event{
		{"messageStart", object{"role": "assistant"}}, {"contentBlockDelta", object{"contentBlockIndex": 0, "delta": object{"text": "some text"}}},
		{"contentBlockStop", object{"contentBlockIndex": 0}}, {"messageStop", object{"stopReason": "end_turn"}}, {"metadata", end},
	} {
		_, _ = w.Write(framed(e.name, encoded(e.data)))
	}
}

// framed returns a message of an event stream of AWS.
func framed(name, payload string) []byte {
	var headers []byte
	for _, pair := range [][2]string{{":message-type", "event"}, {":event-type", name}} {
		headers = append(append(headers, byte(len(pair[0]))), pair[0]...)
		headers = append(binary.BigEndian.AppendUint16(append(headers, 7), uint16(len(pair[1]))), pair[1]...)
	}
	m := binary.BigEndian.AppendUint32(nil, uint32(16+len(headers)+len(payload)))
	m = binary.BigEndian.AppendUint32(m, uint32(len(headers)))
	m = binary.BigEndian.AppendUint32(m, crc32.ChecksumIEEE(m))
	m = append(append(m, headers...), payload...)
	return binary.BigEndian.AppendUint32(m, crc32.ChecksumIEEE(m))
}

// recordsOf waits for the records of all calls, and returns them by the models, which differ.
func recordsOf(t *testing.T, s *site.Site, calls int) map[string]record {
	t.Helper()
	records := make(map[string]record)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		var page struct{ Items []record }
		get(c, s.AdminURL("/api/v1/records?limit=1000"), &page)
		for _, r := range page.Items {
			records[r.Model] = r
		}
		assert.Len(c, records, calls)
	}, site.Patience, 200e6)
	return records
}
