package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/coding"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/objects"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// seal makes the answer one with sealed ids, without a content coding. Answers that are neither JSON nor
// events, nor have lines of JSON, have no known ids.
func (p *passage) seal(res *http.Response) error {
	kind := res.Header.Get("Content-Type")
	inLines := p.asked.Lines && res.StatusCode == http.StatusOK
	if p.asked.Method == http.MethodHead || !inLines && !exchange.IsJSON(kind) && !exchange.IsEventStream(kind) {
		return nil
	}
	if inLines || exchange.IsEventStream(kind) {
		src, err := decoded(res)
		if err != nil {
			return err
		}
		if p.src = newResults(src, p.sealIDs); !inLines {
			lane := &byteLane{Observer: new(unread), events: newEvents(p.t), objects: p.sealIDs, hide: p.result.hide}
			p.src = &sealedEvents{src: src, lane: lane}
		}
		res.ContentLength = -1
		delete(res.Header, "Content-Length")
	} else {
		body, err := readBody(nil, res, &touching{src: res.Body, watch: &p.life.watch}, maxAnswer)
		if err != nil {
			return err
		}
		body = sealed(body, p.sealIDs(nil, body), p.asked.Attempt.Exchange.Objects)
		p.src, res.ContentLength = bytes.NewReader(body), int64(len(body))
		res.Header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	delete(res.Header, "Content-Encoding")
	return nil
}

// decoded returns a reader of the body of an answer without its content coding.
func decoded(res *http.Response) (io.Reader, error) {
	name, err := coding.Name(res.Header["Content-Encoding"])
	if err != nil || name == "" {
		return res.Body, err
	}
	src, err := coding.NewReader(name, res.Body)
	if err != nil {
		return nil, fmt.Errorf("decoding answer: %w", err)
	}
	return src, nil
}

// sealIDs appends the edits that seal the ids in a JSON answer, or in the data of an event.
func (p *passage) sealIDs(edits []edit.Edit, data []byte) []edit.Edit {
	return objects.EditIDs(edits, data, p.asked.Attempt.SealID)
}

// sealedEvents are the events of a stream, with sealed ids.
type sealedEvents struct {
	src   io.Reader
	lane  *byteLane
	ready output
	buf   [4 << 10]byte
	ended error
}

// Read returns whole events only.
func (s *sealedEvents) Read(p []byte) (int, error) {
	for s.ready.Len() == 0 {
		if s.ended != nil {
			return 0, s.ended
		}
		n, err := s.src.Read(s.buf[:])
		direct := s.lane.take(s.buf[:n], 0, &s.ready)
		s.ready.Write(s.buf[:direct])
		if err == nil {
			err = s.lane.err()
		}
		if s.ended = err; errors.Is(err, io.EOF) {
			s.lane.end(true, &s.ready)
		}
	}
	return s.ready.Read(p), nil
}

// unread is an Observer of a stream that is not read.
type unread struct{ signal.Observed }

// Observe implements signal.Observer.
func (*unread) Observe(sse.Event) signal.Signal { return 0 }
