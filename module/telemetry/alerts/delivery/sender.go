package delivery

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/outbound"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/webhook"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/alerts"
)

const (
	mostWaiting = 1000            // alerts
	timeout     = 5 * time.Second // of a request
	timeToEnd   = 5 * time.Second // for what waits when the process ends
	mostRead    = 64 << 10        // bytes of an answer

	reportAgainAfter = time.Hour          // for a report that was not delivered
	reportAgainFor   = 7 * 24 * time.Hour // since the report
)

// pauses are the times before the repetitions of a request.
var pauses = [...]time.Duration{time.Second, 10 * time.Second}

// sender sends alerts one after the other.
type sender struct {
	slack   bool
	logger  *zap.Logger
	marks   marks
	client  *http.Client
	url     atomic.Pointer[aigateway.Secret] // an address of Slack is a secret
	secret  atomic.Pointer[[]byte]           // nil for no signatures
	waiting chan *alerts.Alert
	started sync.Once
	cancel  context.CancelFunc
	ctx     context.Context // ends with the sender
	ending  chan struct{}   // closed when no more alerts come
	done    chan struct{}   // closed when the last alert was sent
}

func newSender(slack bool, sent marks, logger *zap.Logger) *sender {
	s := &sender{
		slack: slack, logger: logger, marks: sent,
		waiting: make(chan *alerts.Alert, mostWaiting), ending: make(chan struct{}), done: make(chan struct{}),
		client: outbound.Client(timeout, nil),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// setURL sets the address.
func (s *sender) setURL(text aigateway.Secret) error {
	if err := checkURL(string(text)); err != nil {
		return err
	}
	s.url.Store(&text)
	return nil
}

// setSecret sets the secret of signatures.
func (s *sender) setSecret(text aigateway.Secret) error {
	key, err := webhook.Key(text)
	if err == nil {
		s.secret.Store(&key)
	}
	return err
}

// start starts sending, once.
func (s *sender) start() { s.started.Do(func() { go s.run() }) }

// add adds an alert to those that wait, unless too many do.
func (s *sender) add(a *alerts.Alert) {
	select {
	case s.waiting <- a:
	default:
		s.logger.Warn("dropping alert: too many alerts wait for the webhook", zap.String("event", a.Event))
	}
}

// Destruct ends the sender. What waits is sent within timeToEnd.
func (s *sender) Destruct() error {
	s.start() // so that run closes done
	close(s.ending)
	select {
	case <-s.done:
	case <-time.After(timeToEnd):
	}
	s.cancel()
	<-s.done
	return nil
}

// run sends alerts until the end, and then those that still wait.
func (s *sender) run() {
	defer close(s.done)
	s.marks.prune(s.ctx, time.Now())
	for {
		select {
		case a := <-s.waiting:
			s.deliver(a)
			continue
		case <-s.ending:
		}
		select {
		case a := <-s.waiting:
			s.deliver(a)
		default:
			return
		}
	}
}

// deliver sends an alert, unless it was sent before. Of several gateways that have it at once,
// the others wait for the first, and send it if the first could not.
func (s *sender) deliver(a *alerts.Alert) {
	mark, end := a.Mark()
	defer s.marks.hold(s.ctx, mark)()
	if s.ctx.Err() != nil || s.marks.has(s.ctx, mark, time.Now()) {
		return
	}
	if err := s.send(a); err != nil {
		s.logger.Error("alert was not delivered", zap.String("event", a.Event), zap.String("text", a.Text), zap.Error(err))
		if a.IsReport() && time.Since(a.Time) < reportAgainFor {
			time.AfterFunc(reportAgainAfter, func() { s.add(a) })
		}
		return
	}
	if err := s.marks.set(s.ctx, mark, end); err != nil {
		s.logger.Warn("alert may be sent again after a restart", zap.String("event", a.Event), zap.Error(err))
	}
}

// send sends an alert, and repeats a request that a repetition may help.
func (s *sender) send(a *alerts.Alert) error {
	body, err := s.body(a)
	if err != nil {
		return err
	}
	for try := 0; ; try++ {
		retry, err := s.post(a, body)
		if err == nil || !retry || try == len(pauses) {
			return err
		}
		select {
		case <-s.ctx.Done():
			return err
		case <-time.After(pauses[try]):
		}
	}
}

func (s *sender) body(a *alerts.Alert) ([]byte, error) {
	if s.slack {
		return json.Marshal(map[string]string{"text": a.Text})
	}
	return json.Marshal(a)
}

// post sends one request. retry reports whether it may succeed if it is repeated.
func (s *sender) post(a *alerts.Alert, body []byte) (retry bool, err error) {
	r, err := http.NewRequestWithContext(s.ctx, http.MethodPost, string(*s.url.Load()), bytes.NewReader(body))
	if err != nil {
		return false, errAddress
	}
	r.Header.Set("Content-Type", "application/json")
	var key []byte
	if secret := s.secret.Load(); secret != nil {
		key = *secret
	}
	webhook.SetHeaders(r.Header, key, a.ID, body)
	res, err := s.client.Do(r)
	if cause := new(url.Error); errors.As(err, &cause) {
		return true, cause.Err // without the address
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, mostRead) // so that the connection can be used again
	if res.StatusCode/100 == 2 {
		return false, nil
	}
	retry = res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusRequestTimeout
	return retry, fmt.Errorf("the webhook answered with status %d", res.StatusCode)
}
