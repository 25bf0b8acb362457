// Package coding decodes content codings: compressed bodies of requests and answers.
//
// It promises to decode no more bytes than the caller allows. It refuses unknown
// codings, and bodies with several codings.
package coding

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// The errors of this package. All other errors are those of the source.
var (
	ErrUnknown  = errors.New("unknown content coding")
	ErrBroken   = errors.New("broken data")
	ErrTooLarge = errors.New("too many bytes")
)

// Name returns the coding of a content-encoding header in lower case, "" for none or
// identity. It returns ErrUnknown for an unknown coding and for several codings.
func Name(header []string) (string, error) {
	name := strings.ToLower(strings.TrimSpace(strings.Join(header, ",")))
	switch name {
	case "", "identity":
		return "", nil
	case "gzip", "x-gzip":
		return "gzip", nil
	case "deflate", "br", "zstd":
		return name, nil
	}
	return "", ErrUnknown
}

// maxWindow bounds the memory that a zstd stream may require. RFC 8878 recommends that
// decoders support 8 MiB.
const maxWindow = 8 << 20

// NewReader returns a reader of the decoded bytes of src. It returns an error that wraps
// ErrBroken for invalid data, and for bytes after the coded data. Close releases the
// memory of the reader, and does not close src.
func NewReader(name string, src io.Reader) (io.ReadCloser, error) {
	buffered := bufio.NewReader(src)
	if _, err := buffered.Peek(1); err != nil && name != "" {
		return nil, fmt.Errorf("%w: %w", ErrBroken, err) // in every coding, an empty body has bytes
	}
	switch name {
	case "":
		return io.NopCloser(src), nil
	case "gzip":
		return broken(gzip.NewReader(buffered))
	case "deflate":
		return broken(newDeflate(buffered))
	case "br":
		return &reader{src: io.NopCloser(brotli.NewReader(buffered))}, nil
	case "zstd":
		z, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrBroken, err)
		}
		return &reader{src: z.IOReadCloser()}, nil
	}
	return nil, ErrUnknown
}

// newDeflate returns a reader of "deflate". RFC 9110 defines it as the zlib format, but
// many senders omit the zlib header.
func newDeflate(src *bufio.Reader) (io.ReadCloser, error) {
	head, err := src.Peek(2)
	if err != nil {
		return nil, err
	}
	inner := flate.NewReader(src)
	if head[0]&0x0f == 8 && (uint16(head[0])<<8|uint16(head[1]))%31 == 0 {
		if inner, err = zlib.NewReader(src); err != nil {
			return nil, err
		}
	}
	return &strict{inner, src}, nil
}

// strict returns an error for bytes after deflate data, which the readers of the
// standard library ignore. Two readers of one body must not see different requests.
type strict struct {
	io.ReadCloser
	src *bufio.Reader
}

var errTrailing = errors.New("bytes after the end")

func (s *strict) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if err == io.EOF {
		if _, more := s.src.Peek(1); more == nil {
			err = errTrailing
		}
	}
	return n, err
}

// broken returns a reader that wraps the errors of src in ErrBroken, and wraps err too.
func broken(src io.ReadCloser, err error) (io.ReadCloser, error) {
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return &reader{src: src}, nil
}

// reader wraps every error except io.EOF in ErrBroken.
type reader struct{ src io.ReadCloser }

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.src.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return n, err
}

func (r *reader) Close() error { return r.src.Close() }

// maxClaim bounds the memory that is allocated for the announced size of a body.
const maxClaim = 1 << 20

// ReadAll reads src to its end into dst, and returns dst or a larger buffer. It returns
// ErrTooLarge for more than limit bytes, of which it reads one. size is the expected number of
// bytes, 0 or negative if unknown.
func ReadAll(dst []byte, src io.Reader, size, limit int64) ([]byte, error) {
	if size > limit {
		return nil, ErrTooLarge
	}
	// One byte more than the expected size lets Read return io.EOF without growing
	// the buffer.
	body := slices.Grow(dst[:0], int(min(max(size, 511), maxClaim)+1))
	for {
		room, left := body[len(body):cap(body)], limit-int64(len(body))
		// left+1 bytes at most; the sum may be too large for an integer.
		n, err := src.Read(room[:min(left, int64(len(room)-1))+1])
		body = body[:len(body)+n]
		if int64(n) > left {
			return nil, ErrTooLarge
		}
		if err == io.EOF {
			return body, nil
		}
		if err != nil {
			return nil, err
		}
		if len(body) == cap(body) {
			// The memory is at most four times what has arrived, whatever was announced.
			more := min(size+1-int64(len(body)), 3*int64(len(body)))
			body = slices.Grow(body, int(max(more, 1)))
		}
	}
}

// Decode returns the decoded bytes of a body with the named coding, at most limit.
func Decode(name string, src io.Reader, limit int64) ([]byte, error) {
	decoded, err := NewReader(name, src)
	if err != nil {
		return nil, err
	}
	defer decoded.Close()
	return ReadAll(nil, decoded, 0, limit)
}
