package gatewaytest

import (
	"bytes"
	"io"
	"maps"
	"net"
	"strconv"
	"sync"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// Fate is how a Framed provider handles a stream.
type Fate int

// The fates of streams. The provider processes only streams that it takes.
const (
	Take   Fate = iota // answer the stream
	Refuse             // reset the stream with REFUSED_STREAM
	Leave              // end the connection before the stream, with GOAWAY: earlier streams are still processed
)

// Framed is a provider that speaks HTTP/2 without TLS, frame by frame, so that a test can
// determine the fate of each stream.
type Framed struct {
	// Address is the host and port of the provider.
	Address string

	answer []byte
	fate   func(number int, body string) Fate

	mu      sync.Mutex // guards the fields below
	conns   []net.Conn
	arrived int
	taken   []string
}

// NewFramed starts a provider that answers every stream with the same JSON. It calls fate
// with the number of each stream, from 1, and its body. Bodies must be small.
func NewFramed(t testing.TB, answer []byte, fate func(number int, body string) Fate) *Framed {
	t.Helper()
	listener := listen(t)
	f := &Framed{Address: listener.Addr().String(), answer: answer, fate: fate}
	var running sync.WaitGroup
	running.Go(func() { // ends when the listener is closed
		for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
			f.opened(conn)
			running.Go(func() { f.serve(conn) }) // ends when conn is closed
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		f.closeAll()
		running.Wait()
	})
	return f
}

func (f *Framed) opened(conn net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.conns = append(f.conns, conn)
}

func (f *Framed) closeAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, conn := range f.conns {
		_ = conn.Close()
	}
}

// Taken returns the bodies of the streams that were taken, and the number of all streams.
func (f *Framed) Taken() (bodies []string, arrived int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.taken, f.arrived
}

func (f *Framed) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	c := framedConn{Framed: f, Framer: http2.NewFramer(conn, conn), bodies: make(map[uint32]*bytes.Buffer)}
	for err := c.WriteSettings(); err == nil; {
		var frame http2.Frame
		if frame, err = c.ReadFrame(); err == nil {
			err = c.handle(frame)
		}
	}
	_, _ = io.Copy(io.Discard, conn) // closing the connection now could lose written frames
}

// framedConn is one connection.
type framedConn struct {
	*Framed
	*http2.Framer
	bodies map[uint32]*bytes.Buffer // of the streams that have begun and are processed
	left   bool                     // GOAWAY was sent: no more streams begin
}

func (c *framedConn) handle(frame http2.Frame) error {
	switch frame := frame.(type) {
	case *http2.SettingsFrame:
		if !frame.IsAck() {
			return c.WriteSettingsAck()
		}
	case *http2.PingFrame:
		if !frame.IsAck() {
			return c.WritePing(true, frame.Data)
		}
	case *http2.HeadersFrame:
		if !c.left {
			c.bodies[frame.StreamID] = new(bytes.Buffer)
		}
	case *http2.DataFrame:
		body := c.bodies[frame.StreamID]
		if body == nil {
			return nil
		}
		body.Write(frame.Data())
		if frame.StreamEnded() {
			return c.end(frame.StreamID)
		}
	}
	return nil
}

// end handles a stream with a complete request according to its fate. An error ends the
// connection.
func (c *framedConn) end(stream uint32) error {
	body := c.bodies[stream].String()
	switch c.decide(body) {
	case Refuse:
		return c.WriteRSTStream(stream, http2.ErrCodeRefusedStream)
	case Leave:
		return c.leave(stream)
	}
	var head bytes.Buffer
	encoder := hpack.NewEncoder(&head)
	for _, field := range []hpack.HeaderField{
		{Name: ":status", Value: "200"}, {Name: "content-type", Value: "application/json"},
		{Name: "content-length", Value: strconv.Itoa(len(c.answer))},
	} {
		if err := encoder.WriteField(field); err != nil {
			return err
		}
	}
	err := c.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: head.Bytes(), EndHeaders: true})
	if err != nil {
		return err
	}
	return c.WriteData(stream, true, c.answer)
}

// leave sends GOAWAY before a stream. Streams that began earlier may end later: a client waits
// for their answers.
func (c *framedConn) leave(stream uint32) error {
	c.left = true
	maps.DeleteFunc(c.bodies, func(id uint32, _ *bytes.Buffer) bool { return id >= stream })
	return c.WriteGoAway(stream-min(stream, 2), http2.ErrCodeNo, nil)
}

func (f *Framed) decide(body string) Fate {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.arrived++
	fate := f.fate(f.arrived, body)
	if fate == Take {
		f.taken = append(f.taken, body)
	}
	return fate
}
