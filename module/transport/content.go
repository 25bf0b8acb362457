package transport

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// passesContent reports whether the answer is passed on as it is: the content of a file, or the results
// of a batch.
func (c *call) passesContent() bool {
	o := c.attempt.Object()
	return o != nil && o.Content
}

// content is the content of a file, of which the lines are read if receive is not nil.
type content struct {
	receive func(line []byte)
	line    []byte // of which the end has not come
}

// maxResult is the length of the longest line of results that is read, in bytes. Longer ones are
// passed on, but the usage of their batch stays unknown.
const maxResult = maxAnswer

var newline = []byte("\n")

// read hands whole lines to who needs them.
func (r *content) read(part []byte) {
	if r.receive == nil {
		return
	}
	for line, rest, whole := bytes.Cut(part, newline); whole; line, rest, whole = bytes.Cut(part, newline) {
		if len(r.line) > 0 {
			line = append(r.line, line...)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			r.receive(line)
		}
		r.line, part = r.line[:0], rest
	}
	if len(r.line)+len(part) > maxResult {
		r.receive(nil)
		r.line, part = r.line[:0], nil
	}
	r.line = append(r.line, part...)
}

// end hands over the last line. What a batch has used is charged by its lines.
func (r *content) end() (token.Usage, token.Text) {
	r.read(newline)
	return token.Usage{}, token.Text{}
}

// results are the results of a batch, in whose lines an editor seals ids. A line of more than maxResult bytes
// stays as it is, and one that breaks off is left out.
type results struct {
	src   *bufio.Reader
	edit  editor
	ready []byte
	long  bool  // ready ends in a line that is too long
	err   error // of src
}

// batchOutput are the first bytes of a file with the results of a batch of OpenAI, without spaces.
const batchOutput = `{"id":"batch_req_`

// isBatchOutput reports whether a file has the results of a batch of OpenAI, by its first bytes.
func isBatchOutput(file *bufio.Reader) bool {
	const most = len(batchOutput) + 4 // spaces
	first, _ := file.Peek(most)       // fewer bytes are another file
	return bytes.HasPrefix(bytes.ReplaceAll(first, []byte(" "), nil), []byte(batchOutput))
}

// outputSealer returns the editor that seals the ids in the results of a batch of OpenAI which another request
// may name: of responses and chat completions, and of files and what has files. A result does not show whether
// the request of a chat completion has asked to store it.
func outputSealer(a *exchange.Attempt) editor {
	return func(edits []edit.Edit, line []byte) []edit.Edit {
		first := len(edits)
		raw := jsonscan.MemberOf(jsonscan.MemberOf(jsonscan.MemberOf(line, "response"), "body"), "id")
		place, found := jsonscan.SlotOf(line, raw)
		id := jsonscan.TextOf(raw)
		for _, kind := range []string{seal.ResponseID, seal.CompletionID} {
			if found && strings.HasPrefix(id, kind) && format.Seals(kind, a.Traits) {
				sealed := jsonscan.AppendString(nil, a.SealID(nil, kind, []byte(id)))
				edits = append(edits, edit.Edit{Span: translate.Span{Start: place.Start, End: place.End}, With: sealed})
			}
		}
		return sealReferences(edits, first, line, a)
	}
}

func newResults(src io.Reader, change editor) *results {
	return &results{src: bufio.NewReader(src), edit: change}
}

// Read implements io.Reader.
func (r *results) Read(b []byte) (int, error) {
	for len(r.ready) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.next()
	}
	n := copy(b, r.ready)
	r.ready = r.ready[n:]
	return n, nil
}

// next reads a line, or a part of one that is too long.
func (r *results) next() {
	var line []byte
	for begins := !r.long; ; {
		part, err := r.src.ReadSlice('\n')
		line = append(line, part...)
		more := errors.Is(err, bufio.ErrBufferFull)
		if r.long = more; more && begins && len(line) <= maxResult {
			continue
		}
		if err != nil && !more {
			r.err = err
		}
		if begins && !more && len(line) <= maxResult {
			line = edit.Apply(nil, line, r.edit(nil, line))
		}
		//lint:ignore errorlint an answer that is cut off has an error that may wrap io.EOF
		if r.err == nil || r.err == io.EOF {
			r.ready = line
		}
		return
	}
}
