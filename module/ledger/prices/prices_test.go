package prices

import (
	"bytes"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// admitted is a time at which the built-in prices are valid, outside of all peak times.
var admitted = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func table(t *testing.T, rows ...string) *Table {
	t.Helper()
	parsed, err := Parse(strings.NewReader(strings.Join(rows, "\n")))
	require.NoError(t, err)
	return parsed
}

// one returns the price of a table of one row.
func one(t *testing.T, header, row string) *Price {
	t.Helper()
	price := table(t, "provider,models,"+header, "p,m,"+row).Find("p", "m", admitted)
	require.NotNil(t, price)
	return price
}

func nanos(t *testing.T, p *Price, c Charge) int64 {
	t.Helper()
	require.NotNil(t, p)
	if c.Admitted.IsZero() {
		c.Admitted = admitted
	}
	cost, ok := p.Cost(c)
	require.True(t, ok)
	return cost.Nanos
}

func builtinPrice(t *testing.T, provider, model string) *Price {
	t.Helper()
	price := Builtin().Find(provider, model, admitted)
	require.NotNil(t, price, "%s %s", provider, model)
	return price
}

// L001 to L003: gateways that add cached tokens to fresh ones charge them twice.
func TestL001CachedTokensAreChargedOnce(t *testing.T) {
	p := one(t, "input,cache_write,output", "3,3.75,15")
	assert.EqualValues(t, 54_399_000, nanos(t, p, Charge{Tokens: token.Counts{Fresh: 3, CacheWrite: 12_304, Answer: 550}}))
}

func TestL002FractionsOfMicrosAreKept(t *testing.T) {
	p := one(t, "input,cache_write,output", "5,6.25,25")
	assert.EqualValues(t, 1_063_761_250, nanos(t, p, Charge{Tokens: token.Counts{Fresh: 6, CacheWrite: 159_217, Answer: 2_745}}))
}

func TestL003CacheReadsAreNoFreshInput(t *testing.T) {
	p := one(t, "input,cache_read,output", "1.25,0.125,10")
	assert.EqualValues(t, 341_642_000, nanos(t, p, Charge{Tokens: token.Counts{Fresh: 51_232, CacheRead: 1_188_096, Answer: 12_909}}))
}

func TestL006EachLifetimeOfACacheHasItsPrice(t *testing.T) {
	p := builtinPrice(t, "anthropic", "claude-opus-5-5")
	assert.EqualValues(t, 1000*5_000+500*8_000, nanos(t, p, Charge{Tokens: token.Counts{CacheWrite: 1000, CacheWriteLong: 500}}))
}

func TestL007ReasoningIsPaidOnce(t *testing.T) {
	p := builtinPrice(t, "gemini", "gemini-2.5-flash")
	assert.EqualValues(t, 810*2_500, nanos(t, p, Charge{Tokens: token.Counts{Answer: 10, Reasoning: 800}}))
}

func TestL008L009L010LongPromptsCostMoreFromTheEdgeOn(t *testing.T) {
	for name, test := range map[string]struct {
		provider, model string
		below, beyond   token.Counts
	}{
		"L008 above":           {"openai", "gpt-5.4", token.Counts{Fresh: 272_000}, token.Counts{Fresh: 272_001}},
		"L009 from":            {"xai", "grok-4.20", token.Counts{Fresh: 199_999}, token.Counts{Fresh: 200_000}},
		"L010 cached included": {"anthropic", "claude-haiku-5-5", token.Counts{Fresh: 20_000, CacheRead: 80_000}, token.Counts{Fresh: 20_000, CacheRead: 80_001}},
	} {
		p := builtinPrice(t, test.provider, test.model)
		below, _ := p.Cost(Charge{Admitted: admitted, Tokens: test.below})
		beyond, _ := p.Cost(Charge{Admitted: admitted, Tokens: test.beyond})
		assert.False(t, below.Long, name)
		assert.True(t, beyond.Long, name)
		assert.EqualValues(t, (p.Base.sum(test.below, new(token.Units))+500)/1000, below.Nanos, name)
		assert.EqualValues(t, (p.Above.sum(test.beyond, new(token.Units))+500)/1000, beyond.Nanos, name)
		assert.Greater(t, p.Above.Fresh, p.Base.Fresh, name)
	}
}

func TestL011ThePriceIsThatOfTheAdmission(t *testing.T) {
	change := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	before := Builtin().Find("gemini", "gemini-4-argon", change.Add(-time.Millisecond))
	after := Builtin().Find("gemini", "gemini-4-argon", change)
	assert.EqualValues(t, 2_000_000, before.Base.Fresh)
	assert.EqualValues(t, 4_000_000, after.Base.Fresh)
	assert.NotEqual(t, before.ID(), after.ID())
}

func TestL012PeakTimesAreWeekdaysInUTC(t *testing.T) {
	p := builtinPrice(t, "deepseek", "deepseek-flash")
	tuesday, saturday := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
	east := time.FixedZone("UTC+8", 8*60*60)
	for at, peak := range map[time.Time]bool{
		tuesday.Add(59*time.Minute + 59*time.Second): false,
		tuesday.Add(time.Hour):                       true,
		tuesday.Add(time.Hour).In(east):              true,
		tuesday.Add(4 * time.Hour):                   false,
		tuesday.Add(9*time.Hour + 59*time.Minute):    true,
		tuesday.Add(14 * time.Hour):                  false,
		saturday.Add(2 * time.Hour):                  false,
		saturday.Add(26 * time.Hour):                 false,
		saturday.Add(50 * time.Hour):                 true,
	} {
		cost, _ := p.Cost(Charge{Admitted: at, Tokens: token.Counts{Fresh: 1000}})
		assert.Equal(t, peak, cost.Peak, at)
		want := int64(150_000)
		if peak {
			want *= 2
		}
		assert.Equal(t, want, cost.Nanos, at)
	}
}

// L013: the pattern claude-opus-5* would also match the cheaper claude-opus-5-5.
func TestL013SuccessorsOfAModelAreUnknown(t *testing.T) {
	known := table(t, "provider,models,input,output", "anthropic,claude-opus-5 claude-opus-5-20*,5,25")
	assert.NotNil(t, known.Find("anthropic", "claude-opus-5-20260801", admitted))
	assert.Nil(t, known.Find("anthropic", "claude-opus-5-5", admitted))
	assert.Nil(t, known.Find("openai", "claude-opus-5", admitted))
	assert.Nil(t, (*Table)(nil).Find("anthropic", "claude-opus-5", admitted))
}

func TestL014SmallCallsAreNotRoundedAway(t *testing.T) {
	p := one(t, "input,output", "0.02,0")
	assert.EqualValues(t, 200, nanos(t, p, Charge{Tokens: token.Counts{Fresh: 10}}))
}

func TestL015FactorsMultiplyAndAreRoundedOnce(t *testing.T) {
	p := one(t, "input,output,fast,us,flex", "0.005001,0.01,2,1.1,0.5")
	assert.EqualValues(t, 11, nanos(t, p, Charge{Tokens: token.Counts{Fresh: 1}, Terms: token.Fast | token.RegionUS}), "11.0022 nanos")
	assert.EqualValues(t, 3, nanos(t, p, Charge{Tokens: token.Counts{Fresh: 1}, Terms: token.Flex}), "2.5005 nanos")
}

// Otherwise a call in a more expensive tier would have the standard price, without a notice.
func TestTheCostOfTermsWithoutAFactorIsUnknown(t *testing.T) {
	p := one(t, "input,output,fast", "1,1,2")
	_, ok := p.Cost(Charge{Admitted: admitted, Tokens: token.Counts{Fresh: 1}, Terms: token.Fast | token.Priority})
	assert.False(t, ok)
}

func TestL016TheSameContentIsTheSamePrice(t *testing.T) {
	const header, row = "provider,models,input,output", "p,m,1,2"
	id := table(t, header, row).Find("p", "m", admitted).ID()
	assert.Equal(t, id, table(t, header, row).Find("p", "m", admitted).ID())
	assert.NotEqual(t, id, table(t, header, "p,m,1,3").Find("p", "m", admitted).ID())
}

func TestUnstatedPricesAreThoseOfInputAndOutput(t *testing.T) {
	p := one(t, "input,cache_write,output,edge,input_above,output_above", "2,3,8,>10,4,16")
	assert.Equal(t, Rates{Fresh: 2e6, CacheRead: 2e6, CacheWrite: 3e6, CacheWriteLong: 3e6, Answer: 8e6, Reasoning: 8e6, OfImages: MediaRates{2e6, 2e6, 8e6}, OfAudio: MediaRates{2e6, 2e6, 8e6}, Unknown: Searches}, p.Base)
	assert.Equal(t, Rates{Fresh: 4e6, CacheRead: 4e6, CacheWrite: 6e6, CacheWriteLong: 6e6, Answer: 16e6, Reasoning: 16e6, OfImages: MediaRates{4e6, 4e6, 16e6}, OfAudio: MediaRates{4e6, 4e6, 16e6}, Unknown: Searches}, p.Above)
}

// A write to a cache above the edge cost as the input there, 20 percent too little, although the
// same write below it costs 1.25 times the input.
func TestPricesAboveTheEdgeRiseAsTheInput(t *testing.T) {
	for _, c := range []struct {
		columns, values string
		want            Rates
	}{
		{"input,cache_write,output,edge,input_above,output_above", "4,5,20,>10,8,30", Rates{Fresh: 8e6, CacheRead: 8e6, CacheWrite: 10e6, CacheWriteLong: 10e6, Answer: 30e6, Reasoning: 30e6}},
		{"input,cache_read,output,edge,input_above,output_above", "4,0.4,20,>10,8,30", Rates{Fresh: 8e6, CacheRead: 8e5, CacheWrite: 8e6, CacheWriteLong: 8e6, Answer: 30e6, Reasoning: 30e6}},
		{"input,cache_write,cache_write_1h,output,edge,input_above,cache_write_above,output_above", "2,2.5,4,10,>10,4,6,15", Rates{Fresh: 4e6, CacheRead: 4e6, CacheWrite: 6e6, CacheWriteLong: 9_600_000, Answer: 15e6, Reasoning: 15e6}},
		{"input,reasoning,output,edge,input_above,output_above", "1,4,2,>10,2,3", Rates{Fresh: 2e6, CacheRead: 2e6, CacheWrite: 2e6, CacheWriteLong: 2e6, Answer: 3e6, Reasoning: 6e6}},
		{"input,cache_write,output,edge,input_above,output_above", "0,1,0,>10,3,3", Rates{Fresh: 3e6, CacheRead: 3e6, CacheWrite: 3e6, CacheWriteLong: 3e6, Answer: 3e6, Reasoning: 3e6}},
	} {
		c.want.Unknown, c.want.OfImages = Searches, MediaRates{c.want.Fresh, c.want.CacheRead, c.want.Answer}
		c.want.OfAudio = c.want.OfImages
		assert.Equal(t, c.want, one(t, c.columns, c.values).Above, c.columns)
	}
}

// Calls of an endpoint of a region, for which services charge 10 percent more, were recorded and
// reserved at the usual price, and those of reserved capacity, which is paid by time, too.
func TestRegionsAndReservedCapacity(t *testing.T) {
	p := one(t, "input,output,search,regional,priority", "1,2,0.01,1.1,2")
	tokens := token.Counts{Fresh: 1000, Answer: 100, Searches: 1}
	const usual, search = 1000*1000 + 100*2000, 10_000_000
	for terms, want := range map[token.Terms]int64{
		0:                               usual + search,
		token.Regional:                  (usual + search) * 11 / 10,
		token.Regional | token.Priority: (usual + search) * 22 / 10,
		token.Reserved:                  search,
		token.Reserved | token.Regional: search * 11 / 10,
	} {
		assert.Equal(t, want, nanos(t, p, Charge{Tokens: tokens, Terms: terms}), "%b", terms)
		bound, unknown := p.Bound(admitted, MaxUse{Prompt: 1000, Answer: 100, Searches: 1, Terms: terms})
		assert.GreaterOrEqual(t, bound, want, "%b", terms)
		assert.Zero(t, unknown)
	}
	usualPrice := one(t, "input,output", "1,2")
	assert.EqualValues(t, usual, nanos(t, usualPrice, Charge{Tokens: token.Counts{Fresh: 1000, Answer: 100}, Terms: token.Regional}), "most models cost the same")
	assert.NotEqual(t, usualPrice.ID(), one(t, "input,output,regional", "1,2,1.1").ID())
	for provider, names := range map[string][]string{"vertex": {"claude-sonnet-4-5@20250929", "claude-haiku-4-5", "claude-opus-5"}, "openai": {"gpt-5.4", "gpt-6-sol"}} {
		for _, name := range names {
			assert.EqualValues(t, 1100, Builtin().Find(provider, name, time.Now()).Factors[regional], name)
		}
	}
	for provider, name := range map[string]string{"vertex": "claude-opus-4-1@20250805", "openai": "gpt-5.2"} {
		assert.Zero(t, Builtin().Find(provider, name, time.Now()).Factors[regional], name)
	}
}

// Searches without a price once made the whole cost of a call unknown, its tokens included, and
// passed every budget.
func TestAPartWithoutAPriceLeavesTheCostOfTheOthers(t *testing.T) {
	for name, c := range map[string]struct {
		columns, values string
		searches        int64
		units           token.Units
		column          string // whose price is missing, "" for none
		nanos           int64
	}{
		"searches":               {"input,output", "1,2", 1, token.Units{}, "search", 1000},
		"searches by the minute": {"input,output,minute", "1,2,6", 1, token.Units{Seconds: 10}, "search", 1000 + 1_000_000_000},
		"free searches":          {"input,output,search", "1,2,0", 1, token.Units{}, "", 1000},
		"images of a voice":      {"input,output,characters", ",,15", 0, token.Units{Characters: 100, Images: 1}, "image", 1_500_000},
		"sound of a painter":     {"input,output,image", ",,0.04", 0, token.Units{Seconds: 30}, "minute", 0},
		"speech of a painter":    {"input,output,image", ",,0.04", 0, token.Units{Images: 1, Characters: 30}, "characters", 40_000_000},
		"images by their tokens": {"input,output", "1,2", 0, token.Units{Images: 1}, "", 1000},
		"free sound":             {"input,output", "0,0", 0, token.Units{Seconds: 30}, "", 0},
	} {
		p := one(t, c.columns, c.values)
		cost, ok := p.Cost(Charge{Tokens: token.Counts{Fresh: 1, Searches: c.searches}, Units: &c.units})
		assert.True(t, ok, name)
		assert.Equal(t, c.nanos, cost.Nanos, name)
		assert.Equal(t, c.column != "", cost.InPart, name)
		bound, unknown := p.Bound(admitted, MaxUse{Prompt: 1, Searches: c.searches, Units: c.units})
		assert.Equal(t, c.nanos, bound, name)
		assert.Equal(t, c.column, unknown.Parts.Column(), name)
	}
	assert.NotEqual(t, one(t, "input,output", "1,2").ID(), one(t, "input,output,search", "1,2,0").ID())
	assert.EqualValues(t, 20_000_000, nanos(t, one(t, "input,output,search", "1,2,0.01"), Charge{Tokens: token.Counts{Searches: 2}}))
}

// A model for speech or images got the price of the text model whose name begins its own, which
// is lower, and nothing marked it. So would a larger or smaller model.
func TestPatternsOfTheTableHaveNoOtherModels(t *testing.T) {
	for _, suffix := range []string{"-image", "-tts-preview", "-preview-tts", "-live-001", "-native-audio", "_Speech", "-image-preview-05-20", "-realtime", ".transcribe", "-nano-001", "-Pro-preview", "-mini", "-ultra", "-heavy", "-fast"} {
		for provider, names := range map[string][]string{"gemini": {"gemini-3.8-flash", "gemini-3.5-flash-lite", "gemini-3.1-pro-preview"}, "xai": {"grok-4.5"}, "vertex": {"gemini-2.5-flash-lite"}} {
			for _, name := range names {
				assert.NotNil(t, Builtin().Find(provider, name, time.Now()), name)
				assert.Nil(t, Builtin().Find(provider, name+suffix, time.Now()), name+suffix)
			}
		}
	}
	for _, name := range []string{"gemini-3.8-flash-001", "gemini-3.8-flash-preview-11-2026", "gemini-3.8-flash-latest", "gemini-3.8-flash-imagery"} {
		assert.NotNil(t, Builtin().Find("gemini", name, time.Now()), name)
	}
	assert.NotNil(t, table(t, "provider,models,input,output", "p,m*,1,2").Find("p", "m-tts", admitted), "an operator's pattern matches any text")
	for key, list := range Builtin().index.All { // no pattern is without a use
		if before, ok := strings.CutSuffix(key.Name, "*"); ok {
			assert.NotNil(t, Builtin().Find(key.Provider, before+"x", list[0].Period.From.Add(time.Hour)), key.Name)
		}
	}
}

func TestExactNamesComeBeforeLongerPrefixesBeforeShorter(t *testing.T) {
	known := table(t, "provider,models,input,output", "p,*,1,1", "p,gpt-5*,2,2", "p,gpt-*,3,3", "p,gpt-5-mini,4,4")
	for name, want := range map[string]Rate{"llama": 1e6, "gpt-5-nano": 2e6, "gpt-4": 3e6, "gpt-5-mini": 4e6} {
		assert.Equal(t, want, known.Find("p", name, admitted).Base.Fresh, name)
	}
}

// Prices above an edge that was not stated were accepted and never applied, as were dates in other
// words, and names behind a comma.
func TestL017WrongTablesAreRefused(t *testing.T) {
	const header = "provider,models,input,output"
	for problem, rows := range map[string][]string{
		"line 3, column 7: output: p m: the output costs less than a quarter of the input": {header, "p,n,1,1", "p,m,8,1"},
		"cache_read: p m: reading the cache costs more than the input":                     {header + ",cache_read", "p,m,1,1,2"},
		"the column output is missing":                                                     {"provider,models,input", "p,m,1"},
		`the column "outputs" is unknown; did you mean 'output'?`:                          {header + ",outputs", "p,m,1,1,1"},
		"the column input occurs twice":                                                    {header + ",input", "p,m,1,1,1"},
		"line 2, column 5: input: a price is a decimal number":                             {header, "p,m,-1,1"},
		"output: a price is a decimal number":                                              {header, "p,m,1,"},
		"cache_read: a price is a decimal number":                                          {header + ",cache_read", "p,m,1,1,0.0000001"},
		"edge: an edge is":                                                    {header + ",edge", "p,m,1,1,200000"},
		"input_above: a price":                                                {header + ",edge", "p,m,1,1,>200000"},
		"peak: a peak is weekdays":                                            {header + ",peak,peak_factor", "p,m,1,1,daily 01:00-04:00,2"},
		"fast: a factor is a decimal number from 0.001 to 10":                 {header + ",fast", "p,m,1,1,11"},
		"us: a factor is":                                                     {header + ",us", "p,m,1,1,0"},
		"from: must be a date: 2026-11-30":                                    {header + ",from", "p,m,1,1,soon"},
		"line 2, column 9: as_of: must be a date: 2026-11-30":                 {header + ",as_of", "p,m,1,1,2026-02-30"},
		"line 2, column 9: input_above: has no effect without edge":           {header + ",input_above,edge", "p,m,1,1,2,"},
		"output_above: has no effect without edge":                            {header + ",output_above", "p,m,1,1,2"},
		"cache_write_1h_above: has no effect without edge":                    {header + ",cache_write_1h_above", "p,m,1,1,2"},
		"peak_factor: has no effect without peak":                             {header + ",peak_factor", "p,m,1,1,2"},
		"line 2, column 3: models: a,b: names must be separated by spaces":    {header, `p,"a,b",1,1`},
		"until: must be after from":                                           {header + ",from,until", "p,m,1,1,2026-02-01,2026-01-01"},
		"line 3, column 3: models: p has two prices for m at once":            {header + ",from", "p,m,1,1,", "p,m,2,2,2026-01-01"},
		"only the last character of a name may be a *":                        {header, "p,a*b,1,1"},
		"line 2, column 9: currency: a currency has three upper-case letters": {header + ",currency", "p,m,1,1,eur"},
		"models: is required":                                                 {header, "p,,1,1"},
		"line 2: has 2 cells, and 4 columns have names":                       {header, "p,m"},
		"six decimals\nline 3, column 7: output: a price":                     {header, "p,m,x,1", "p,n,1,y"},
		"the file is empty":                                                   {""},
	} {
		_, err := Parse(strings.NewReader(strings.Join(rows, "\n")))
		assert.ErrorContains(t, err, problem)
	}
}

// The table had the prices of text for models that answer with sound, whose tokens cost up to ten
// times as much: budgets let through as many times their amount. No column has their price.
func TestModelsThatAnswerWithTextAndSoundHaveNoBuiltinPrice(t *testing.T) {
	for model, provider := range map[string]string{
		"gpt-audio": "openai", "gpt-audio-mini": "openai", "gpt-4o-audio-preview": "openai", "gpt-4o-realtime-preview": "openai", "gpt-4o-mini-tts": "openai",
		"gemini-2.5-flash-native-audio": "gemini", "gemini-omni-flash-preview": "gemini",
	} {
		assert.Nil(t, Builtin().Find(provider, model, admitted), "%s %s", provider, model)
	}
}

// Improbable prices were refused even if they were correct.
func TestAConfirmedPriceMayBeImprobable(t *testing.T) {
	for _, rates := range []string{"8,1,1", "1,1,2"} {
		known := table(t, "provider,models,input,output,cache_read,confirmed", "p,m,"+rates+",yes")
		assert.NotNil(t, known.Find("p", "m", admitted), rates)
		_, err := Parse(strings.NewReader("provider,models,input,output,cache_read,confirmed\np,m," + rates + ","))
		assert.ErrorContains(t, err, "if this is correct, set confirmed to yes", rates)
	}
	_, err := FromRows("p", []map[string]string{{"models": "m", "input": "8", "output": "1", "confirmed": "yes"}})
	assert.NoError(t, err)
}

// A table that a spreadsheet had saved was refused: the first column was "\ufeffprovider".
func TestAByteOrderMarkIsIgnored(t *testing.T) {
	known := table(t, "\uFEFFprovider,models,input,output", "p,m,1,1\r")
	assert.NotNil(t, known.Find("p", "m", admitted))
}

// The arithmetic in integers equals the arithmetic in fractions, rounded once.
func TestCostEqualsExactArithmetic(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		pico := random.Int64N(1 << random.IntN(63))
		factors := []int64{1 + random.Int64N(MaxFactor), 1 + random.Int64N(MaxFactor), 1 + random.Int64N(MaxFactor)}
		exact := big.NewRat(pico, 1000)
		for _, factor := range factors {
			exact.Mul(exact, big.NewRat(factor, 1000))
		}
		exact.Add(exact, big.NewRat(1, 2))
		want := new(big.Int).Div(exact.Num(), exact.Denom())
		if !want.IsInt64() {
			want.SetInt64(math.MaxInt64)
		}
		assert.Equal(t, want.Int64(), round(pico, factors), "%d %v", pico, factors)
	}
}

func TestImpossibleCountsCostNoMoreThanFits(t *testing.T) {
	p := one(t, "input,output,fast", "600,600,10")
	assert.Positive(t, nanos(t, p, Charge{Tokens: token.Counts{Fresh: math.MaxInt64, Answer: math.MaxInt64}, Terms: token.Fast}))
	assert.Zero(t, nanos(t, p, Charge{Tokens: token.Counts{Fresh: -5}}))
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("provider,models,input,output\np,m n*,1,2"))
	f.Add(builtin[:4096])
	f.Fuzz(func(t *testing.T, text []byte) {
		parsed, err := Parse(bytes.NewReader(text))
		if err != nil {
			return
		}
		for name := range parsed.index.All {
			if p := parsed.Find(name.Provider, name.Name, admitted); p != nil {
				_, _ = p.Cost(Charge{Admitted: admitted, Tokens: token.Counts{Fresh: 1 << 40, Answer: 1 << 40}})
			}
		}
	})
}

// Records name the prices by which their costs were computed, for years. Another text of the
// fields would give every price another name with the next version.
func TestTheIDOfAPriceStays(t *testing.T) {
	assert.Equal(t, "c06ca7639af77b5dfd314d0965757aca", one(t, "input,output", "1,2").ID())
}

// Models of images, transcripts and speech have no price for tokens.
func TestUnitsArePaidBesideTokens(t *testing.T) {
	p := one(t, "input,output,image,minute,characters", ",,0.04,0.006,15")
	for _, tt := range []struct {
		units token.Units
		nanos int64
	}{
		{token.Units{}, 0},
		{token.Units{Images: 3}, 120_000_000},
		{token.Units{Seconds: 90}, 9_000_000},
		{token.Units{Seconds: 1}, 100_000},
		{token.Units{Characters: 1000}, 15_000_000},
		{token.Units{Images: math.MaxInt64, Seconds: math.MaxInt64, Characters: math.MaxInt64}, math.MaxInt64 / 1000},
	} {
		cost := nanos(t, p, Charge{Units: &tt.units, Tokens: token.Counts{Fresh: 1000, Answer: 1000}})
		assert.InDelta(t, tt.nanos, cost, 1, "%+v", tt.units)
		bound, _ := p.Bound(admitted, MaxUse{Prompt: 1000, Answer: 1000, Units: tt.units})
		assert.Equal(t, cost, bound, "%+v", tt.units)
	}
	assert.Regexp(t, `^p m USD 0/0 image 0.04 minute 0.006 characters 15 #`, p.Name())
	assert.NotEqual(t, one(t, "input,output", "0,0").ID(), p.ID())
}

// Sound costs up to eight times as much as text, and all tokens had one price.
func TestTokensOfSoundHavePricesOfTheirOwn(t *testing.T) {
	p := table(t, "provider,models,input,cache_read,output,image_input,audio_input,audio_cache_read,audio_output,confirmed", "p,m,4,0.4,16,5,32,0.4,64,yes").Find("p", "m", admitted)
	units := token.Units{ImageTokens: token.MediaTokens{Input: 10}, AudioTokens: token.MediaTokens{Input: 70, CacheRead: 30, Output: 30}}
	charge := Charge{Tokens: token.Counts{Fresh: 60, CacheRead: 40, Answer: 50}, Units: &units}
	assert.EqualValues(t, 10*5000+40*32000+10*4000+40*400+20*16000+30*64000, nanos(t, p, charge))
	bound, _ := p.Bound(admitted, MaxUse{Prompt: 100, Answer: 50})
	assert.EqualValues(t, 100*32000+50*64000, bound)
	assert.Equal(t, "64", p.Cells()[slices.IndexFunc(p.Cells(), func(c Cell) bool { return c.Column == "audio_output" })].Value)
}

// An edit of a photograph cost 5 for a million tokens, those of its image included, of which the
// provider charged 8.
func TestTokensOfImagesHavePricesOfTheirOwn(t *testing.T) {
	const columns, values = "input,cache_read,output,image_input,image_output", "5,1,10,8,30"
	p := one(t, columns, values)
	plain := one(t, "input,cache_read,output", "5,1,10")
	for name, tt := range map[string]struct {
		tokens token.Counts
		images token.MediaTokens
		micros int64
	}{
		"none":                            {token.Counts{Fresh: 1000, Answer: 10}, token.MediaTokens{}, 5000 + 100},
		"an edit":                         {token.Counts{Fresh: 1000}, token.MediaTokens{Input: 990}, 7970},
		"an image":                        {token.Counts{Fresh: 10, Answer: 100}, token.MediaTokens{Output: 90}, 50 + 100 + 2700},
		"of a cache":                      {token.Counts{Fresh: 100, CacheRead: 100}, token.MediaTokens{Input: 100, CacheRead: 50}, 250 + 400 + 50 + 80},
		"of a cache without its details":  {token.Counts{Fresh: 100, CacheRead: 100}, token.MediaTokens{Input: 120}, 800 + 80 + 32},
		"more than there are":             {token.Counts{Fresh: 100, CacheRead: 10, Answer: 1}, token.MediaTokens{Input: 1 << 30, CacheRead: 1 << 30, Output: 1 << 30}, 800 + 16 + 30},
		"thoughts, which are no images":   {token.Counts{Answer: 100, Reasoning: 100}, token.MediaTokens{Output: 200}, 3000 + 1000},
		"what was written to a cache too": {token.Counts{Fresh: 1, CacheWrite: 10}, token.MediaTokens{Input: 11}, 8 + 50},
	} {
		units := token.Units{ImageTokens: tt.images}
		cost := nanos(t, p, Charge{Tokens: tt.tokens, Units: &units})
		assert.Equal(t, tt.micros*1000, cost, name)
		bound, _ := p.Bound(admitted, MaxUse{Prompt: tt.tokens.Input(), Answer: tt.tokens.Output()})
		assert.GreaterOrEqual(t, bound, cost, name)
		assert.Equal(t, nanos(t, plain, Charge{Tokens: tt.tokens}), nanos(t, plain, Charge{Tokens: tt.tokens, Units: &units}), "%s, at one price", name)
	}
	assert.NotEqual(t, p.ID(), plain.ID())
	assert.Equal(t, plain.ID(), one(t, "input,cache_read,output,image_input,image_output", "5,1,10,5,10").ID(), "the same price")
	assert.Regexp(t, `^p m USD 5/10 image_input 8 image_output 30 #`, p.Name())
	long := one(t, columns+",edge,input_above,output_above", values+",>=100,10,30")
	assert.EqualValues(t, 1000*(16*100+90), nanos(t, long, Charge{Tokens: token.Counts{Fresh: 100, Answer: 1}, Units: &token.Units{ImageTokens: token.MediaTokens{Input: 100, Output: 1}}}))
}

// A correction of prices sees the record alone, which has no units: their cost would be 0.
func TestTheCostOfUnknownUnitsIsUnknown(t *testing.T) {
	cost, _ := one(t, "input,output,image", "1,2,0.04").Cost(Charge{Admitted: admitted, Tokens: token.Counts{Fresh: 1}})
	assert.Equal(t, Cost{Nanos: 1000, InPart: true}, cost)
	cost, _ = one(t, "input,output", "1,2").Cost(Charge{Admitted: admitted, Tokens: token.Counts{Fresh: 1}})
	assert.Equal(t, Cost{Nanos: 1000}, cost)
}

// What a price shows is what a table with these cells contains.
func TestThePriceOfItsCellsCostsTheSame(t *testing.T) {
	for name, list := range Builtin().index.All {
		for _, p := range list {
			row := map[string]string{"models": name.Name}
			for _, cell := range p.Cells() {
				row[cell.Column] = cell.Value
			}
			row["confirmed"] = "yes"
			again, err := FromRows(name.Provider, []map[string]string{row})
			require.NoError(t, err, name)
			list, _ := again.index.Get(name.Provider, name.Name)
			require.True(t, p.CostsAs(list[0]), "%v: %v", name, p.Cells())
			require.Equal(t, p.Period, list[0].Period, name)
		}
	}
	unknown := &Price{Base: Rates{Fresh: 3, Answer: 1, Unknown: Searches}, Currency: "EUR"}
	assert.Contains(t, unknown.Cells(), Cell{"input", "0.000003"})
	assert.NotContains(t, unknown.Cells(), Cell{"search", "0"})
}
