package coding_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/coding"
)

// encode writes text through an encoder.
func encode(t testing.TB, open func(io.Writer) (io.WriteCloser, error), text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := open(&b)
	require.NoError(t, err)
	_, err = w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// encoders are encoders of all codings. name is the name of the coding in a header.
var encoders = []struct {
	kind, name string
	open       func(io.Writer) (io.WriteCloser, error)
}{
	{"gzip", "gzip", func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }},
	{"zlib", "deflate", func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil }},
	{"raw deflate", "deflate", func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, 6) }},
	{"br", "br", func(w io.Writer) (io.WriteCloser, error) { return brotli.NewWriter(w), nil }},
	{"zstd", "zstd", func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) }},
}

func TestNameKnowsOneCodingAtATime(t *testing.T) {
	for _, test := range []struct {
		header []string
		want   string
	}{
		{nil, ""}, {[]string{""}, ""}, {[]string{"identity"}, ""}, {[]string{"gzip"}, "gzip"}, {[]string{"x-gzip"}, "gzip"},
		{[]string{" GZip\t"}, "gzip"}, {[]string{"Deflate"}, "deflate"}, {[]string{"br"}, "br"}, {[]string{"ZSTD"}, "zstd"},
	} {
		name, err := coding.Name(test.header)
		assert.NoError(t, err, test.header)
		assert.Equal(t, test.want, name)
	}
	for _, header := range [][]string{
		{"compress"}, {"gzip, gzip"}, {"gzip", "gzip"}, {"gzip,"}, {"identity, gzip"}, {"gzip;q=1"}, {"aws-chunked"}, {"*"}, {","},
	} {
		_, err := coding.Name(header)
		assert.ErrorIs(t, err, coding.ErrUnknown, header)
	}
}

func TestDecodeGivesBackWhatWasEncoded(t *testing.T) {
	for _, e := range encoders {
		t.Run(e.kind, func(t *testing.T) {
			for _, text := range []string{"", "{}", strings.Repeat(`{"model":"é"}`, 10_000)} {
				data := encode(t, e.open, []byte(text))
				for _, src := range []io.Reader{bytes.NewReader(data), iotest.OneByteReader(bytes.NewReader(data))} {
					got, err := coding.Decode(e.name, src, int64(len(text)))
					require.NoError(t, err)
					assert.Equal(t, text, string(got))
				}
			}
		})
	}
}

// TestNoCutPassesForTheWhole ensures that a provider never gets half a prompt. A body
// without any bytes was once accepted as an empty zstd body.
func TestNoCutPassesForTheWhole(t *testing.T) {
	text := []byte(strings.Repeat(`{"model":"m","prompt":"hello"}`, 20))
	for _, e := range encoders {
		t.Run(e.kind, func(t *testing.T) {
			data := encode(t, e.open, text)
			for n := range data {
				_, err := coding.Decode(e.name, bytes.NewReader(data[:n]), 1<<20)
				assert.ErrorIs(t, err, coding.ErrBroken, "%d bytes of %d", n, len(data))
			}
		})
	}
}

func TestGarbageIsBroken(t *testing.T) {
	for _, e := range encoders {
		for _, garbage := range []string{"", "{", `{"model":"m"}`, "\x1f\x8b", "\x78\x9c\x00", strings.Repeat("\xff", 100)} {
			_, err := coding.Decode(e.name, strings.NewReader(garbage), 1<<20)
			assert.ErrorIs(t, err, coding.ErrBroken, "%s: %q", e.kind, garbage)
		}
	}
}

// TestNothingMayFollowTheEncodedBody ensures that bytes after the body are refused.
// After a deflate body, they were once ignored.
func TestNothingMayFollowTheEncodedBody(t *testing.T) {
	text := []byte(`{"model":"m"}`)
	for _, e := range encoders {
		data := append(encode(t, e.open, text), `{"model":"other"}`...)
		_, err := coding.Decode(e.name, bytes.NewReader(data), 1<<20)
		assert.ErrorIs(t, err, coding.ErrBroken, e.kind)
	}
}

// TestABombIsDefusedInBoundedMemory ensures that a body of a few kilobytes cannot
// exhaust the memory while it is decoded.
func TestABombIsDefusedInBoundedMemory(t *testing.T) {
	const limit = 1 << 18
	text := make([]byte, 16<<20)
	for _, e := range encoders {
		t.Run(e.kind, func(t *testing.T) {
			bomb := encode(t, e.open, text)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := coding.Decode(e.name, bytes.NewReader(bomb), limit)
			runtime.ReadMemStats(&after)
			assert.ErrorIs(t, err, coding.ErrTooLarge)
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(14<<20))
		})
	}
}

// net/http waits for a part of the rest of a refused body before it answers. Once, as much was
// read as a pooled buffer had room for, so that a client which sent no more than that part
// waited for a minute.
func TestReadAllReadsOneByteBeyondTheLimit(t *testing.T) {
	src := strings.NewReader(strings.Repeat("x", 100))
	_, err := coding.ReadAll(make([]byte, 0, 1000), src, -1, 10)
	assert.ErrorIs(t, err, coding.ErrTooLarge)
	assert.Equal(t, 89, src.Len())
}

func TestReadAllReadsUpToTheLimit(t *testing.T) {
	for _, test := range []struct {
		length      int
		size, limit int64
		want        error
	}{
		{0, 0, 0, nil}, {0, -1, 10, nil}, {10, 10, 10, nil}, {10, -1, 10, nil}, {10, 3, 10, nil}, {10, 100, 100, nil},
		{11, -1, 10, coding.ErrTooLarge}, {11, 11, 10, coding.ErrTooLarge}, {11, 5, 10, coding.ErrTooLarge},
		{5000, 1, 5000, nil}, {5001, 1, 5000, coding.ErrTooLarge},
	} {
		text := strings.Repeat("x", test.length)
		for _, dst := range [][]byte{nil, make([]byte, 0, 4096), []byte("old")} {
			got, err := coding.ReadAll(dst, strings.NewReader(text), test.size, test.limit)
			if test.want == nil {
				assert.NoError(t, err)
				assert.Equal(t, text, string(got))
			} else {
				assert.ErrorIs(t, err, test.want, "%+v", test)
			}
		}
	}
}

// TestALengthThatIsOnlyClaimedTakesNoMemory ensures that a large content-length alone
// does not make the gateway allocate memory.
func TestALengthThatIsOnlyClaimedTakesNoMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := coding.ReadAll(nil, strings.NewReader("{}"), 32<<20, 32<<20)
	runtime.ReadMemStats(&after)
	assert.NoError(t, err)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20))
}

func TestErrorsOfTheSourceArePassedOn(t *testing.T) {
	reset := errors.New("reset")
	_, err := coding.ReadAll(nil, io.MultiReader(strings.NewReader("x"), iotest.ErrReader(reset)), -1, 10)
	assert.ErrorIs(t, err, reset)
	_, err = coding.Decode("gzip", iotest.ErrReader(reset), 10)
	assert.ErrorIs(t, err, reset)
}

func FuzzDecode(f *testing.F) {
	for i, e := range encoders {
		f.Add(byte(i), encode(f, e.open, []byte(`{"model":"m"}`)))
	}
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		e := encoders[int(which)%len(encoders)]
		got, err := coding.Decode(e.name, bytes.NewReader(data), 1<<16)
		assert.LessOrEqual(t, len(got), 1<<16)
		if err != nil {
			assert.Nil(t, got)
			assert.True(t, errors.Is(err, coding.ErrBroken) || errors.Is(err, coding.ErrTooLarge), "%v", err)
		}
	})
}

// A body of 8 MB was copied eight times, since the buffer grew by a quarter.
func TestAnAnnouncedBodyIsCopiedAFewTimes(t *testing.T) {
	const size = 8 << 20
	src := &growth{Reader: strings.NewReader(strings.Repeat("x", size))}
	got, err := coding.ReadAll(nil, src, size, size)
	require.NoError(t, err)
	assert.Len(t, got, size)
	assert.LessOrEqual(t, src.buffers, 3, "1 MB, 4 MB, and all")
	assert.LessOrEqual(t, cap(got), size+size/4)
}

// growth counts the buffers that a reader was called with.
type growth struct {
	io.Reader
	end     *byte // of the last buffer
	buffers int
}

// Read counts p if it is not a part of the buffer of the last call.
func (g *growth) Read(p []byte) (int, error) {
	if end := &p[len(p)-1]; end != g.end {
		g.end = end
		g.buffers++
	}
	return g.Reader.Read(p)
}
