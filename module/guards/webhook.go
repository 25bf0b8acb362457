package guards

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/outbound"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/secrets"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/webhook"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

func init() { caddy.RegisterModule(new(Webhook)) }

// Webhook is the guard ai_gateway.guards.webhook. It asks a service by POST. The request has
// the texts, and what they belong to; the answer has an action: NONE, BLOCKED, or
// GUARDRAIL_INTERVENED with other texts. Redirects are not followed.
type Webhook struct {
	// URL is the http or https address of the service. Required.
	URL string `json:"url"`
	// Secret is a reference to the secret of signatures: {env.NAME} or
	// {file./absolute/path}. A request then has the headers of Standard Webhooks; a secret
	// that begins with "whsec_" is base64 behind it. Default: no signatures.
	Secret string `json:"secret,omitempty"`
	// Timeout bounds a call of the service. Default: 2s.
	Timeout caddy.Duration `json:"timeout,omitempty"`
	// OnError selects what becomes of texts that the service has not checked, because it could
	// not be reached, or did not answer in time or as it should: "block" refuses them, "pass"
	// lets them pass, with a warning in the log. Required.
	OnError string `json:"on_error"`

	client *http.Client
	secret atomic.Pointer[[]byte] // nil for no signatures
}

// The values of OnError, and defaults and bounds of a Webhook.
const (
	onErrorBlock = "block"
	onErrorPass  = "pass"

	defaultTimeout = 2 * time.Second
	mostAnswer     = 64 << 10 // bytes, beside twice the size of the request
)

// CaddyModule returns the Caddy module information.
func (*Webhook) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "ai_gateway.guards.webhook", New: func() caddy.Module { return new(Webhook) }}
}

// Provision prepares the client.
func (g *Webhook) Provision(ctx caddy.Context) error {
	if err := g.Validate(); err != nil {
		return err
	}
	g.client = outbound.Client(cmp.Or(time.Duration(g.Timeout), defaultTimeout), nil)
	if g.Secret == "" {
		return nil
	}
	return secrets.Follow(ctx, g.Secret, ctx.Logger(), func(value aigateway.Secret) error {
		key, err := webhook.Key(value)
		if err == nil {
			g.secret.Store(&key)
		}
		return err
	})
}

// Validate returns an error for an invalid configuration.
func (g *Webhook) Validate() error {
	u, err := url.Parse(g.URL)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https":
		return errors.New("a guard webhook needs an http or https address without a password")
	case g.OnError != onErrorBlock && g.OnError != onErrorPass:
		return errors.New("a guard webhook needs on_error block or on_error pass: what becomes of texts that it could not check")
	case g.Timeout < 0:
		return errors.New("timeout must be positive")
	}
	return nil
}

// question is the body of a request to the service.
type question struct {
	InputType string                `json:"input_type"` // "request" or "response"
	Texts     []string              `json:"texts"`
	Kinds     []aigateway.GuardKind `json:"kinds"`
	Tools     []string              `json:"tools"`   // the names of tools, "" for other texts
	Partial   bool                  `json:"partial"` // the texts are parts of a stream
	RequestID string                `json:"request_id"`
	Model     string                `json:"model"`
	Format    string                `json:"format"`
	Key       string                `json:"key"`
	Owner     string                `json:"owner"`
}

// answer is the answer of the service.
type answer struct {
	Action string
	Rule   string
	Texts  []string
}

// Check implements aigateway.Guard.
func (g *Webhook) Check(ctx context.Context, v *aigateway.GuardView) (verdict aigateway.GuardVerdict, err error) {
	q, index := ask(v)
	if v.Phase == aigateway.GuardLog || len(q.Texts) == 0 && v.Phase != aigateway.GuardRequest {
		return verdict, nil
	}
	a, err := g.post(ctx, q)
	if err == nil {
		verdict, err = decide(&a, q, index)
	}
	if err != nil && g.OnError == onErrorPass && ctx.Err() == nil {
		return aigateway.GuardVerdict{Unchecked: true}, nil
	}
	return verdict, err
}

// ask returns the question about the texts of a view, and their indices in the view. Single
// words outside of the conversation, such as ids, are left out.
func ask(v *aigateway.GuardView) (q *question, index []int) {
	q = &question{
		InputType: "response", Texts: []string{}, Kinds: []aigateway.GuardKind{}, Tools: []string{},
		Partial: v.Phase == aigateway.GuardStream, RequestID: v.RequestID, Model: v.Model, Format: v.Format, Key: v.Key, Owner: v.Owner,
	}
	if v.Phase == aigateway.GuardRequest {
		q.InputType = "request"
	}
	for i := range v.Texts {
		if t := &v.Texts[i]; !t.IsWord() {
			q.Texts, q.Kinds, q.Tools, index = append(q.Texts, t.Text), append(q.Kinds, t.Kind), append(q.Tools, t.Name), append(index, i)
		}
	}
	return q, index
}

// post sends a question. Its errors contain neither texts nor the address.
func (g *Webhook) post(ctx context.Context, q *question) (a answer, err error) {
	body, err := json.Marshal(q)
	if err != nil {
		return a, fmt.Errorf("writing the question: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, g.URL, bytes.NewReader(body))
	if err != nil {
		return a, errors.New("the address is invalid")
	}
	r.Header.Set("Content-Type", "application/json")
	if secret := g.secret.Load(); secret != nil {
		webhook.SetHeaders(r.Header, *secret, rand.Text(), body) // a request may need several questions
	}
	res, err := g.client.Do(r)
	if cause := new(url.Error); errors.As(err, &cause) {
		return a, cause.Err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return a, fmt.Errorf("the webhook answered with status %d", res.StatusCode)
	}
	limit := 2*len(body) + mostAnswer
	text, err := io.ReadAll(io.LimitReader(res.Body, int64(limit)+1))
	if err != nil || len(text) > limit {
		return a, errors.New("the webhook did not answer to the end, or with too much")
	}
	return readAnswer(text)
}

var errAnswer = errors.New("the webhook answered with something else than one object of JSON with the members of an answer")

// readAnswer reads an answer to its end. An answer that two readers would read differently is none:
// one with a member twice, with a member in other letters, or with bytes behind it.
func readAnswer(text []byte) (a answer, err error) {
	var texts []*string
	members := map[string]any{"action": &a.Action, "rule": &a.Rule, "texts": &texts}
	c := jsonscan.New(text)
	c.EnterObject()
	for c.Member() {
		name := string(c.Name())
		value := c.Skip()
		if dst, known := members[name]; known && json.Unmarshal(value, dst) != nil || strings.ToLower(name) != name {
			return a, errAnswer
		}
	}
	if c.Finish() != nil {
		return a, errAnswer
	}
	for _, text := range texts {
		if text == nil {
			return a, errAnswer
		}
		a.Texts = append(a.Texts, *text)
	}
	return a, nil
}

// decide returns the verdict of an answer.
func decide(a *answer, q *question, index []int) (verdict aigateway.GuardVerdict, err error) {
	rule := "webhook"
	if nameShape.MatchString(a.Rule) {
		rule = a.Rule
	}
	switch a.Action {
	case "NONE":
	case "BLOCKED":
		verdict.Block = rule
	case "GUARDRAIL_INTERVENED":
		if len(a.Texts) != len(q.Texts) {
			return verdict, errors.New("the webhook answered with another number of texts")
		}
		for i, text := range a.Texts {
			if text != q.Texts[i] {
				verdict.Edits = append(verdict.Edits, difference(index[i], q.Texts[i], text, rule))
			}
		}
	default:
		return verdict, errors.New("the webhook answered with an unknown action")
	}
	return verdict, nil
}

// difference returns the edit by which one text becomes another.
func difference(i int, old, now, rule string) aigateway.GuardEdit {
	start := 0
	for start < min(len(old), len(now)) && old[start] == now[start] {
		start++
	}
	end := 0
	for end < min(len(old), len(now))-start && old[len(old)-1-end] == now[len(now)-1-end] {
		end++
	}
	for start > 0 && start < len(old) && !utf8.RuneStart(old[start]) || start > 0 && start < len(now) && !utf8.RuneStart(now[start]) {
		start-- // edits consist of whole characters
	}
	for end > 0 && !utf8.RuneStart(old[len(old)-end]) {
		end--
	}
	return aigateway.GuardEdit{Text: i, Start: start, End: len(old) - end, With: now[start : len(now)-end], Rule: rule}
}

// Words returns the words of a Webhook in the Caddyfile.
func (*Webhook) Words() []string { return []string{"on_error", "secret", "timeout", "url"} }

// Rules implements aigateway.DescribedGuard.
func (g *Webhook) Rules() []string {
	u, _ := url.Parse(g.URL) // Validate has parsed it
	return []string{"url " + u.Scheme + "://" + u.Host, "on_error " + g.OnError, "timeout " + g.client.Timeout.String()}
}

// UnmarshalCaddyfile reads the words of a guard. Syntax:
//
//	url      <address>
//	on_error block | pass
//	timeout  <duration>
//	secret   <reference>
func (g *Webhook) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	for d.Next() {
		word, value := d.Val(), ""
		if !d.AllArgs(&value) {
			return d.Errf("%s needs exactly one value", word)
		}
		switch word {
		case "url":
			g.URL = value
		case "on_error":
			g.OnError = value
		case "secret":
			if err := aigateway.CheckSecretReference(value); err != nil {
				return d.WrapErr(err)
			}
			g.Secret = value
		case "timeout":
			duration, err := caddy.ParseDuration(value)
			if err != nil || duration <= 0 {
				return d.Err("timeout needs a duration above zero such as 2s")
			}
			g.Timeout = caddy.Duration(duration)
		default:
			return d.Errf("a guard webhook has no word '%s'", word)
		}
	}
	if err := g.Validate(); err != nil {
		return d.WrapErr(err)
	}
	return nil
}

// Interface guards
var (
	_ caddy.Provisioner = (*Webhook)(nil)
	_ caddy.Validator   = (*Webhook)(nil)
	_ aigateway.Guard   = (*Webhook)(nil)
)
