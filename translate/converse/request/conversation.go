package request

import (
	"bytes"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// conversation is the messages of a request, each with a comma before it. The last one is open,
// since the next turn may have its role.
type conversation struct {
	buf    []byte
	points []point // positions in buf
	names  int     // of documents, which must differ

	// The last message.
	place        core.Place // of the client's turn
	role         string     // "" for none
	results      []byte     // each with a comma before it
	parts        parts.Content
	resultPoints []point // positions in results
	partPoints   []point // positions in parts
	text, file   bool    // the message has a text, or a document
	called       bool    // the message has a call
}

// point is a position behind which a prefix ends that is to be cached.
type point struct {
	position int
	place    core.Place // of the client's breakpoint
	hour     bool       // the cache lasts an hour, and not the time of the service
}

func (c *conversation) reset() {
	*c = conversation{
		buf: c.buf[:0], points: c.points[:0], results: c.results[:0], parts: c.parts,
		resultPoints: c.resultPoints[:0], partPoints: c.partPoints[:0],
	}
	c.parts.Reset(openText, parts.LineFeed)
	c.parts.ToArray()
}

func (c *conversation) forget() (kept int) {
	return c.parts.Forget() + cap(c.buf) + cap(c.results)
}

// begin begins a message unless the open one has the role.
func (c *conversation) begin(role string, place core.Place) {
	if c.place = place; c.role == role {
		return
	}
	c.close()
	c.role, c.text, c.file, c.called = role, false, false, false
	c.results, c.resultPoints, c.partPoints = c.results[:0], c.resultPoints[:0], c.partPoints[:0]
	c.parts.Reset(openText, parts.LineFeed)
	c.parts.ToArray()
}

// lostBeginning is the message in front of a conversation that begins with the assistant, which
// services refuse.
const lostBeginning = `,{"role":"user","content":[{"text":"[The beginning of the conversation was left out.]"}]}`

// close ends the open message. The results come first, and a document has a text beside it.
func (c *conversation) close() {
	if c.role == "" || len(c.results) == 0 && c.parts.Empty() {
		return
	}
	if c.role == assistant && len(c.buf) == 0 {
		c.buf = append(c.buf, lostBeginning...)
	}
	if c.file && !c.text {
		c.parts.Add([]byte("[document]"))
	}
	c.buf = append(append(append(c.buf, `,{"role":"`...), c.role...), `","content":[`...)
	if len(c.results) > 0 {
		c.take(c.resultPoints, -1)
		if c.buf = append(c.buf, c.results[1:]...); !c.parts.Empty() {
			c.buf = append(c.buf, ',')
		}
	}
	c.take(c.partPoints, 0)
	c.buf = append(append(c.buf, c.parts.Buf...), `]}`...)
}

// lead puts a system text in front of the messages, as a text of the user. Models without system
// texts have no cache either, so its points are of no use.
func (c *conversation) lead(system *parts.Content) {
	if system.Empty() {
		return
	}
	led, moved := system.Lead(c.buf, `,{"role":"user","content":[`)
	for i := range c.points {
		c.points[i].position += moved
	}
	c.buf = led
	system.Reset(openText, "")
}

// take adds the points of bytes that are appended next.
func (c *conversation) take(points []point, shift int) {
	for _, p := range points {
		p.position += len(c.buf) + shift
		c.points = append(c.points, p)
	}
}

// mark asks for a cache up to the last result or the last other part of the open message.
func (c *conversation) mark(result bool, p point) {
	if result {
		c.resultPoints = addPoint(c.resultPoints, p, &c.results)
	} else {
		c.partPoints = addPoint(c.partPoints, p, &c.parts.Buf)
	}
}

// markEnd asks for a cache up to the end of the open message, and reports whether that is possible: a
// message of the assistant may end with reasoning.
func (c *conversation) markEnd(p point) bool {
	if c.role != user {
		return false
	}
	c.mark(c.parts.Empty(), p)
	return true
}

// addPoint adds a point at the end of a buffer, unless there is one.
func addPoint(points []point, p point, buf *[]byte) []point {
	p.position = len(*buf)
	if n := len(points); n > 0 && points[n-1].position == p.position {
		return points
	}
	return append(points, p)
}

// document notes a document, and returns its name, which says nothing about its content: models
// may take names for instructions.
func (c *conversation) document() string {
	c.names++
	c.file = true
	return "document-" + strconv.Itoa(c.names)
}

// maxPoints is the number of breakpoints of the cache that services accept.
const maxPoints = 4

// cachePoints are the elements that ask for a cache, by whether it lasts an hour.
var cachePoints = map[bool]string{false: `,{"cachePoint":{"type":"default"}}`, true: `,{"cachePoint":{"type":"default","ttl":"1h"}}`}

// appendMarked appends blocks with the last points, as many as there is room for, and returns
// how many there were. Others are reported.
func appendMarked(dst, blocks []byte, points []point, room int, x *core.Translation) ([]byte, int) {
	for len(points) > room {
		x.KeepAt(points[0].place, core.CachePartsBeyond)
		points = points[1:]
	}
	start := 0
	for _, p := range points {
		dst = append(append(dst, blocks[start:p.position]...), cachePoints[p.hour]...)
		start = p.position
	}
	return append(dst, blocks[start:]...), len(points)
}

// trim cuts white space from the end of the last part if that is a text, which is not blank, and
// reports whether there was any.
func (c *conversation) trim() (cut bool) {
	text, isText := bytes.CutSuffix(c.parts.Buf, []byte(`"}`))
	if !isText {
		return false
	}
	kept := jsonscan.TrimEnd(text)
	if cut = len(kept) < len(text); cut {
		c.parts.Buf = append(kept, `"}`...)
		for i := range c.partPoints {
			c.partPoints[i].position = min(c.partPoints[i].position, len(c.parts.Buf))
		}
	}
	return cut
}
