package demo

import (
	"encoding/json"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// ask is a request of any format, reduced to what the answer depends on.
type ask struct {
	format       translate.Format
	model        string
	stream       bool
	includeUsage bool // chat, completions: the usage chunk was asked for
	limit        budget
	stops        []string
	n            int // answers for each prompt
	echo         bool
	logprobs     int // alternatives for each token, negative: not asked for

	prompts  []string // one, but for completions
	system   int      // words of the system prompt
	messages int
	media    int // images and documents
	results  []string
	tools    []tool
	choice   toolChoice
	reason   bool
	hidden   bool // thinking is signed but not shown

	input  int  // tokens of the whole request
	prefix int  // those of the system text and the tools
	marked bool // a cache breakpoint was set
	later  bool // an assistant turn is there: the prefix was seen before

	faults faults
	orders orders
}

// tool is an offered tool.
type tool struct {
	name   string
	schema json.RawMessage // nil when it takes anything
	custom bool            // chat: takes text instead of JSON
	server bool            // the provider runs it itself; never called here
}

// toolChoice is what the caller says about calling tools.
type toolChoice struct {
	mode   string // "auto", "none", "any"
	name   string // with "any": this one
	single bool   // one call at most
}

// mediaTokens is what an image or a document counts, whatever its size.
const mediaTokens = 1500

// text counts a text of the request.
func (q *ask) text(s string) { q.input += tokens(s) }

// addSystem counts a text of the system prompt.
func (q *ask) addSystem(s string) {
	q.system += tokens(s)
	q.input += tokens(s)
	q.prefix += tokens(s)
}

// addTool counts an offered tool, its schema by the four bytes.
func (q *ask) addTool(t tool, raw json.RawMessage) {
	q.tools = append(q.tools, t)
	q.input += (len(raw) + 3) / 4
	q.prefix += (len(raw) + 3) / 4
}

// addMedia counts an image or a document.
func (q *ask) addMedia() {
	q.media++
	q.input += mediaTokens
}
