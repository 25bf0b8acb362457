package sse_test

import (
	"bufio"
	"bytes"
	"strings"
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// BenchmarkLexer reads 100 events, the baseline splits their lines with
// bufio.Scanner and does nothing with them.
func BenchmarkLexer(b *testing.B) {
	var stream []byte
	for range 100 {
		stream = sse.AppendEvent(stream, "content_block_delta",
			[]byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello, world"}}`))
	}
	crlf := []byte(strings.ReplaceAll(string(stream), "\n", "\r\n"))
	for name, tc := range map[string]struct {
		stream []byte
		feed   int
	}{
		"burst": {stream, len(stream)}, "paced": {stream, len(stream) / 100}, "cut": {stream, 50}, "CRLF": {crlf, len(crlf)},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(tc.stream)))
			b.ReportAllocs()
			l := sse.NewLexer(0)
			for b.Loop() {
				for rest := tc.stream; len(rest) > 0; {
					n := min(tc.feed, len(rest))
					l.Feed(rest[:n])
					for _, ok := l.Next(); ok; _, ok = l.Next() {
					}
					rest = rest[n:]
				}
			}
		})
	}
	b.Run("scanner", func(b *testing.B) {
		b.SetBytes(int64(len(stream)))
		b.ReportAllocs()
		for b.Loop() {
			for s := bufio.NewScanner(bytes.NewReader(stream)); s.Scan(); {
			}
		}
	})
}
