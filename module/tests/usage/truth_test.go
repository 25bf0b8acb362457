package usage_test

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
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// The files truth_*_test.go compare the ledger with an independent truth: providers that note
// what they claim to have used, for each call, and a computation of costs that shares no
// code with the gateway.

// seed makes the exchanges the same in each run.
const seed = 18

// clients is the number of exchanges that run at the same time.
const clients = 16

// In a comparison with providers that noted what they charge, the ledger once lacked whole
// answers beside a failed one of the same request, up to 92 percent of the text of streams
// that were left, and the tokens of compactions; it charged fan-outs by the edge of their sum.
func TestTheLedgerHasWhatProvidersCharge(t *testing.T) {
	all := exchanges(t, 2400, prices)
	p := newProvider(t, all)
	s := site.Start(t, configuration(p.URL, t.TempDir())...)
	queue := queueOf(all)
	run(t, s.URL("site", ""), queue, new(atomic.Bool), func(*exchange) {})
	records := ledgerOf(t, s.AdminURL, all)
	compare(t, all, records)
	compareSums(t, s.AdminURL, records)
}

// exchanges returns random exchanges.
func exchanges(t testing.TB, count int, prices []price) []*exchange {
	t.Logf("seed %d", seed)
	g := &generator{Rand: rand.New(rand.NewPCG(seed, seed)), prices: prices}
	all := make([]*exchange, count)
	for i := range all {
		all[i] = g.next()
	}
	return all
}

// configuration returns the lines of a site with the providers and their prices.
func configuration(address, dir string) []string {
	lines := []string{"store sqlite " + dir + "/gateway.db", "ledger {\njournal " + dir + "/journal\n}"}
	for _, path := range site.ClientPaths {
		name := names[path]
		var block strings.Builder
		block.WriteString("provider " + name + " openai_compatible {\nbase_url " + address + "/" + name + "/v1\ncooldown off\n")
		block.WriteString("format " + map[string]string{"pm": "messages", "pc": "chat", "pl": "completions", "pr": "responses", "pg": "gemini"}[name] + "\n")
		for _, price := range prices {
			block.WriteString("models " + price.name + "-" + name + "-*\nprice " + price.name + "-* " + price.columns + "\n")
			lines = append(lines, "model "+price.name+"-"+name+fallbackTo[name]+"-* {\nto "+name+"\nto "+fallbackTo[name]+"\n}")
		}
		lines = append(lines, block.String()+"}")
	}
	return lines
}

// queueOf returns a channel with all exchanges, which is closed.
func queueOf(all []*exchange) chan *exchange {
	queue := make(chan *exchange, len(all))
	for _, x := range all {
		queue <- x
	}
	close(queue)
	return queue
}

// run sends the exchanges of a queue until it is empty or the gateway is dead. It calls a
// function for each exchange whose client has got a whole answer.
func run(t testing.TB, address string, queue <-chan *exchange, dead *atomic.Bool, answered func(*exchange)) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer client.CloseIdleConnections()
	var running sync.WaitGroup
	for range clients {
		running.Go(func() {
			for !dead.Load() {
				x, more := <-queue
				if !more {
					return
				}
				if x.send(t, client, address); x.full {
					answered(x)
				}
			}
		})
	}
	running.Wait()
}

// send sends the request of an exchange and reads its answer as far as its class says.
func (x *exchange) send(t testing.TB, client *http.Client, address string) {
	ctx, leave := context.WithTimeout(context.Background(), site.Patience)
	defer leave()
	target, body := site.Addressed(x.path, x.body())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address+target, strings.NewReader(body))
	if !assert.NoError(t, err) {
		return
	}
	site.SetClientHeaders(request)
	response, err := client.Do(request)
	if err != nil {
		return // the gateway was killed
	}
	defer response.Body.Close()
	if x.stream && response.StatusCode == http.StatusOK {
		x.read(response.Body, leave)
	} else {
		_, err := io.Copy(io.Discard, response.Body)
		x.full = err == nil && response.StatusCode == http.StatusOK
	}
	assert.NotErrorIs(t, ctx.Err(), context.DeadlineExceeded, "%s %s %s: %d of its text", x.class, x.model, x.path, len(x.got))
}

// read reads a stream. When the client has all of the text of the whole calls, or of the one
// that the provider holds, it leaves, or lets the last call go on.
func (x *exchange) read(body io.Reader, leave func()) {
	format, limit := writers[x.path], 0
	awaited := x.calls
	if x.class == oneRefused || x.class == oneCut {
		awaited--
	}
	for _, s := range x.scripts[x.first][:awaited] {
		for _, p := range s.parts {
			limit += len(p.whole())
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
		if len(x.got) < limit {
			continue
		}
		switch limit = math.MaxInt; x.class {
		case leftMidway, severalLeft:
			leave()
			return
		case oneRefused, oneCut:
			close(x.late)
		}
	}
}

// record is the record of an exchange, as the admin API has it.
type record struct {
	Model, Outcome string
	Batch          *batchCounts
	Calls          []struct {
		Source, Currency, Price string
		CostSource              string `json:"cost_source"`
		Output                  int64  `json:"output_tokens"`
		Cost                    int64  `json:"cost_nano"`
		Held                    int64  `json:"held_nano"`
	}
}

// batchCounts are the requests of a batch, by how they ended.
type batchCounts struct{ Succeeded, Errored, Canceled, Expired int }

// cost returns the cost of all calls, in billionths of the currency's unit.
func (r *record) cost() (nanos int64) {
	for _, c := range r.Calls {
		nanos += c.Cost
	}
	return nanos
}

// ledgerOf returns the records of the ledger by model, when it has one for each exchange for
// which a provider was asked.
func ledgerOf(t testing.TB, admin func(string) string, all []*exchange) (records map[string][]record) {
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		records = make(map[string][]record)
		for after := ""; ; {
			var page struct {
				Items []record
				Next  string
			}
			get(c, admin("/api/v1/records?limit=1000&after="+url.QueryEscape(after)), &page)
			for _, r := range page.Items {
				records[r.Model] = append(records[r.Model], r)
			}
			if after = page.Next; after == "" {
				break
			}
		}
		missing := 0
		for _, x := range all {
			if len(x.notes) > 0 && len(records[x.model]) == 0 {
				missing++
			}
		}
		assert.Zero(c, missing, "lost")
	}, site.Patience, 200e6)
	return records
}

// get reads an answer of the admin API.
func get(t assert.TestingT, address string, answer any) {
	response, err := http.Get(address)
	if assert.NoError(t, err) {
		defer response.Body.Close()
		assert.NoError(t, json.NewDecoder(response.Body).Decode(answer))
	}
}

// compareSums checks that the sums of the ledger are those of its records.
func compareSums(t testing.TB, admin func(string) string, records map[string][]record) {
	want := make(map[string]int64)
	for _, list := range records {
		for _, r := range list {
			for _, c := range r.Calls {
				want[c.Currency] += c.Cost
			}
		}
	}
	var page struct {
		Items []struct {
			Currency string
			Cost     int64 `json:"cost_micro"`
		}
	}
	get(t, admin("/api/v1/usage?by=day"), &page)
	got := make(map[string]int64)
	for _, row := range page.Items { // of two days, if midnight has passed
		got[row.Currency] += row.Cost
	}
	assert.NotEmpty(t, want)
	for currency, nanos := range want {
		assert.InDelta(t, nanos/1000, got[currency], 2, currency)
	}
}

// classSum is what the exchanges of a class cost, in millionths.
type classSum struct {
	count           int
	truth, recorded float64
}

// compare compares each exchange with its record, and the sums of the classes.
func compare(t testing.TB, all []*exchange, records map[string][]record) {
	sums := make(map[class]*classSum)
	var wrong problems
	for _, x := range all {
		list := records[x.model]
		if len(list) != 1 {
			wrong.add(t, x, fmt.Sprintf("%d records", len(list)), list)
			continue
		}
		if sums[x.class] == nil {
			sums[x.class] = new(classSum)
		}
		s := sums[x.class]
		truth, _ := x.truth().Float64()
		s.count, s.truth, s.recorded = s.count+1, s.truth+truth, s.recorded+float64(list[0].cost())/1000
		wrong.add(t, x, x.problem(&list[0]), list)
	}
	for c, s := range sums {
		t.Logf("%-33s %4d exchanges: %9.0f charged, %9.0f recorded", c, s.count, s.truth, s.recorded)
		assert.GreaterOrEqual(t, s.recorded, 0.97*s.truth, c)
	}
}

// problems counts what is wrong, and reports the first ones.
type problems int

func (n *problems) add(t testing.TB, x *exchange, problem string, records []record) {
	if problem == "" {
		return
	}
	if *n++; *n <= 10 {
		t.Errorf("%s: %s %s: %s\n%+v", x.class, x.model, x.path, problem, records)
	}
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
func (x *exchange) problem(r *record) string {
	charged, output := len(x.notes), int64(0)
	for _, n := range x.notes {
		charged += len(n.script.claim.further)
	}
	for _, c := range r.Calls {
		output += c.Output
		if c.Price != "" && c.Currency != x.price.currency() {
			return "the currency is " + c.Currency
		}
	}
	if len(r.Calls) != charged {
		return fmt.Sprintf("%d calls of %d", len(r.Calls), charged)
	}
	truth := new(big.Rat).Mul(x.truth(), big.NewRat(1000, 1))
	missing := new(big.Rat).Sub(truth, big.NewRat(r.cost(), 1))
	rounding := big.NewRat(int64(charged), 1)
	switch x.class {
	case unknown:
		if r.Calls[0].Price != "" || r.cost() != 0 {
			return "a cost of " + r.Calls[0].Price
		}
		return ""
	case cut, leftMidway, severalLeft:
		got := tokensOf(x.got)
		if share := float64(output) / float64(got); !(share >= 0.9 && share <= 1.5) { // not a number if both are 0
			return fmt.Sprintf("%d tokens of output, and the client has got %d", output, got)
		}
		return ""
	case unreported, oneCut, broken: // an estimate, which is rather too high
	default:
		missing.Abs(missing)
	}
	if missing.Cmp(rounding) > 0 {
		return fmt.Sprintf("%d nanos of %s", r.cost(), truth.FloatString(3))
	}
	return ""
}
