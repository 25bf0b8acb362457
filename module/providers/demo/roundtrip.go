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

// RoundTrip implements http.RoundTripper. It serves the request in this process, without a
// socket. It returns when the headers are written; the body is a stream. A reset, or an
// answer that breaks off, is an error of RoundTrip or of a Read of the body. Such an error
// wraps io.ErrUnexpectedEOF.
func (e *Engine) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	reader, writer := io.Pipe()
	w := &pipedResponse{header: make(http.Header), body: writer, ready: make(chan *http.Response, 1)}
	w.response = http.Response{Request: r, Body: &pipedBody{reader, cancel}}
	failed := make(chan error, 1)

	// The goroutine ends with the handler. The handler stops when the context of the
	// request ends or the body is closed, because both cancel ctx and close the pipe.
	go func() {
		forget := context.AfterFunc(ctx, func() { writer.CloseWithError(context.Cause(ctx)) })
		err := e.serve(w, serverRequest(r, ctx))
		if err == nil {
			w.WriteHeader(http.StatusOK) // for a handler that has written nothing
		}
		forget()
		if ctx.Err() != nil {
			err = context.Cause(ctx) // why the handler has stopped
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

// early returns the response if the headers were written before the handler ended, else the
// error of the handler. select picks at random if both channels are ready.
func (w *pipedResponse) early(err error) (*http.Response, error) {
	select {
	case response := <-w.ready:
		return response, nil
	default:
		return nil, err
	}
}

// serve runs the handler, and returns its panics as errors: there is no http.Server that
// would recover from them.
func (e *Engine) serve(w http.ResponseWriter, r *http.Request) (err error) {
	defer func() {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		switch p := recover(); {
		case p == any(http.ErrAbortHandler):
			err = fmt.Errorf("answering: connection reset: %w", io.ErrUnexpectedEOF)
		case p != nil:
			err = fmt.Errorf("answering: %v", p)
		}
	}()
	e.ServeHTTP(w, r)
	return nil
}

// serverRequest returns a client's request in the form of a server's request.
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

// Header returns the header map. Changes after WriteHeader have no effect.
func (w *pipedResponse) Header() http.Header { return w.header }

// WriteHeader makes RoundTrip return the response.
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

// FlushError writes the headers. The pipe has no buffer to flush.
func (w *pipedResponse) FlushError() error {
	w.WriteHeader(http.StatusOK)
	return nil
}

// errBodyClosed is the cause with which a handler is stopped when its body is closed.
var errBodyClosed = errors.New("the body was closed")

// pipedBody ends the handler when it is closed.
type pipedBody struct {
	*io.PipeReader
	cancel context.CancelCauseFunc
}

// Close stops the handler. Bytes that the handler still writes are discarded.
func (b *pipedBody) Close() error {
	b.cancel(errBodyClosed)
	return b.PipeReader.Close()
}
