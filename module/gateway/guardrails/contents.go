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
)

// LogConfig configures the log of contents. Its logger is http.handlers.ai_gateway.content.
type LogConfig struct {
	// Models and Keys are the models and keys whose exchanges are logged, as in Config.
	// Default: all.
	Models []aigateway.Pattern `json:"models,omitempty"`
	Keys   []aigateway.Pattern `json:"keys,omitempty"`
	// MaxSize bounds the texts of a record, in bytes; what is longer is cut. Default: 65536
	// (64 KiB).
	MaxSize int64 `json:"max_size,omitempty"`
	// Redact are the names of guards whose rules are masked in the log, those that block
	// included. Default: none.
	Redact []string `json:"redact,omitempty"`
}

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

// logContent logs texts of one side of the exchange. Texts that cannot be redacted are not
// logged.
func (c *Checks) logContent(ctx context.Context, side string, list []aigateway.GuardText) {
	if c.log == nil {
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
	ex := c.Exchange
	c.logger.Named("content").Info(side+" content",
		zap.String("request_id", ex.ID), zap.String("key_id", ex.Key.ID), zap.String("model", ex.View.Model), zap.String("format", string(ex.Format.Name)),
		zap.Array("texts", bounded(list, int(c.log.MaxSize))))
}

// loggedTexts are texts in a record.
type loggedTexts []aigateway.GuardText

// bounded returns the first texts, with limit bytes of text at most.
func bounded(list []aigateway.GuardText, limit int) loggedTexts {
	for i := range list {
		t := &list[i]
		if len(t.Text) > limit {
			for limit > 0 && !utf8.RuneStart(t.Text[limit]) {
				limit--
			}
			t.Text = t.Text[:limit] + "…"
			return list[:i+1]
		}
		limit -= len(t.Text)
	}
	return list
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
