package delivery

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	_ "github.com/caddyserver/caddy/v2/modules/filestorage"
	"github.com/caddyserver/certmagic"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/webhook"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/alerts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/events"
)

// request is what a receiver got.
type request struct {
	header http.Header
	body   string
}

// receive starts a receiver.
func receive(t *testing.T) (address string, got chan request) {
	got = make(chan request, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- request{r.Header, string(body)}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(server.Close)
	return server.URL, got
}

// start starts a sender with its marks in a folder.
func start(t *testing.T, address, folder string, slack bool) *sender {
	t.Helper()
	s := newSender(slack, marks{&certmagic.FileStorage{Path: folder}, "w"}, zap.NewNop())
	require.NoError(t, s.setURL(aigateway.Secret(address)))
	s.start()
	return s
}

func event(t *testing.T, name string, data map[string]any) caddy.Event {
	t.Helper()
	e, err := caddy.NewEvent(caddy.Context{Context: context.Background()}, name, data)
	require.NoError(t, err)
	return e
}

func threshold(percent int, renews string) map[string]any {
	return map[string]any{"limit": "team", "per": "key", "subject": "alice", "percent": percent, "budget": "50 USD per month", "renews": renews}
}

// TestX133ABudgetIsReportedOncePerLevelAndPeriod: alerts that are sent once for each request
// are what users of other gateways complain of.
func TestX133ABudgetIsReportedOncePerLevelAndPeriod(t *testing.T) {
	address, got := receive(t)
	folder := t.TempDir()
	const (
		month = "2999-02-01T00:00:00Z"
		next  = "2999-03-01T00:00:00Z"
	)
	send := func(percent int, renews string) {
		s := start(t, address, folder, false) // as after a restart
		require.NoError(t, (&Webhook{sender: s}).Handle(t.Context(), event(t, events.BudgetThreshold, threshold(percent, renews))))
		require.NoError(t, s.Destruct())
	}
	for range 100 {
		send(80, month)
	}
	assert.Len(t, got, 1, "one for the level and the period")
	send(100, month)
	assert.Len(t, got, 2, "another level")
	send(80, next)
	assert.Len(t, got, 3, "another period")
	send(50, "2001-01-01T00:00:00Z")
	send(50, "2001-01-01T00:00:00Z")
	assert.Len(t, got, 5, "the period is over")
	var a alerts.Alert
	require.NoError(t, json.Unmarshal([]byte((<-got).body), &a))
	assert.Equal(t, "80 % of the budget of 50 USD per month in the limit team are spent or reserved for the key alice.", a.Text)
	assert.Equal(t, events.BudgetThreshold, a.Event)
	assert.Equal(t, month, a.Data["renews"])
}

// locked is a storage that reports who waits for its lock.
type locked struct {
	certmagic.Storage
	asked chan struct{}
	lock  sync.Mutex
}

func (l *locked) Lock(context.Context, string) error {
	l.asked <- struct{}{}
	l.lock.Lock()
	return nil
}

func (l *locked) Unlock(context.Context, string) error {
	l.lock.Unlock()
	return nil
}

// Two gateways that noticed the same at once had both looked for the mark before one of them
// set it, so that both sent the alert.
func TestGatewaysThatNoticeAnAlertAtOnceSendItOnce(t *testing.T) {
	storage := &locked{Storage: &certmagic.FileStorage{Path: t.TempDir()}, asked: make(chan struct{}, 10)}
	asked, answer := make(chan struct{}, 10), make(chan struct{})
	gateways := make([]*sender, 2)
	for i := range gateways {
		gateways[i] = newSender(false, marks{storage, "w"}, zap.NewNop())
		require.NoError(t, gateways[i].setURL("http://receiver.example"))
		gateways[i].client.Transport = roundTrip(func(*http.Request) (*http.Response, error) {
			asked <- struct{}{}
			<-answer
			return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody}, nil
		})
		gateways[i].start()
	}
	alert := alerts.New("1", events.BudgetThreshold, time.Now(), threshold(80, "2999-02-01T00:00:00Z"))
	gateways[0].add(alert)
	<-asked
	<-storage.asked
	gateways[1].add(alert)
	select {
	case <-storage.asked:
	case <-asked:
		t.Error("both send it")
	}
	close(answer)
	for _, gateway := range gateways {
		require.NoError(t, gateway.Destruct())
	}
	assert.Empty(t, asked)
}

// The webhooks of a configuration had one mark for an alert: what the one had got was not sent
// to the other.
func TestEachWebhookGetsAnAlert(t *testing.T) {
	folder := t.TempDir()
	address, got := receive(t)
	for _, webhook := range []Webhook{{URL: "{env.A}"}, {URL: "{env.B}"}, {URL: "{env.B}"}} {
		s := newSender(false, marks{&certmagic.FileStorage{Path: folder}, webhook.fingerprint()}, zap.NewNop())
		require.NoError(t, s.setURL(aigateway.Secret(address)))
		s.start()
		s.add(alerts.New("1", events.BudgetThreshold, time.Now(), threshold(80, "2999-02-01T00:00:00Z")))
		require.NoError(t, s.Destruct())
	}
	assert.Len(t, got, 2)
}

func TestMarksOfThePastAreRemoved(t *testing.T) {
	folder := t.TempDir()
	m := marks{&certmagic.FileStorage{Path: folder}, "w"}
	now := time.Now()
	require.NoError(t, m.set(t.Context(), "past", now.Add(-time.Hour)))
	require.NoError(t, m.set(t.Context(), "future", now.Add(time.Hour)))
	m.prune(t.Context(), now)
	files, err := filepath.Glob(filepath.Join(folder, "ai_gateway/alerts/*"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	assert.Equal(t, "future-w", filepath.Base(files[0]))
}

// TestX134AReceiverThatHangsHoldsNobodyBack: a handler of an event that waits for a receiver
// would hold back all other handlers.
func TestX134AReceiverThatHangsHoldsNobodyBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.WarnLevel)
		s := newSender(false, marks{&certmagic.FileStorage{Path: t.TempDir()}, "w"}, zap.New(core))
		require.NoError(t, s.setURL("http://receiver.example"))
		asked := 0
		s.client.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			asked++
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		s.start()
		w := &Webhook{sender: s}
		begin := time.Now()
		for range mostWaiting + 11 {
			require.NoError(t, w.Handle(t.Context(), event(t, events.ProviderUp, map[string]any{"provider": "p"})))
		}
		assert.Zero(t, time.Since(begin))
		assert.GreaterOrEqual(t, logs.FilterMessageSnippet("dropping alert").Len(), 10)
		time.Sleep(time.Minute)
		begin = time.Now()
		require.NoError(t, s.Destruct())
		assert.LessOrEqual(t, time.Since(begin), timeToEnd)
		assert.GreaterOrEqual(t, asked, len(pauses)+1)
	})
}

func report(period, to string) map[string]any {
	return map[string]any{"period": period, "from": "2026-11-23T00:00:00Z", "to": to, "zone": "UTC", "ledger": "l"}
}

// A report that several gateways emit, and each of their starts, is sent once, and only to the
// webhooks that want its period.
func TestAReportIsSentOnceToTheWebhooksThatWantIt(t *testing.T) {
	address, got := receive(t)
	folder := t.TempDir()
	for range 3 { // gateways, or restarts
		s := start(t, address, folder, true)
		w := &Webhook{sender: s, Reports: []string{"weekly"}}
		require.NoError(t, w.Handle(t.Context(), event(t, events.SpendReport, report("daily", "2999-11-24T00:00:00Z"))))
		require.NoError(t, w.Handle(t.Context(), event(t, events.SpendReport, report("weekly", "2999-11-30T00:00:00Z"))))
		require.NoError(t, (&Webhook{sender: s}).Handle(t.Context(), event(t, events.SpendReport, report("weekly", "2999-12-07T00:00:00Z"))))
		require.NoError(t, s.Destruct())
	}
	require.Len(t, got, 1)
	assert.Contains(t, (<-got).body, `{"text":"Spend in the week from 2026-11-23 to 2999-11-29`)
}

// A report that a webhook did not take at midnight was lost: the next one is that of another period.
func TestAReportIsSentWhenTheWebhookAnswersAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSender(false, marks{&certmagic.FileStorage{Path: t.TempDir()}, "w"}, zap.NewNop())
		require.NoError(t, s.setURL("http://receiver.example"))
		var status atomic.Int64
		status.Store(http.StatusBadGateway)
		begin, delivered := time.Now(), make(chan time.Duration, 10)
		s.client.Transport = roundTrip(func(*http.Request) (*http.Response, error) {
			code := int(status.Load())
			if code == http.StatusNoContent {
				delivered <- time.Since(begin).Round(time.Hour)
			}
			return &http.Response{StatusCode: code, Body: http.NoBody}, nil
		})
		s.start()
		s.add(alerts.New("1", events.SpendReport, time.Now(), report("daily", "2999-11-24T00:00:00Z")))
		s.add(alerts.New("2", events.ProviderUp, time.Now(), nil))
		time.Sleep(150 * time.Minute)
		status.Store(http.StatusNoContent)
		time.Sleep(24 * time.Hour)
		require.Len(t, delivered, 1)
		assert.Equal(t, 3*time.Hour, <-delivered)

		status.Store(http.StatusBadGateway)
		s.add(alerts.New("3", events.SpendReport, time.Now(), report("daily", "2999-11-25T00:00:00Z")))
		time.Sleep(8 * 24 * time.Hour)
		status.Store(http.StatusNoContent)
		time.Sleep(24 * time.Hour)
		assert.Empty(t, delivered, "a week is enough")
		require.NoError(t, s.Destruct())
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestFailedRequestsAreRepeatedIfThatMayHelp(t *testing.T) {
	for _, tt := range []struct {
		statuses []int
		requests int
	}{
		{[]int{500}, 2}, {[]int{429, 503}, 3}, {[]int{500, 500, 500, 500}, 3}, {[]int{400}, 1}, {[]int{302}, 1}, {nil, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			core, logs := observer.New(zap.WarnLevel)
			s := newSender(false, marks{&certmagic.FileStorage{Path: t.TempDir()}, "w"}, zap.New(core))
			require.NoError(t, s.setURL("http://receiver.example/secret-path"))
			left, asked := tt.statuses, 0
			s.client.Transport = roundTrip(func(*http.Request) (*http.Response, error) {
				asked++
				status := http.StatusOK
				if len(left) > 0 {
					status, left = left[0], left[1:]
				}
				return &http.Response{StatusCode: status, Header: http.Header{"Location": {"/x"}}, Body: http.NoBody}, nil
			})
			s.start()
			s.add(&alerts.Alert{Event: events.ProviderUp})
			time.Sleep(time.Minute)
			require.NoError(t, s.Destruct())
			assert.Equal(t, tt.requests, asked, "%v", tt.statuses)
			assert.Equal(t, len(left) > 0 || asked == len(tt.statuses), logs.Len() > 0, "%v", tt.statuses)
		})
	}
}

// An address of Slack is a credential, and errors of requests quote the address.
func TestLogsDoNotContainTheAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.DebugLevel)
		s := newSender(true, marks{&certmagic.FileStorage{Path: t.TempDir()}, "w"}, zap.New(core))
		require.NoError(t, s.setURL("http://receiver.example/services/secret"))
		s.client.Transport = roundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("refused") })
		s.start()
		s.add(&alerts.Alert{Event: events.ProviderUp, Text: "up"})
		time.Sleep(time.Minute)
		require.NoError(t, s.Destruct())
		require.Equal(t, 1, logs.FilterMessage("alert was not delivered").Len())
		for _, entry := range logs.All() {
			assert.NotContains(t, fmt.Sprint(entry.Message, entry.ContextMap()), "secret")
		}
	})
}

func TestRequestsAreSigned(t *testing.T) {
	key := []byte("of the company")
	address, got := receive(t)
	s := start(t, address, t.TempDir(), false)
	require.NoError(t, s.setSecret("whsec_"+aigateway.Secret(base64.StdEncoding.EncodeToString(key))))
	s.add(&alerts.Alert{ID: "1", Event: events.ProviderUp})
	r := <-got
	assert.Equal(t, webhook.Sign(key, "1", r.header.Get("Webhook-Timestamp"), []byte(r.body)), r.header.Get("Webhook-Signature"))
	assert.Equal(t, "1", r.header.Get("Webhook-Id"))
	require.NoError(t, s.setSecret("plain"))
	s.add(&alerts.Alert{ID: "2", Event: events.ProviderUp})
	r = <-got
	assert.Equal(t, webhook.Sign([]byte("plain"), "2", r.header.Get("Webhook-Timestamp"), []byte(r.body)), r.header.Get("Webhook-Signature"))
	require.ErrorIs(t, s.setSecret("whsec_%"), webhook.ErrSecret)
	require.NoError(t, s.Destruct())
}

func TestSlackGetsTheTextAlone(t *testing.T) {
	address, got := receive(t)
	s := start(t, address, t.TempDir(), true)
	require.NoError(t, (&Webhook{sender: s}).Handle(t.Context(), event(t, events.ProviderDown, map[string]any{
		"provider": "anthropic", "model": "claude", "cause": "credential_refused", "until": "soon",
	})))
	assert.JSONEq(t, `{"text":"The provider anthropic refuses an API key of the gateway (credential_refused). It rests until soon."}`, (<-got).body)
	require.NoError(t, s.Destruct())
	assert.Empty(t, (&alerts.Alert{Event: events.ProviderDown}).ID)
}

func TestEventsThatAreNoAlertsAreNotSent(t *testing.T) {
	s := start(t, "http://127.0.0.1:1", t.TempDir(), false)
	require.NoError(t, (&Webhook{sender: s}).Handle(t.Context(), event(t, events.Fallback, nil)))
	assert.Empty(t, s.waiting)
	require.NoError(t, s.Destruct())
}

func TestCaddyfile(t *testing.T) {
	for text, want := range map[string]any{
		"ai_gateway_webhook https://a.example":                                Webhook{URL: "https://a.example"},
		"ai_gateway_webhook a {\nreport weekly monthly\n}":                    Webhook{URL: "a", Reports: []string{"weekly", "monthly"}},
		"ai_gateway_webhook a {\nreport\n}":                                   "wrong argument count",
		"ai_gateway_webhook {env.A} {\nsecret {file./run/b}\nformat slack\n}": Webhook{URL: "{env.A}", Secret: "{file./run/b}", Format: "slack"},
		"ai_gateway_webhook":                                                  "wrong argument count",
		"ai_gateway_webhook a b":                                              "wrong argument count",
		"ai_gateway_webhook a {\nsecret hunter2\n}":                           "a literal secret is refused",
		"ai_gateway_webhook a {\nformat\n}":                                   "wrong argument count",
		"ai_gateway_webhook a {\nformat json\nformat slack\n}":                "format is set twice",
		"ai_gateway_webhook a {\nretries 3\n}":                                "unknown word retries",
	} {
		w := new(Webhook)
		err := w.UnmarshalCaddyfile(caddyfile.NewTestDispenser(text))
		if message, ok := want.(string); ok {
			assert.ErrorContains(t, err, message, text)
			continue
		}
		require.NoError(t, err, text)
		assert.Equal(t, want, *w, text)
	}
}

func TestProvisionRefuses(t *testing.T) {
	t.Setenv("ALERTS", "ftp://a.example/hidden")
	for handler, want := range map[string]string{
		`"url":"https://a.example","format":"xml"`:              errFormat.Error(),
		`"url":"https://a.example","reports":["hourly"]`:        errReport.Error(),
		`"url":"https://a.example","reports":["daily","daily"]`: errReport.Error(),
		`"url":"a.example"`:                               errAddress.Error(),
		`"url":"https:///hidden"`:                         errAddress.Error(),
		`"url":"{env.ALERTS}"`:                            errAddress.Error(),
		`"url":"https://a.example","secret":"hunter2"`:    "secret: a secret is {env.NAME}",
		`"url":"https://a.example","secret":"{env.NONE}"`: "is not set",
	} {
		var config caddy.Config
		require.NoError(t, json.Unmarshal([]byte(`{"storage":{"module":"file_system","root":"`+t.TempDir()+`"},"apps":{"events":{"subscriptions":[{"handlers":[{"handler":"ai_gateway_webhook",`+handler+`}]}]}}}`), &config))
		err := caddy.Validate(&config)
		require.ErrorContains(t, err, want, handler)
		assert.NotContains(t, err.Error(), "hidden")
		assert.NotContains(t, err.Error(), "hunter2")
	}
}

// A report on another event than that of reports, that event without a report, and an event that is no alert were
// accepted, and nothing was ever sent.
func TestWhatSendsNothingIsRefused(t *testing.T) {
	for bound, want := range map[string]string{
		`"events":["ai_gateway_budget_threshold"],|"reports":["daily"],`:                        "report: has no effect on ai_gateway_budget_threshold; bind the handler to ai_gateway_spend_report, or to *",
		`"events":["ai_gateway_spend_report"],|`:                                                errNoPeriod.Error(),
		`"events":["ai_gateway_budget_treshold"],|`:                                             "on: the event 'ai_gateway_budget_treshold' is no alert; did you mean",
		`"events":["ai_gateway_provider_down","ai_gateway_fallback"],|`:                         "on: the event 'ai_gateway_fallback' is no alert",
		`"events":["ai_gateway_budget_threshold"],|`:                                            "",
		`"events":["ai_gateway_spend_report"],|"reports":["daily"],`:                            "",
		`"events":[""],|"reports":["daily"],`:                                                   "",
		`"events":[""],|`:                                                                       "",
		`|"reports":["daily"],`:                                                                 "",
		`"events":["ai_gateway_spend_report","ai_gateway_provider_down"],|"reports":["daily"],`: "",
	} {
		names, reports, _ := strings.Cut(bound, "|")
		var config caddy.Config
		require.NoError(t, json.Unmarshal([]byte(`{"storage":{"module":"file_system","root":"`+t.TempDir()+`"},"apps":{"events":{"subscriptions":[
			{"events":["ai_gateway_provider_up"],"handlers":[{"handler":"ai_gateway_webhook","url":"https://first.example"}]},
			{`+names+`"handlers":[{"handler":"ai_gateway_webhook",`+reports+`"url":"https://a.example"}]},
			{"events":[""],"handlers":[{"handler":"ai_gateway_webhook","url":"https://last.example"}]}]}}}`), &config))
		if err := caddy.Validate(&config); want == "" {
			assert.NoError(t, err, bound)
		} else {
			assert.ErrorContains(t, err, want, bound)
		}
	}
}
