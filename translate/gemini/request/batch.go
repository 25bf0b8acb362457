package request

import (
	"fmt"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// The paths of the requests in the body of a batch, and of the name of a file that has them.
const (
	inputConfig = "batch.inputConfig"
	inlined     = inputConfig + ".requests.requests"
	fileName    = inputConfig + ".fileName"
)

// Batch is the strict pass over the body of a request that creates a batch. Each gets the place of a request,
// an object, and returns why it is refused; nil to go on. File is the name of the file that has the requests,
// if the body has none.
func Batch(body []byte, each func(request translate.Span) *fault.Fault) (file translate.ObjectID, refused *fault.Fault) {
	if _, refused = strict.Read(body, strict.Brackets, strict.Fields{{Name: "batch", Must: true}}).End(); refused != nil {
		return file, refused
	}
	b := batchReader{c: jsonscan.Skipped(body), each: each}
	b.object("", memberReaders{"batch": func(string) {
		b.object("batch", memberReaders{"inputConfig": func(string) {
			b.object(inputConfig, memberReaders{"requests": b.wrapper, "fileName": b.name})
		}, "webhookConfig": b.webhook})
	}})
	switch isFile := !b.file.Span.Empty(); {
	case b.refused != nil:
		return file, b.refused
	case b.c.Err() != nil:
		return file, fault.InvalidField("batch", "must have no member twice, letter case ignored")
	case isFile == (b.count > 0):
		return file, fault.InvalidField(inputConfig, "must have either requests or fileName")
	}
	return b.file, nil
}

// The paths of the endpoints of requests in the lines of a file, below the version of the API.
const (
	GeneratePath = "/v1beta/models/{model}:generateContent"
	EmbedPath    = "/v1beta/models/{model}:embedContent"
)

// Line is the strict pass over a line of a file with requests of a batch. It returns the place of the request,
// and the path of its endpoint. Path is "" if the line is of another file: no object, or without a request.
func Line(line []byte) (path string, request translate.Span, refused *fault.Fault) {
	c := jsonscan.New(line)
	c.Skip()
	if err := c.Finish(); err != nil || line[0] != '{' || jsonscan.MemberOf(line, "request") == nil {
		return "", request, fault.InvalidField("request", "required")
	}
	b := batchReader{c: jsonscan.Skipped(line), each: func(place translate.Span) *fault.Fault {
		request = place
		return nil
	}}
	b.object("", memberReaders{"request": b.request})
	path = GeneratePath
	if jsonscan.MemberOf(line[request.Start:request.End], "content") != nil {
		path = EmbedPath
	}
	if b.refused == nil && b.c.Err() != nil {
		b.refuse(fault.InvalidField("request", "must be sent once, letter case ignored"))
	}
	return path, request, b.refused
}

// memberReaders are what reads the members of an object, by their names. They get the path of the member.
type memberReaders map[string]func(path string)

type batchReader struct {
	c       jsonscan.Cursor
	each    func(request translate.Span) *fault.Fault
	count   int // of requests
	file    translate.ObjectID
	refused *fault.Fault // the first fault
}

// object reads the object at the cursor. Members have two spellings, of which an object may have one.
func (b *batchReader) object(path string, readers memberReaders) {
	if b.c.Kind() != jsonscan.Object {
		b.refuse(fault.InvalidField(path, "must be an object"))
		b.c.Skip()
		return
	}
	given := make(map[string]bool)
	for b.c.EnterObject(); b.c.Member(); {
		sent := string(b.c.Name())
		name := knownName(sent, readers)
		place := strings.TrimPrefix(path+"."+name, ".")
		switch {
		case name == "":
			b.c.Skip()
			continue
		case sent != name && sent != jsonscan.SnakeCase(name):
			b.refuse(fault.InvalidField(place, "must be written in one of the two spellings of the API"))
		case given[name]:
			b.refuse(fault.InvalidField(place, "must be sent in one spelling only"))
		}
		given[name] = true
		readers[name](place)
	}
}

// knownName returns the name of a reader that servers may find by a name that was sent, "" if there is none.
func knownName(sent string, readers memberReaders) string {
	for name := range readers {
		if strings.EqualFold(strings.ReplaceAll(sent, "_", ""), name) {
			return name
		}
	}
	return ""
}

// refuse notes the first fault.
func (b *batchReader) refuse(f *fault.Fault) {
	if b.refused == nil {
		b.refused = f
	}
}

// wrapper reads the object with the list of requests.
func (b *batchReader) wrapper(path string) { b.object(path, memberReaders{"requests": b.list}) }

// list reads the list of requests.
func (b *batchReader) list(path string) {
	if b.c.Kind() != jsonscan.Array {
		b.refuse(fault.InvalidField(path, "must be an array of objects"))
		b.c.Skip()
		return
	}
	for b.c.OpenArray(); b.c.Element(); b.count++ {
		place := fmt.Sprintf("%s[%d]", inlined, b.count)
		has := false
		b.object(place, memberReaders{"request": func(path string) {
			has = true
			b.request(path)
		}})
		if !has {
			b.refuse(fault.InvalidField(place+".request", "required"))
		}
	}
}

// request reads a request.
func (b *batchReader) request(path string) {
	if b.c.Kind() != jsonscan.Object {
		b.refuse(fault.InvalidField(path, "must be an object"))
		b.c.Skip()
		return
	}
	start := b.c.Offset()
	place := translate.Span{Start: start, End: start + len(b.c.Skip())}
	if b.refused == nil {
		if f := b.each(place); f != nil {
			b.refuse(f.InBatch(path))
		}
	}
}

// webhook refuses an address that the provider would call: what it sends there has its own names of objects, and
// the client chooses who gets that on behalf of the account.
func (b *batchReader) webhook(path string) {
	if b.c.Kind() != jsonscan.Null {
		b.refuse(fault.Webhook(path))
	}
	b.c.Skip()
}

// name reads the name of the file with the requests.
func (b *batchReader) name(path string) {
	start, isText := b.c.Offset(), b.c.Kind() == jsonscan.String
	place := translate.Span{Start: start, End: start + len(b.c.StringOrSkip())}
	if !isText {
		b.refuse(fault.InvalidField(path, "must be a string"))
		return
	}
	b.file = translate.ObjectID{Path: fileName, Kind: seal.GeminiFileID, Span: place}
}
