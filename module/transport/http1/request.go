package http1

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/net/http/httpguts"
)

// Body is the body of a request that this package sends.
type Body interface {
	io.ReadCloser

	// WriteBehind writes head and then the body.
	WriteBehind(head []byte, w io.Writer) (int64, error)
}

// Takes reports whether the transport sends a request. A request that is malformed is left to
// net/http, whose error describes it. An URL without a scheme, such as those of reverse_proxy,
// gets that of the transport, because a proxy may be for one scheme only.
func (t *Transport) Takes(r *http.Request) bool {
	if _, ok := r.Body.(Body); !ok || r.ContentLength <= 0 || r.Method != http.MethodPost || r.Close || r.TransferEncoding != nil || r.Trailer != nil {
		return false
	}
	t.options.SetScheme(r)
	o := t.options.Transport
	if r.URL.Scheme != "http" || !isPlainURL(r) || !isPlainHeader(r.Header) {
		return false
	}
	if r.Header["Accept-Encoding"] == nil && !o.DisableCompression { // net/http adds the header, and decodes
		return false
	}
	if o.Proxy != nil {
		proxy, err := o.Proxy(r)
		return proxy == nil && err == nil
	}
	return true
}

// isPlainURL reports whether the request line and the Host header have the URL and the host of
// a request as they are.
func isPlainURL(r *http.Request) bool {
	special := func(c rune) bool { return c <= ' ' || c >= 0x7f }
	return r.URL.Opaque == "" && !strings.ContainsFunc(r.URL.RawQuery, special) && !strings.ContainsFunc(r.URL.Host, special) &&
		r.Host != "" && httpguts.ValidHostHeader(r.Host) && !strings.Contains(r.Host, "%") && !strings.ContainsFunc(r.Host, special)
}

// isPlainHeader reports whether all fields of a header are valid, and none is about the
// connection.
func isPlainHeader(h http.Header) bool {
	for name, values := range h {
		switch name {
		case "Connection", "Expect", "Keep-Alive", "Proxy-Connection", "Te", "Upgrade":
			return false
		}
		if !httpguts.ValidHeaderFieldName(name) {
			return false
		}
		for _, v := range values {
			if !httpguts.ValidHeaderFieldValue(v) {
				return false
			}
		}
	}
	return true
}

// written are the fields that writeHead writes itself, or that net/http does not send.
var written = map[string]bool{"Host": true, "User-Agent": true, "Content-Length": true, "Transfer-Encoding": true, "Trailer": true}

// heads are buffers for the heads of requests.
var heads = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// writeHead writes the head of a request, as net/http does.
func writeHead(b *bytes.Buffer, r *http.Request) {
	b.WriteString("POST ")
	b.WriteString(r.URL.RequestURI())
	b.WriteString(" HTTP/1.1\r\nHost: ")
	b.WriteString(r.Host)
	if agent := r.Header.Get("User-Agent"); agent != "" {
		b.WriteString("\r\nUser-Agent: ")
		b.WriteString(agent)
	}
	b.WriteString("\r\nContent-Length: ")
	b.Write(strconv.AppendInt(b.AvailableBuffer(), r.ContentLength, 10))
	b.WriteString("\r\n")
	_ = r.Header.WriteSubset(b, written) // a Buffer returns no errors
	b.WriteString("\r\n")
}
