package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// RoundTrip serves the request in this process, without a socket: it makes the
// engine an http.RoundTripper. It returns once the headers are written; the
// body streams. A reset, and an answer that breaks off, are errors of the call
// or of reading the body, io.ErrUnexpectedEOF among their causes.
func (e *Engine) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	reader, writer := io.Pipe()
	w := &pipedResponse{header: make(http.Header), body: writer, ready: make(chan *http.Response, 1)}
	w.response = http.Response{Request: r, Body: &pipedBody{reader, cancel}}
	failed := make(chan error, 1)

	// The goroutine ends with the handler, which stops when the request's
	// context ends or the body is closed: both cancel ctx and break the pipe.
	go func() {
		forget := context.AfterFunc(ctx, func() { writer.CloseWithError(context.Cause(ctx)) })
		err := e.serve(w, serverRequest(r, ctx))
		if err == nil {
			w.WriteHeader(http.StatusOK) // a handler may write nothing at all
		}
		forget()
		if ctx.Err() != nil {
			err = context.Cause(ctx) // the reason for whatever the handler did
		}
		failed <- err
		writer.CloseWithError(err)
		cancel(nil)
	}()

	select {
	case response := <-w.ready:
		return response, nil
	case err := <-failed:
		return w.early(err)
	case <-r.Context().Done():
		cancel(nil)
		return nil, r.Context().Err()
	}
}

// early sorts out a handler that ended while both the headers and its end were
// there to be received.
func (w *pipedResponse) early(err error) (*http.Response, error) {
	select {
	case response := <-w.ready:
		return response, nil
	default:
		return nil, err
	}
}

// serve runs the handler and turns its panics into errors; net/http's server
// would do the same with the connection.
func (e *Engine) serve(w http.ResponseWriter, r *http.Request) (err error) {
	defer func() {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		switch p := recover(); {
		case p == http.ErrAbortHandler:
			err = fmt.Errorf("answering: connection reset: %w", io.ErrUnexpectedEOF)
		case p != nil:
			err = fmt.Errorf("answering: %v", p)
		}
	}()
	e.ServeHTTP(w, r)
	return nil
}

// serverRequest is a client's request as a server would see it.
func serverRequest(r *http.Request, ctx context.Context) *http.Request {
	s := r.WithContext(ctx)
	s.RequestURI = r.URL.RequestURI()
	if s.Body == nil {
		s.Body = http.NoBody
	}
	return s
}

// pipedResponse is the http.ResponseWriter of RoundTrip.
type pipedResponse struct {
	header   http.Header
	body     *io.PipeWriter
	once     sync.Once
	response http.Response
	ready    chan *http.Response // gets the response when the headers are written
}

// Header gives the header map; changes after WriteHeader have no effect.
func (w *pipedResponse) Header() http.Header { return w.header }

// WriteHeader lets RoundTrip return.
func (w *pipedResponse) WriteHeader(status int) {
	w.once.Do(func() {
		w.response.StatusCode = status
		w.response.Status = strconv.Itoa(status) + " " + http.StatusText(status)
		w.response.Proto, w.response.ProtoMajor, w.response.ProtoMinor = "HTTP/1.1", 1, 1
		w.response.Header = w.header.Clone()
		w.response.ContentLength = -1
		if n, err := strconv.ParseInt(w.header.Get("Content-Length"), 10, 64); err == nil {
			w.response.ContentLength = n
		}
		w.ready <- &w.response
	})
}

// Write blocks until the reader has taken the bytes.
func (w *pipedResponse) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	n, err := w.body.Write(p)
	if err != nil {
		return n, fmt.Errorf("writing to the pipe: %w", err)
	}
	return n, nil
}

// FlushError has nothing to flush: the pipe holds no bytes back.
func (w *pipedResponse) FlushError() error {
	w.WriteHeader(http.StatusOK)
	return nil
}

// errBodyClosed is the cause of a request whose answer nobody wants any more.
var errBodyClosed = errors.New("the body was closed")

// pipedBody ends the handler when it is closed.
type pipedBody struct {
	*io.PipeReader
	cancel context.CancelCauseFunc
}

// Close stops the handler; what it still writes is lost.
func (b *pipedBody) Close() error {
	b.cancel(errBodyClosed)
	return b.PipeReader.Close()
}
