package transport

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/payload"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/watch"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// The cache has answers as providers send them, and finds them by the requests that providers get:
// what is made of an answer, such as its translation, its checks by guards and its record, is made
// of a cached one again. An option that changes the request to the provider is part of the key.

// ask returns the answer to the request of a call, from the cache if the attempt has one.
func ask(c *call, p *payload.Payload) (*http.Response, error) {
	if c.attempt.Cache == nil {
		return c.send(p)
	}
	return cached{c}.ask(p)
}

// cached is a call of an attempt with a cache.
type cached struct{ *call }

// ask returns the answer to an equal request, an earlier or a running one, or sends the request.
func (c cached) ask(p *payload.Payload) (*http.Response, error) {
	key, ok := c.key(p)
	if !ok {
		c.note(exchange.CacheBypass)
		return c.send(p)
	}
	cache, stream := c.attempt.Cache, c.attempt.Exchange.Request.Streaming()
	if cache.Refresh {
		c.note(exchange.CacheRefresh)
		return c.sendFor(key, nil, p)
	}
	answer, age := cache.Answers.Get(key, min(cache.TTL, cache.MaxAge))
	if answer != nil && (!answer.Stream || stream) {
		p.Close()
		return c.recall(answer, age), nil
	}
	var flight *exchange.Flight
	if cache.MaxAge > 0 {
		answer, flight = c.join(key, stream)
	}
	// The end of the client's context reaches that of the call later, when the next flight may have begun.
	err := cmp.Or(c.life.client.Err(), c.life.ctx.Err())
	switch {
	case err != nil:
		flight.Fail()
		p.Close()
		return nil, err
	case answer != nil:
		p.Close()
		return c.recall(answer, 0), nil
	}
	c.note(exchange.CacheMiss)
	return c.sendFor(key, flight, p)
}

// join returns the answer to an equal request that is running, or else the flight that the call of this one is. Both
// are nil for a call of its own.
func (c cached) join(key exchange.CacheKey, stream bool) (*exchange.CachedAnswer, *exchange.Flight) {
	for begun := time.Now(); ; {
		flight, mine := c.attempt.Cache.Answers.Flights().Join(key, stream)
		if mine {
			context.AfterFunc(c.life.client, flight.Fail)
			return nil, flight
		}
		if answer, failed := flight.Wait(c.life.ctx, begun, stream); !failed {
			return answer, nil
		}
	}
}

// sendFor sends the request, and copies an answer that may be kept. Equal requests wait for the answer to one with
// a flight.
func (c cached) sendFor(key exchange.CacheKey, flight *exchange.Flight, p *payload.Payload) (*http.Response, error) {
	res, err := c.send(p)
	switch {
	case err != nil, res.StatusCode == http.StatusTooManyRequests, res.StatusCode >= http.StatusInternalServerError:
		flight.Fail()
		return res, err
	case res.StatusCode != http.StatusOK, len(res.Header["Content-Encoding"]) > 0:
		flight.Land(nil)
		return res, nil
	}
	c.copied = &copied{ReadCloser: res.Body, key: key, flight: flight, contentType: res.Header.Get("Content-Type"), room: c.attempt.Cache.Answers.Largest()}
	res.Body = c.copied
	return res, nil
}

// recall returns an answer of the cache as the provider's.
func (c cached) recall(answer *exchange.CachedAnswer, age time.Duration) *http.Response {
	c.life.watch.Start(watch.Rest(time.Duration(c.t.IdleTimeout)), c.life.expire)
	c.result.Reading.Cached, c.result.Status = true, http.StatusOK
	c.note(exchange.CacheHit)
	c.result.noteHeaders(http.Header{"Age": {strconv.FormatInt(int64(age/time.Second), 10)}})
	res := emptyResponse(http.StatusOK, c.proxied)
	res.Header.Set("Content-Type", answer.ContentType)
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(answer.Body)), int64(len(answer.Body))
	return res
}

// note sets the header that shows clients of a model with a cache what it did.
func (c cached) note(state string) {
	c.result.noteHeaders(http.Header{exchange.CacheHeader: {state}})
}

// unkeyed are the headers to providers that do not change the meaning of a request.
var unkeyed = []string{"Accept-Encoding", "User-Agent", "Via"}

// acceptsUsual reports whether a request accepts nothing but JSON and, if its body is for a stream, events. The
// body distinguishes the two in the key; another form is a part of the key itself.
func acceptsUsual(accept []string, stream bool) bool {
	for form := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		form, _, _ = strings.Cut(form, ";")
		switch strings.ToLower(strings.TrimSpace(form)) {
		case typeJSON, "*/*", "":
		case "text/event-stream":
			if !stream {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// key returns the key of the request in the cache. ok is false if the answer is not kept: it
// is an object that the provider stores for the client, or the body is not read as JSON.
func (c cached) key(p *payload.Payload) (key exchange.CacheKey, ok bool) {
	t, a := c.t, c.attempt
	if a.SealsObjects() {
		return key, false
	}
	var body bytes.Buffer
	_, _ = p.WriteTo(&body)
	canonical, ok := canonicalJSON(body.Bytes(), a.Format.Provider.Delivery)
	if !ok {
		return key, false
	}
	h, path, query := t.service.addressed(a, c.address)
	maps.Copy(h, c.proxied.Header) // of the configuration
	h.Del(t.credentials.header)
	if acceptsUsual(h["Accept"], a.Exchange.Request.Streaming()) {
		h.Del("Accept")
	}
	key.Scope = a.Cache.Scope
	mac := a.Cache.Answers.MAC()
	fmt.Fprintf(mac, "1\n%x\n%q\n%q\n%q\n%q\n%q\n%q\n", key.Scope, a.Provider, t.service.base, t.APIKeys, a.Format.Name, path, query)
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if !slices.Contains(unkeyed, name) {
			fmt.Fprintf(mac, "%q%q\n", name, h[name])
		}
	}
	_, _ = mac.Write(canonical)
	mac.Sum(key.Request[:0])
	return key, true
}

// canonicalJSON returns an object without white space, with the members in the order of their
// names, and without some members of the object itself. Names, strings and numbers remain as they
// are written. ok is false for what is no object, and for one that has a member twice: providers
// read different ones of the two.
func canonicalJSON(object []byte, omitted []string) (canonical []byte, ok bool) {
	cursor := jsonscan.New(object)
	if cursor.Kind() != jsonscan.Object {
		return nil, false
	}
	canonical = appendCanonical(nil, &cursor, omitted)
	return canonical, cursor.Finish() == nil
}

func appendCanonical(dst []byte, c *jsonscan.Cursor, omitted []string) []byte {
	switch {
	case c.Kind() == jsonscan.Object && c.EnterMap():
		members := make(map[string][]byte)
		for c.Member() {
			if name := string(c.Name()); slices.Contains(omitted, name) {
				c.Skip()
			} else {
				members[name] = appendCanonical(nil, c, nil)
			}
		}
		dst = append(dst, '{')
		for _, name := range slices.Sorted(maps.Keys(members)) {
			dst = append(append(append(jsonscan.AppendString(dst, name), ':'), members[name]...), ',')
		}
		return append(dst, '}')
	case c.Kind() == jsonscan.Array && c.EnterArray():
		dst = append(dst, '[')
		for c.Element() {
			dst = append(appendCanonical(dst, c, nil), ',')
		}
		return append(dst, ']')
	}
	return append(dst, c.Skip()...)
}

// copied is the body of an answer, of which it keeps a copy while there is room.
type copied struct {
	io.ReadCloser
	key         exchange.CacheKey
	flight      *exchange.Flight // of the equal requests that wait; nil for none
	contentType string
	body        []byte
	room        int64 // in bytes; negative if the answer is too large
}

func (b *copied) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.room -= int64(n); b.room >= 0 {
		b.body = append(b.body, p[:n]...)
	} else {
		b.body = nil
		b.flight.Land(nil)
	}
	return n, err
}

// keep gives the copy of a whole answer to the cache, before the client has the end of it, so that
// its next request finds it.
func (c cached) keep(stream bool) {
	copied, cache := c.copied, c.attempt.Cache
	if copied == nil {
		return
	}
	c.copied = nil
	if copied.room < 0 || c.result.Reading.Stopped || !c.mayRepeat(copied.body, stream) {
		copied.flight.Land(nil)
		return
	}
	answer := &exchange.CachedAnswer{ContentType: copied.contentType, Stream: stream, Body: bytes.Clone(copied.body)}
	cache.Answers.Put(copied.key, answer, cache.TTL)
	copied.flight.Land(answer)
}

// mayRepeat reports whether a whole answer is kept: it has ended by itself or at its bound, the
// provider has refused nothing, and no tool is called unless the exchange allows that.
func (c cached) mayRepeat(body []byte, stream bool) bool {
	if c.attempt.Exchange.Request.Operation.Beside() {
		return true
	}
	var seen ending
	parser := c.attempt.Format.Answers.NewParser(&seen)
	if stream {
		lexer := newEvents(c.t).lexer
		lexer.Feed(body)
		for e, ok := lexer.Next(); ok; e, ok = lexer.Next() {
			parser.Event(e)
		}
		parser.End(true)
	} else {
		parser.Answer(bytes.TrimSpace(body))
	}
	return seen.finished && !seen.barred && (!seen.calls || c.attempt.Cache.ToolCalls)
}

// ending is what the events of an answer show of its end.
type ending struct{ finished, barred, calls bool }

// Handle implements event.Handler.
func (s *ending) Handle(e *event.Event) {
	switch e.Kind {
	case event.ToolStart:
		s.calls = true
	case event.Failing, event.Error:
		s.barred = true
	case event.Text:
		s.barred = s.barred || e.Refusal
	case event.Finish:
		s.finished = true
		s.calls = s.calls || e.Finish == event.FinishTools
		s.barred = s.barred || e.Finish != event.FinishStop && e.Finish != event.FinishLength && e.Finish != event.FinishTools
	}
}
