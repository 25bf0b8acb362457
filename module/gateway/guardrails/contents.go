package guardrails

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/tracing"
)

// LogConfig configures where contents are written. The logger is http.handlers.ai_gateway.content.
type LogConfig struct {
	// Models and Keys are the models and keys whose exchanges are logged, as in Config.
	// Default: all.
	Models []aigateway.Pattern `json:"models,omitempty"`
	Keys   []aigateway.Pattern `json:"keys,omitempty"`
	// MaxSize bounds the texts of a record, in bytes; what is longer is cut. Instructions, in a
	// quarter of it at least, and the newest texts of the conversation have precedence. Default:
	// 65536 (64 KiB).
	MaxSize int64 `json:"max_size,omitempty"`
	// Redact are the names of guards whose rules are masked in the log, those that block
	// included. Default: none.
	Redact []string `json:"redact,omitempty"`
	// Places are where the contents go: "log", and "traces" for attributes of the span that Caddy's directive
	// tracing creates for the request. Default: "log".
	Places []string `json:"to,omitempty"`
}

// The places of contents.
const (
	ToLog    = "log"
	ToTraces = "traces"
)

const defaultMaxSize = 64 << 10

// contentLog is the log of contents in use.
type contentLog struct {
	LogConfig
	redact []*guard
}

// WithLog returns the guards with the log of a configuration, which replaces that of g; nil
// keeps the log of g.
func (g Guards) WithLog(c *LogConfig) (Guards, error) {
	if c == nil {
		return g, nil
	}
	l := &contentLog{LogConfig: *c}
	if l.MaxSize < 0 {
		return g, errors.New("log_content: max_size must be positive")
	}
	if l.MaxSize == 0 {
		l.MaxSize = defaultMaxSize
	}
	if len(l.Places) == 0 {
		l.Places = []string{ToLog}
	}
	for _, place := range l.Places {
		if place != ToLog && place != ToTraces {
			return g, fmt.Errorf("log_content: contents go to %s or %s, not to '%s'", ToLog, ToTraces, place)
		}
	}
	for _, name := range c.Redact {
		i := slices.IndexFunc(g.list, func(guard *guard) bool { return guard.Name == name })
		if i < 0 {
			return g, fmt.Errorf("log_content: there is no guard '%s' to redact by", name)
		}
		l.redact = append(l.redact, g.list[i])
	}
	g.log = l
	return g, nil
}

// covers reports whether the exchanges of a key and a model are logged.
func (l *contentLog) covers(key, model string) bool {
	return l != nil && matches(l.Keys, key) && coverModel(l.Models, model)
}

// goesTo reports whether contents are written to a place.
func (l *contentLog) goesTo(place string) bool { return slices.Contains(l.Places, place) }

// logContent writes texts of one side of the exchange to the log and to its trace. Texts that
// cannot be redacted are not written.
func (c *Checks) logContent(ctx context.Context, side string, list []aigateway.GuardText) {
	if c.log == nil || !c.log.goesTo(ToLog) && !tracing.IsRecorded(ctx) {
		return
	}
	list = slices.DeleteFunc(slices.Clone(list), func(t aigateway.GuardText) bool { return t.IsWord() })
	for _, g := range c.log.redact {
		v := c.view(aigateway.GuardLog)
		v.Texts = list
		verdict, err := g.Guard.Check(ctx, v)
		if err != nil || !areInOrder(verdict.Edits, list) {
			c.logger.Warn("content was not logged, because it could not be redacted", append(c.fields(g.Name, v.Phase), zap.Error(err))...)
			return
		}
		for i, edits := range byText(verdict.Edits) {
			list[i].Text = replaced(list[i].Text, 0, edits)
		}
	}
	ex, texts := c.Exchange, bounded(list, int(c.log.MaxSize))
	if c.log.goesTo(ToTraces) {
		trace(ctx, side, texts, ex.Course.Result)
	}
	if c.log.goesTo(ToLog) {
		c.logger.Named("content").Info(side+" content",
			zap.String("request_id", ex.ID), zap.String("key_id", ex.Key.ID), zap.String("model", ex.Request.View.Model),
			zap.String("format", string(ex.Request.Format.Name)),
			zap.Array("texts", texts))
	}
}

// trace writes texts of one side to the trace of an exchange.
func trace(ctx context.Context, side string, list []aigateway.GuardText, result *exchange.Result) {
	if side == OnRequest {
		tracing.RequestContent(ctx, list)
		return
	}
	tracing.AnswerContent(ctx, list, result)
}

// loggedTexts are texts in a record.
type loggedTexts []aigateway.GuardText

// The ranks of texts, of which a lower one has precedence in a record.
const (
	instructions = iota
	conversation
	others
	ranks
)

func rankOf(kind aigateway.GuardKind) int {
	switch kind {
	case aigateway.GuardSystem:
		return instructions
	case aigateway.GuardTool, aigateway.GuardServer, aigateway.GuardOther:
		return others
	}
	return conversation
}

// bounded returns the texts of a record, in their order, with limit bytes of text at most: instructions within
// what the conversation leaves, a quarter of the limit at least, then the newest texts of the conversation, then the
// others.
func bounded(list []aigateway.GuardText, limit int) (kept loggedTexts) {
	var sizes [ranks]int
	for i := range list {
		sizes[rankOf(list[i].Kind)] += len(list[i].Text)
	}
	var room [ranks]int
	room[instructions] = min(sizes[instructions], max(limit/4, limit-sizes[conversation]), limit)
	room[conversation] = min(sizes[conversation], limit-room[instructions])
	room[others] = limit - room[instructions] - room[conversation]
	var full [ranks]bool
	take := func(i int) bool {
		t, rank := &list[i], rankOf(list[i].Kind)
		if full[rank] {
			return false
		}
		if full[rank] = len(t.Text) > room[rank]; full[rank] {
			t.Text = beginning(t.Text, room[rank]) + "…"
		}
		room[rank] -= len(t.Text)
		return true
	}
	taken := make([]bool, len(list))
	for i, t := range list {
		taken[i] = rankOf(t.Kind) != conversation && take(i)
	}
	for i, t := range slices.Backward(list) {
		taken[i] = taken[i] || rankOf(t.Kind) == conversation && take(i)
	}
	for i := range list {
		if taken[i] {
			kept = append(kept, list[i])
		}
	}
	return kept
}

// beginning returns the whole characters in the first bytes of a text.
func beginning(text string, size int) string {
	for size > 0 && !utf8.RuneStart(text[size]) {
		size--
	}
	return text[:size]
}

// MarshalLogArray implements zapcore.ArrayMarshaler.
func (l loggedTexts) MarshalLogArray(enc zapcore.ArrayEncoder) error {
	for _, t := range l {
		err := enc.AppendObject(zapcore.ObjectMarshalerFunc(func(enc zapcore.ObjectEncoder) error {
			enc.AddString("kind", string(t.Kind))
			if t.Name != "" {
				enc.AddString("tool", t.Name)
			}
			enc.AddString("text", t.Text)
			return nil
		}))
		if err != nil {
			return err
		}
	}
	return nil
}
