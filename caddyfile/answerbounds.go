package caddyfile

import (
	"github.com/caddyserver/caddy/v2"
	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// withAnswerBounds adds the words of aigateway.AnswerBounds to the words of a block.
// Syntax:
//
//	response_header_timeout <duration>
//	first_event_timeout     <duration>
//	idle_timeout            <duration>
//	usage_wait              <duration>
//	max_event_bytes         <size>
func withAnswerBounds[T any](own words[T], field func(T) *aigateway.AnswerBounds) words[T] {
	own["response_header_timeout"] = timeout(func(t T) *caddy.Duration { return &field(t).ResponseHeaderTimeout })
	own["first_event_timeout"] = timeout(func(t T) *caddy.Duration { return &field(t).FirstEventTimeout })
	own["idle_timeout"] = timeout(func(t T) *caddy.Duration { return &field(t).IdleTimeout })
	own["usage_wait"] = timeout(func(t T) *caddy.Duration { return &field(t).UsageWait })
	own["max_event_bytes"] = word[T]{read: func(d *cf.Dispenser, t T) error { return readMaxEvent(d, field(t)) }}
	return own
}

func timeout[T any](field func(T) *caddy.Duration) word[T] {
	return word[T]{read: func(d *cf.Dispenser, target T) (err error) {
		*field(target), err = readDuration(d)
		return err
	}}
}

func readMaxEvent(d *cf.Dispenser, bounds *aigateway.AnswerBounds) error {
	size, err := readSize(d)
	if err != nil {
		return err
	}
	bounds.MaxEventBytes = size
	if err := aigateway.CheckMaxEventBytes(size); err != nil {
		return d.WrapErr(err)
	}
	return nil
}
