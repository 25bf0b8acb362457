package reports

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/throttle"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
)

// Live answers GET /api/v1/records/live with the records that are written from now on, as
// events. Users see their own records, administrators those of all users.
func (r Reports) Live(c *call.Call) (any, error) {
	reader, zone, err := r.ledger(c.Context())
	if err != nil {
		return nil, err
	}
	watched, ok := reader.(accounting.WatchedReader)
	if !ok {
		return nil, answer.Refuse(http.StatusNotFound, "the records of this store cannot be watched")
	}
	s := stream{call: c, admin: c.IsAdmin(), zone: zone, ended: r.Ended}
	if err := recordFilter(c, &s.query); err != nil {
		return nil, err
	}
	if err := restrictRecords(c, &s.query); err != nil {
		return nil, err
	}
	if err := s.begin(watched, r.Streams); err != nil {
		return nil, err
	}
	return s, nil
}

// begin makes the stream a watch of records, as one of those of the user.
func (s *stream) begin(reader accounting.WatchedReader, streams *throttle.Shares) error {
	who := s.call.Principal().Account
	if !streams.Acquire(who) {
		return answer.Later(http.StatusTooManyRequests, watchRetry, "too many streams of the user: end one first")
	}
	records, stop, err := reader.Watch()
	if err != nil {
		streams.Release(who)
		if errors.Is(err, accounting.ErrManyWatches) {
			err = answer.Later(http.StatusServiceUnavailable, watchRetry, "too many clients watch records")
		}
		return err
	}
	s.records, s.stop = records, func() { stop(); streams.Release(who) }
	return nil
}

// stream is an answer with events.
type stream struct {
	call    *call.Call
	admin   bool // it began with the rights of an administrator of the gateway
	query   accounting.RecordQuery
	zone    *time.Location
	records <-chan []accounting.Record
	stop    func()
	ended   <-chan struct{} // is closed when the configuration ends
}

const (
	// exitCheck is the time in which a stream notices that the process exits. The servers
	// wait for open streams.
	exitCheck = time.Second
	// rightsCheck is the time in which a stream notices that the session or a right has ended.
	// The client gets a comment as often, so that proxies keep the connection.
	rightsCheck = 15 * time.Second
	// writePatience is the longest time for one write to a client.
	writePatience = 10 * time.Second
	// watchRetry is the time after which a client that was refused may ask again.
	watchRetry = 10 * time.Second
)

// Write implements answer.Written. It returns when the client has left or is too slow, when the
// session, a right that it needs, the configuration or the process ends.
func (s stream) Write(w http.ResponseWriter) {
	defer s.stop()
	answer.WriteHeader(w, "text/event-stream", "no-store, no-transform")
	if s.call.Method == http.MethodHead {
		return
	}
	exit, rights := time.NewTicker(exitCheck), time.NewTicker(rightsCheck)
	defer exit.Stop()
	defer rights.Stop()
	for ok := s.send(w, ": records follow\n\n"); ok; {
		select {
		case <-s.call.Context().Done():
			return
		case <-s.ended:
			return
		case <-exit.C:
			ok = !caddy.Exiting()
		case <-rights.C:
			ok = s.mayWatch() && s.send(w, ": \n\n")
		case batch, open := <-s.records:
			if !open {
				s.send(w, "event: dropped\ndata: {}\n\n")
				return
			}
			ok = s.send(w, s.events(batch))
		}
	}
}

// mayWatch reports whether the session has not ended, nor the rights of the user in a team or
// as an administrator. A change of the role ends no session.
func (s stream) mayWatch() bool {
	if s.call.Admit() != nil || s.admin && !s.call.IsAdmin() {
		return false
	}
	_, _, err := s.call.OfTeam()
	return err == nil
}

// events returns the events for the records of a batch that the query selects.
func (s stream) events(batch []accounting.Record) (events string) {
	for i := range batch {
		if r := &batch[i]; s.query.Selects(r) && !r.Admitted.Before(s.query.From) {
			view := viewRecord(r, s.zone)
			text, _ := json.Marshal(view) // the view always encodes
			events += fmt.Sprintf("event: record\nid: %s\ndata: %s\n\n", view.ID, text)
		}
	}
	return events
}

// send writes and flushes a part of the stream. It returns false if the client has left.
func (s stream) send(w http.ResponseWriter, part string) bool {
	if part == "" {
		return true
	}
	controller := http.NewResponseController(w)
	_ = controller.SetWriteDeadline(time.Now().Add(writePatience)) // some connections have none
	if _, err := w.Write([]byte(part)); err != nil {
		return false
	}
	err := controller.Flush()
	_ = controller.SetWriteDeadline(time.Time{})
	return err == nil || errors.Is(err, http.ErrNotSupported)
}
