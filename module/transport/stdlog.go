package transport

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"sync"
)

// unsolicited is the beginning of the line that net/http writes to the standard logger
// when a provider sends more than it has announced. Up to 4 KiB of that are quoted.
var unsolicited = []byte("Unsolicited response received on idle HTTP channel")

var filtering sync.Mutex // guards the check for a filter and its installation

// filterStdLog keeps texts of providers out of the standard logger. net/http has no
// option for another logger, and above TLS a connection cannot be filtered. Caddy
// redirects the standard logger when it loads a configuration, and again when it
// drops the old one, so that the filter has to be installed again and again.
func filterStdLog() {
	filtering.Lock()
	defer filtering.Unlock()
	if _, ok := log.Writer().(*stdLogFilter); !ok {
		log.SetOutput(&stdLogFilter{log.Writer()})
	}
}

// stdLogFilter takes the provider's text out of the lines that repeat it.
type stdLogFilter struct{ next io.Writer }

func (f *stdLogFilter) Write(p []byte) (int, error) {
	at := bytes.Index(p, unsolicited)
	if at < 0 {
		return f.next.Write(p)
	}
	end := at + len(unsolicited)
	_, err := fmt.Fprintf(f.next, "%s (%d bytes left out)\n", p[:end], len(p)-end)
	return len(p), err
}
