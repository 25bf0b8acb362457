package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/storetest"
)

func TestMain(m *testing.M) {
	if !playRole() { // the processes that a test starts are processes of the test binary
		os.Exit(m.Run())
	}
}

// newBench returns a run of tiny measurements with some of the gateways.
func newBench(t *testing.T, gateways []setup) bench {
	t.Helper()
	var dsn string
	if cluster, installed := storetest.Postgres(t); installed {
		dsn = cluster.NewDatabase(t)
	}
	servers, err := newServers(t.Context(), "", dsn)
	require.NoError(t, err)
	t.Cleanup(servers.stop)
	return bench{options{rounds: 1, duration: time.Millisecond, gateways: gateways, folder: t.TempDir()}, t.TempDir(), servers}
}

// tiny returns a scenario with little of everything.
func tiny(s scenario) scenario {
	s.clients, s.pace = 2, min(s.pace, time.Millisecond)
	s.events = min(s.events, 5)
	s.setting.keys, s.setting.models, s.setting.providers = min(s.setting.keys, 7), min(s.setting.models, 5), min(s.setting.providers, 3)
	return s
}

// The program checks every answer: this is also a test of all setups and scenarios.
func TestEachGatewayAnswersEachScenario(t *testing.T) {
	var plain, others []scenario
	for _, s := range scenarios {
		if s.setting == (setting{}) {
			plain = append(plain, tiny(s))
		} else {
			others = append(others, tiny(s))
		}
	}
	b := newBench(t, setups)
	all, err := b.measureAll(t.Context(), plain)
	require.NoError(t, err)
	assert.Len(t, all, len(setups)*len(plain))
	b.gateways = []setup{setups[0], setups[len(setups)-1]}
	more, err := b.measureAll(t.Context(), others)
	require.NoError(t, err)
	if b.servers.redis != "" && b.servers.postgres != "" {
		assert.Len(t, more, 2*len(others))
	}
	all = append(all, more...)
	require.NoError(t, report(b.folder, b.conditions(), all, bars))

	written, err := os.ReadFile(filepath.Join(b.folder, "results.json"))
	require.NoError(t, err)
	var read []result
	require.NoError(t, json.Unmarshal(written, &read))
	assert.Equal(t, all, read)
	drawn, err := os.ReadFile(filepath.Join(b.folder, "chart.svg"))
	require.NoError(t, err)
	assert.Equal(t, len(setups)*len(bounds), bytes.Count(drawn, []byte("<rect ")))
	table, err := os.ReadFile(filepath.Join(b.folder, "table.md"))
	require.NoError(t, err)
	assert.Equal(t, len(all)+2, bytes.Count(table, []byte("\n|"))) // with the titles
	for _, r := range all {
		assert.Contains(t, r.Figures, resident)
		if runtime.GOOS == "linux" {
			assert.Less(t, r.Figures[anonymous], r.Figures[resident])
			assert.Positive(t, r.Figures[anonymous])
		}
		if r.Scenario == "1000 slow streams" {
			assert.Contains(t, r.Figures, lag99)
			assert.Contains(t, r.Figures, streamKB)
		}
	}
}

// A gateway that ends at its start, as one with an error in its configuration does, was waited for
// up to a minute, and the next one was started.
func TestAGatewayThatEndsIsNotWaitedFor(t *testing.T) {
	folder := t.TempDir()
	missing := &process{setup: setup{name: "first"}, links: links{admin: "127.0.0.1:1"}, folder: folder, config: filepath.Join(folder, "missing")}
	next := &process{setup: setup{name: "next"}, folder: folder}
	provider := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(provider.Close)
	address := provider.Listener.Addr().String()
	s := &stage{gateways: []*process{missing, next}}
	t.Cleanup(s.stop)
	assert.EqualError(t, s.start(t.Context(), links{provider: address, providerTLS: address}), "waiting for first: exit status 1")
	assert.Nil(t, next.run)
}

func TestWrongFlagsAreNamed(t *testing.T) {
	for args, want := range map[[2]string]string{
		{"-gateways", "fast"}:    "-gateways",
		{"-scenarios", "images"}: "-scenarios",
		{"-rounds", "0"}:         "-rounds",
		{"-soak", "-1s"}:         "-soak",
	} {
		_, err := parse(args[:])
		assert.ErrorContains(t, err, want)
	}
}

func TestTheBaselineIsAlwaysMeasured(t *testing.T) {
	o, err := parse([]string{"-gateways", "full", "-scenarios", "chat 100;TLS client, HTTP/2, stream"})
	require.NoError(t, err)
	assert.Len(t, o.gateways, 2)
	assert.Equal(t, baseline, o.gateways[0].name)
	assert.Len(t, o.scenarios, 2)
}

// A machine that becomes slower changes all gateways of a round: the ratio of the medians
// would compare a slow round of one with a fast round of another.
func TestARatioIsThatOfOneRound(t *testing.T) {
	all := summarize(rounds("s", []float64{1, 10, 100}, []float64{2, 20, 200}))
	require.Len(t, all, 2)
	assert.Equal(t, 1.0, all[0].ratio())
	assert.Equal(t, 2.0, all[1].ratio())
}

// rounds returns results with processor times of the baseline and of the gateway with
// everything on.
func rounds(scenario string, base, full []float64) (all []result) {
	for i := range base {
		all = append(all,
			result{i, scenario, baseline, measurement{cpu: base[i]}},
			result{i, scenario, guardedGateway, measurement{cpu: full[i]}})
	}
	return all
}

func TestAnAnswerThatIsNotWholeIsAnError(t *testing.T) {
	for _, s := range scenarios {
		whole := jsonAnswers[s.client]
		if s.events > 0 {
			whole = streams[s.client](s.events)
		}
		assert.NoError(t, s.check([]byte(whole)), s.name)
		assert.Error(t, s.check([]byte(whole[:len(whole)/2])), s.name)
	}
}

func TestTheTimeOfATextIsReadFromIt(t *testing.T) {
	at, found := stampOf([]byte(`data: {"delta":"@1700000000000000001 eight tokens of text"}`))
	assert.True(t, found)
	assert.Equal(t, int64(1700000000000000001), at.UnixNano())
	_, found = stampOf([]byte(`data: {"text":"@1700000000000000001 eight tokens of text@17"}`))
	assert.False(t, found, "several texts in one")
}

// A machine that does other work makes single rounds slow: what the fastest rounds prove
// counts, and the median of the ratios if it is less.
func TestTheGuardTakesTheLeastThatIsProved(t *testing.T) {
	ratio, measured := least(rounds("s", []float64{10, 10, 10}, []float64{30, 12, 30}), "s")
	assert.True(t, measured)
	assert.InDelta(t, 1.2, ratio, 1e-9)
	ratio, _ = least(rounds("s", []float64{5, 10, 10}, []float64{12, 12, 12}), "s")
	assert.InDelta(t, 1.2, ratio, 1e-9)
	_, measured = least(nil, "s")
	assert.False(t, measured)

	b := bound{scenario: "s", ratio: 1}
	assert.NoError(t, b.check(slack))
	assert.ErrorContains(t, b.check(slack+0.01), "s takes 1.16 times")
}

func TestEachBoundNamesAScenario(t *testing.T) {
	assert.Len(t, guarded(), len(bounds))
	for _, b := range bounds {
		assert.NotEmpty(t, b.reason, b.scenario)
	}
}

func TestASoakFailsIfAResourceGrows(t *testing.T) {
	flat, leak := make([]resources, 40), make([]resources, 40)
	for i := range flat {
		flat[i] = resources{anonymous: 40e6, resident: 80e6, heap: 8e6, goroutines: 30, files: 20}
		leak[i] = flat[i]
		leak[i].goroutines += float64(i)
	}
	flat[0].anonymous, flat[0].resident = 5e6, 10e6 // pools are empty at first
	assert.NoError(t, soakReport(t.TempDir(), flat, time.Second, 1))
	assert.ErrorContains(t, soakReport("", leak, time.Second, 1), "goroutines: from")
}

// Each kind of traffic of a soak is answered, also during a reload.
func TestACycleOfASoak(t *testing.T) {
	b := newBench(t, setups)
	stage, err := newStage(t.Context(), b.folder, setups[len(setups)-1:], b.servers, soakSetting)
	require.NoError(t, err)
	defer stage.stop()
	asked, failed, err := soak(t.Context(), stage.gateways[0], 100*time.Millisecond, 0)
	require.NoError(t, err)
	assert.Positive(t, asked)
	assert.Zero(t, failed)
	l, err := newLoad(stage.gateways[0], scenario{clients: 1, setting: soakSetting})
	require.NoError(t, err)
	for _, v := range visits {
		assert.NoError(t, v.pay(t.Context(), stage.gateways[0], l.clients[0].http), v.scenario.name)
	}
	rest, err := stage.gateways[0].atRest(t.Context())
	require.NoError(t, err)
	assert.Positive(t, rest.goroutines)
	assert.Positive(t, rest.files)
}

func TestGrowthIsDrawn(t *testing.T) {
	all := linear()
	assert.Len(t, slices.CompactFunc(slices.Clone(all), func(a, b scenario) bool { return a.name == b.name }), len(all))
	var results []result
	for _, s := range all {
		results = append(results, rounds(s.name, []float64{1}, []float64{2})...)
	}
	drawn := curves(summarize(results))
	assert.Equal(t, 2*len(growth), bytes.Count(drawn, []byte("<polyline ")))
	assert.InDelta(t, 1e6, len(sizedBody(1e6)), 1e5)
}

func sizedBody(n int) []byte { return scenario{client: messages, size: sized(n)}.body("m") }
