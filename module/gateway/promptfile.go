package gateway

import (
	"bytes"
	"slices"
	"sync"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/failover"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// promptFile is a file with requests of a batch whose model is named when the batch is created. It is read
// while it is uploaded, without a change: its length is announced before. A file whose first line is no request
// is another file, and not read.
type promptFile struct {
	scan    request.Scan
	of      *format.FileOfRequests
	longest int64 // bytes of a line
	last    bool  // the file ends with the bytes of this request
	strict  bool  // a line that is no valid request refuses the file, of which its key could create no batch
	refused bool  // a line was
	count   int
	volume  exchange.Volume
}

// newPromptFile returns a reader of a file that an account will store, nil if there is no ledger that could
// keep what is in it.
func newPromptFile(h *Handler, ex *exchange.Exchange, o *format.ObjectPath, holder *failover.Holder) *promptFile {
	if h.settler.Book.Deferring() == nil {
		return nil
	}
	currency := newBatch(h, ex, o).currencyAt(&holder.Provider.Alone().Targets[0])
	return &promptFile{of: o.Form.Requests, longest: h.MaxBody, last: true, strict: currency != "" || len(ex.Key.Bound()) > 0}
}

// copy returns a promptFile that goes on from the same byte.
func (f *promptFile) copy() *promptFile {
	other := *f
	other.scan = f.scan.Copy()
	return &other
}

// Add implements request.Tap. A file that does not begin as a request does is not held until its first line ends.
func (f *promptFile) Add(p []byte) *fault.Fault {
	begins := bytes.TrimSpace(p)
	if f.count == 0 && f.scan.Held() == 0 && len(begins) > 0 && begins[0] != '{' {
		f.scan.Stop()
	}
	return f.note(f.scan.Add(p, f.longest, f.line))
}

// note returns why a line refuses the file, nil if it does not.
func (f *promptFile) note(refused *fault.Fault) *fault.Fault {
	if refused != nil && !f.strict {
		f.scan.Stop()
		return nil
	}
	f.refused = f.refused || refused != nil
	return refused
}

// End implements request.Tap.
func (f *promptFile) End() (*exchange.Requests, *fault.Fault) {
	if !f.last {
		return nil, nil
	}
	if refused := f.note(f.scan.End(f.line)); refused != nil || f.scan.Stopped() || f.count == 0 {
		return nil, refused
	}
	volume := f.volume
	return &exchange.Requests{Volume: &volume}, nil
}

// line adds the request of a line.
func (f *promptFile) line(line []byte) *fault.Fault {
	path, place, refused := f.of.Read(line)
	if path != "" && refused == nil {
		if refused = f.add(path, line[place.Start:place.End]); refused != nil {
			refused = refused.InBatch("request")
		}
	}
	if path == "" && f.count == 0 {
		f.scan.Stop()
		return nil
	}
	f.count++
	return refused
}

// add adds what a request may use.
func (f *promptFile) add(path string, body []byte) *fault.Fault {
	spoken, operation := endpointOf(path)
	view, refused := spoken.Requests.Inspect(body, operation)
	switch {
	case refused != nil:
		return refused
	case view.Model != "":
		return fault.InvalidField("model", "must not be sent in a file: the batch of it names the model of all requests")
	case len(view.Beyond.ObjectIDs()) > 0:
		return fault.InvalidField(view.Beyond.ObjectIDs()[0].Path, "must not name a stored file in a file: send the requests in the body of the batch")
	case view.Beyond.State != "":
		return fault.NeedsState(view.Beyond.State)
	case view.Beyond.OtherModels != "":
		return fault.OtherModels(view.Beyond.OtherModels)
	}
	v, prompt := &f.volume, meter.PromptTokens(len(body), view.Costs.Files)
	v.Prompt, v.Longest = plus(v.Prompt, prompt), max(v.Longest, prompt)
	answers := max(1, view.Answers)
	switch {
	case operation != translate.Generate:
	case view.MaxTokens == 0:
		v.Open = plus(v.Open, answers)
	default:
		v.Answer = plus(v.Answer, view.MaxTokens*answers) // both are below 1<<31
	}
	v.Searches = plus(v.Searches, view.Costs.Searches)
	v.Units.Images = plus(v.Units.Images, view.Costs.Units.Images)
	v.Terms |= view.Costs.Terms
	return nil
}

// plus returns a+b, but at most mostBound. a must be at most that.
func plus(a, b int64) int64 { return min(a+min(b, mostBound), mostBound) }

// unfinished are the files of which a provider has a piece, by their sessions, over reloads. Other gateways do
// not know them: they would have to share the line that has begun.
var unfinished = unfinishedFiles{files: make(map[string]*promptFile)}

type unfinishedFiles struct {
	mu    sync.Mutex
	files map[string]*promptFile
	order []string // the sessions, the one of the latest piece last
	held  int      // bytes of all lines that have begun
}

// The bounds of unfinished files. Beyond them, those are forgotten that wait the longest.
const (
	mostUnfinished = 1000
	mostHeld       = 64 << 20 // bytes
)

// next returns the file of a session for a piece behind so many bytes: the one that begins with the piece is
// begun. It returns nil if the bytes before the piece are not known.
func (u *unfinishedFiles) next(session string, offset int64, begin func() *promptFile) *promptFile {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch f := u.files[session]; {
	case f == nil && offset == 0:
		return begin()
	case f != nil && f.scan.Offset == offset && !f.refused:
		return f.copy()
	}
	return nil
}

// put notes the file of a session, after another piece of it was stored, or refused: the provider may have a
// part of that.
func (u *unfinishedFiles) put(session string, f *promptFile) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.forget(session)
	u.files[session], u.order, u.held = f, append(u.order, session), u.held+f.scan.Held()
	for len(u.order) > mostUnfinished || u.held > mostHeld {
		u.forget(u.order[0])
	}
}

// forget forgets the file of a session. The caller holds mu.
func (u *unfinishedFiles) forget(session string) {
	if f := u.files[session]; f != nil {
		delete(u.files, session)
		u.order = slices.DeleteFunc(u.order, func(other string) bool { return other == session })
		u.held -= f.scan.Held()
	}
}
