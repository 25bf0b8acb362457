package connection

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"strings"
	"sync"
)

// Unquoted returns an error of net/http without what it quotes of an answer: lines of malformed headers, which may
// contain a credential or a prompt.
func Unquoted(err error) error { return unquoted{err} }

// unquoted is an error of net/http whose text ends before the first quotation mark. The text
// up to there describes the error.
type unquoted struct{ error }

func (e unquoted) Error() string {
	text, _, _ := strings.Cut(e.error.Error(), `"`)
	return strings.TrimRight(text, " :=")
}

func (e unquoted) Unwrap() error { return e.error }

// unsolicited is the beginning of the line that net/http writes to the standard logger when
// a provider sends bytes after the end of its answer. The line quotes up to 4 KiB of them.
var unsolicited = []byte("Unsolicited response received on idle HTTP channel")

var filtering sync.Mutex // guards the check for a filter and its installation

// FilterLog keeps texts of providers out of the standard logger. net/http has no option
// for another logger, and the content of a TLS connection cannot be filtered below
// net/http. The filter is checked before every call, because Caddy redirects the standard
// logger when it loads a configuration, and when it unloads the old one.
func FilterLog() {
	filtering.Lock()
	defer filtering.Unlock()
	if _, ok := log.Writer().(*logFilter); !ok {
		log.SetOutput(&logFilter{log.Writer()})
	}
}

// logFilter removes the provider's text from the lines that quote it.
type logFilter struct{ next io.Writer }

func (f *logFilter) Write(p []byte) (int, error) {
	i := bytes.Index(p, unsolicited)
	if i < 0 {
		return f.next.Write(p)
	}
	end := i + len(unsolicited)
	_, err := fmt.Fprintf(f.next, "%s (%d bytes left out)\n", p[:end], len(p)-end)
	return len(p), err
}
