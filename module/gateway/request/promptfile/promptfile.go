// Package promptfile reads files with requests of batches whose model is named when the batch is created.
//
// It promises what the requests may use, for the highest possible cost of a batch, although the file is read
// while it is uploaded, maybe in several pieces. The file is not changed, since its length is announced before, and
// no more than a line of it is held.
//
// It refuses requests that name a model or refer to stored objects. A file whose first line is no request is another
// file, and not read.
package promptfile

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// File is a file that is being read. It must be used by one goroutine at a time.
type File struct {
	// Last reports that the file ends with the bytes of this request. Default: true.
	Last bool

	scan     request.Scan
	requests *format.FileOfRequests
	longest  int64 // bytes of a line
	strict   bool
	refused  bool // a line was
	count    int
	volume   exchange.Volume
}

// New returns a reader of a file whose lines have requests. A line has at most longest bytes. If strict, a line that
// is no valid request refuses the file, of which its key could create no batch; else it ends the reading.
func New(requests *format.FileOfRequests, longest int64, strict bool) *File {
	return &File{requests: requests, longest: longest, Last: true, strict: strict}
}

// Refused reports whether a line was refused.
func (f *File) Refused() bool { return f.refused }

// copy returns a File that goes on from the same byte.
func (f *File) copy() *File {
	other := *f
	other.scan = f.scan.Copy()
	return &other
}

// Add implements request.Tap. A file that does not begin as a request does is not held until its first line ends.
func (f *File) Add(p []byte) *fault.Fault {
	begins := bytes.TrimSpace(p)
	if f.count == 0 && f.scan.Held() == 0 && len(begins) > 0 && begins[0] != '{' {
		f.scan.Stop()
	}
	return f.note(f.scan.Add(p, f.longest, f.line))
}

// note returns why a line refuses the file, nil if it does not.
func (f *File) note(refused *fault.Fault) *fault.Fault {
	if refused != nil && !f.strict {
		f.scan.Stop()
		return nil
	}
	f.refused = f.refused || refused != nil
	return refused
}

// End implements request.Tap.
func (f *File) End() (*exchange.Requests, *fault.Fault) {
	if !f.Last {
		return nil, nil
	}
	if refused := f.note(f.scan.End(f.line)); refused != nil || f.scan.Stopped() || f.count == 0 {
		return nil, refused
	}
	volume := f.volume
	return &exchange.Requests{Volume: &volume}, nil
}

// line adds the request of a line.
func (f *File) line(line []byte) *fault.Fault {
	path, place, refused := f.requests.Read(line)
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
func (f *File) add(path string, body []byte) *fault.Fault {
	spoken, operation := formats.OfEndpoint(path)
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

// mostUse is the most that a File counts of anything, so that no product with a price overflows.
const mostUse = 1 << 58

// plus returns a+b, but at most mostUse. a must be at most that.
func plus(a, b int64) int64 { return min(a+min(b, mostUse), mostUse) }
