package truth_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// seed makes the exchanges the same in each run.
const seed = 18

// exchanges is the number of exchanges, and clients how many of them run at the same time.
const exchangeCount, clients = 2400, 16

// In a comparison with providers of which each noted what it charges, the ledger once lacked
// whole answers beside a failed one of the same request, up to 92 percent of the text of
// streams that were left, and the tokens of compactions; it charged fan-outs by the edge of
// their sum.
func TestTheLedgerHasWhatProvidersCharge(t *testing.T) {
	t.Logf("seed %d", seed)
	g := &generator{Rand: rand.New(rand.NewPCG(seed, seed))}
	all := make([]*exchange, exchangeCount)
	for i := range all {
		all[i] = g.next()
	}
	p := newProvider(t, all)
	dir := t.TempDir()
	s := site.Start(t, configuration(p.URL, dir)...)
	run(t, s.URL("site", ""), all)
	rows := ledgerOf(t, s.AdminURL, len(all))
	compare(t, all, rows)
}

// configuration returns the lines of a site with the providers and their prices.
func configuration(address, dir string) []string {
	lines := []string{"store sqlite " + dir + "/gateway.db", "ledger {\njournal " + dir + "/journal\n}"}
	for _, path := range site.CallPaths {
		name := names[path]
		block := "provider " + name + " openai_compatible {\nbase_url " + address + "/" + name + "/v1\ncooldown off\n"
		block += "format " + map[string]string{"pm": "messages", "pc": "chat", "pl": "completions", "pr": "responses"}[name] + "\n"
		for _, price := range prices {
			block += "models " + price.name + "-" + name + "-*\nprice " + price.name + "-* " + price.columns + "\n"
			lines = append(lines, "model "+price.name+"-"+name+fallbackTo[name]+"-* {\nto "+name+"\nto "+fallbackTo[name]+"\n}")
		}
		lines = append(lines, block+"}")
	}
	return lines
}

// run sends all exchanges.
func run(t testing.TB, address string, all []*exchange) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer client.CloseIdleConnections()
	queue := make(chan *exchange)
	var running sync.WaitGroup
	for range clients {
		running.Go(func() {
			for x := range queue {
				x.send(t, client, address)
			}
		})
	}
	for _, x := range all {
		queue <- x
	}
	close(queue)
	running.Wait()
}

// send sends the request of an exchange and reads its answer as far as its class says.
func (x *exchange) send(t testing.TB, client *http.Client, address string) {
	ctx, leave := context.WithTimeout(context.Background(), site.Patience)
	defer leave()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address+x.path, strings.NewReader(x.body()))
	if !assert.NoError(t, err) {
		return
	}
	site.SetClientHeaders(request)
	response, err := client.Do(request)
	if err != nil {
		return // the gateway was killed
	}
	defer response.Body.Close()
	if !x.stream || response.StatusCode != http.StatusOK {
		body, err := io.ReadAll(response.Body)
		x.full = err == nil && response.StatusCode == http.StatusOK
		if x.class != refused {
			assert.True(t, x.full, "%s %s: %d %s", x.class, x.model, response.StatusCode, body)
		}
		return
	}
	x.read(response.Body, leave)
	assert.NotErrorIs(t, ctx.Err(), context.DeadlineExceeded, "%s %s %s: %d of its text", x.class, x.model, x.path, len(x.got))
}

// read reads a stream. When the client has all of the text of the whole calls, or of the one
// that the provider holds, it leaves, or lets the last call go on.
func (x *exchange) read(body io.Reader, leave func()) {
	format, most := writers[x.path], 0
	for _, s := range x.scripts[x.first][:max(1, x.calls-1)] {
		for _, p := range s.parts {
			most += len(p.whole())
		}
	}
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		line := lines.Text()
		data, isData := strings.CutPrefix(line, "data: ")
		if strings.Contains(line, format.last) {
			x.full = true
		}
		var o object
		if !isData || json.Unmarshal([]byte(data), &o) != nil {
			continue
		}
		x.got += format.read(o)
		if len(x.got) < most {
			continue
		}
		switch most = math.MaxInt; x.class {
		case left:
			leave()
			return
		case oneRefused, oneCut:
			close(x.late)
		}
	}
}

// row is a sum of the ledger.
type row struct {
	Model, Provider, Outcome, Currency string

	Requests, Calls     int64
	Input               int64 `json:"input_tokens"`
	CacheRead           int64 `json:"cache_read_tokens"`
	CacheWrite          int64 `json:"cache_write_tokens"`
	Output              int64 `json:"output_tokens"`
	Reasoning           int64 `json:"reasoning_tokens"`
	Searches            int64
	Cost                int64 `json:"cost_micro"`
	Estimated, Unpriced int64
	Floor               bool
}

// ledgerOf returns the rows of the ledger by model, when it has so many requests.
func ledgerOf(t testing.TB, admin func(string) string, requests int) (rows map[string][]row) {
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		rows = make(map[string][]row)
		total := int64(0)
		for after := ""; ; {
			response, err := http.Get(admin("/ai_gateway/usage?by=model,provider,outcome&after=" + url.QueryEscape(after)))
			if !assert.NoError(c, err) {
				return
			}
			var page struct {
				Items []row
				Next  string
			}
			err = json.NewDecoder(response.Body).Decode(&page)
			_ = response.Body.Close()
			if !assert.NoError(c, err) {
				return
			}
			for _, r := range page.Items {
				rows[r.Model] = append(rows[r.Model], r)
				total += r.Requests
			}
			if after = page.Next; after == "" {
				break
			}
		}
		assert.EqualValues(c, requests, total)
	}, site.Patience, 200e6)
	return rows
}

// sum is what the exchanges of a class cost, in millionths.
type sum struct {
	count           int
	truth, recorded float64
}

// compare compares each exchange with its rows, and the sums of the classes.
func compare(t testing.TB, all []*exchange, rows map[string][]row) {
	sums := make(map[class]*sum)
	failures := 0
	for _, x := range all {
		truth, recorded := x.truth(), new(big.Rat)
		for _, r := range rows[x.model] {
			recorded.Add(recorded, big.NewRat(r.Cost, 1))
		}
		if sums[x.class] == nil {
			sums[x.class] = new(sum)
		}
		s := sums[x.class]
		a, _ := truth.Float64()
		b, _ := recorded.Float64()
		s.count, s.truth, s.recorded = s.count+1, s.truth+a, s.recorded+b
		if problem := x.problem(truth, recorded, rows[x.model]); problem != "" {
			if failures++; failures <= 20 {
				t.Errorf("%s: %s %s: %s\n%+v", x.class, x.model, x.path, problem, rows[x.model])
			}
		}
	}
	for c, s := range sums {
		t.Logf("%-33s %4d exchanges: %9.0f charged, %9.0f recorded", c, s.count, s.truth, s.recorded)
		assert.GreaterOrEqual(t, s.recorded, 0.97*s.truth, c)
	}
	assert.Zero(t, failures)
}

// truth returns what the providers charge for an exchange: what they claim for whole answers,
// and what the client has got of the others.
func (x *exchange) truth() *big.Rat {
	sum := new(big.Rat)
	for _, n := range x.notes {
		s := n.script
		switch {
		case x.class == unknown:
		case s.status != 0 || s.hangup:
		case s.ending != whole || s.silent:
			sum.Add(sum, x.price.cost(x.seen(n)))
		default:
			sum.Add(sum, x.price.cost(s.claim))
		}
	}
	return sum
}

// seen returns the usage of a call that has not reported all of it: the input that was
// reported, or that the prompt has, and the text.
func (x *exchange) seen(n note) (u usage) {
	s := n.script
	if n.provider == "pm" && !s.silent && x.stream {
		u = s.claim
		u.searches = 0
	} else {
		u.input = tokensOf(x.prompt)
	}
	u.output, u.reasoning = 0, 0
	if x.stream || s.ending == whole {
		for _, p := range s.parts {
			u.output += tokensOf(p.whole())
		}
	}
	return u
}

// tokensOf returns the tokens of a text: one for four characters, and one for each character
// of Chinese.
func tokensOf(text string) (tokens int64) {
	quarters := int64(0)
	for _, r := range text {
		if r > 0x2e80 {
			tokens++
		} else {
			quarters++
		}
	}
	return tokens + quarters/4
}

// problem returns what is wrong with the record of an exchange, "" for nothing.
func (x *exchange) problem(truth, recorded *big.Rat, rows []row) string {
	requests, calls, output := int64(0), int64(0), int64(0)
	for _, r := range rows {
		requests, calls, output = requests+r.Requests, calls+r.Calls, output+r.Output+r.Reasoning
		if r.Currency != "" && r.Currency != x.price.currency() {
			return "the currency is " + r.Currency
		}
	}
	charged := int64(len(x.notes))
	for _, n := range x.notes {
		charged += int64(len(n.script.claim.beside))
	}
	if requests != 1 || calls != charged {
		return fmt.Sprintf("%d requests and %d calls, of %d", requests, calls, charged)
	}
	switch x.class {
	case unknown:
		if r := rows[0]; r.Unpriced != 1 || !r.Floor || r.Cost != 0 {
			return "not unknown"
		}
	case cut, left:
		got := tokensOf(x.got)
		if share := float64(output) / float64(got); share < 0.9 || share > 1.5 {
			return fmt.Sprintf("%d tokens of output, and the client has got %d", output, got)
		}
	case unreported, oneCut, broken:
		if new(big.Rat).Sub(truth, recorded).Cmp(big.NewRat(1, 1)) >= 0 {
			return fmt.Sprintf("%s of %s", recorded.FloatString(3), truth.FloatString(3))
		}
	default:
		if difference := new(big.Rat).Sub(truth, recorded); difference.Abs(difference).Cmp(big.NewRat(1, 1)) >= 0 {
			return fmt.Sprintf("%s of %s", recorded.FloatString(3), truth.FloatString(3))
		}
	}
	return ""
}
