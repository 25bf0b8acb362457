package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// transcript is about 100 KB of what a coding agent sends: many tools, and a
// conversation with source code, dense in escapes, in its tool results.
func transcript() []byte {
	var b bytes.Buffer
	b.WriteString(`{"model":"claude-sonnet-4-5","max_tokens":32000,"stream":true,"system":[{"type":"text","text":"` +
		strings.Repeat("You are a careful agent. Do what is asked, say what you saw. ", 60) + `"}],"tools":[`)
	for i := range 30 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"tool_%d","description":%q,"input_schema":{"type":"object","properties":{`+
			`"path":{"type":"string","description":"The path of the file to work on"},"limit":{"type":"integer","minimum":1,"maximum":2000},`+
			`"flags":{"type":"array","items":{"type":"string","enum":["a","b","c"]}}},"required":["path"],"additionalProperties":false}}`,
			i, strings.Repeat("Reads a file.\nUse it often, \"always\" with a path. ", 12))
	}
	b.WriteString(`],"messages":[{"role":"user","content":"Please repair the build."}`)
	code := strings.Repeat("\tif err != nil {\n\t\treturn fmt.Errorf(\"reading %q: %w\", name, err)\n\t}\n", 22)
	for i := range 36 {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"text","text":"I look at file %d."},`+
			`{"type":"tool_use","id":"toolu_%024d","name":"tool_1","input":{"path":"/src/main_%d.go","limit":100}}]},`+
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%024d","content":%q}]}`, i, i, i, i, code)
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

const delta = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello, \"world\" of streams"}}`

func BenchmarkValid(b *testing.B) {
	var indented bytes.Buffer
	body := transcript()
	require.NoError(b, json.Indent(&indented, body, "", "    "))
	for name, data := range map[string][]byte{"compact": body, "indented": indented.Bytes(), "delta": []byte(delta)} {
		b.Run(name+"/jsonscan", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				c := jsonscan.New(data)
				c.Skip()
				if c.Finish() != nil {
					b.Fatal(c.Err())
				}
			}
		})
		b.Run(name+"/encoding", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if !json.Valid(data) {
					b.Fatal("not valid")
				}
			}
		})
	}
}

// BenchmarkBodies reads bodies of 500 KB in turn, which no cache contains all of.
func BenchmarkBodies(b *testing.B) {
	for name, text := range map[string]string{
		"escapes":  `A gateway forwards \"requests\", größer and\nsmaller ones: if err != nil { return err } `,
		"ascii":    "A gateway forwards requests, and returns the answers as they come. ",
		"cyrillic": "Шлюз пересылает запросы, и возвращает ответы по мере их поступления. ",
		"chinese":  "网关转发请求，无论大小，并在答案到达时返回它们。",
	} {
		text = strings.Repeat(text, 1+3600/len(text))
		message := `{"role":"user","content":"` + text + `"}`
		body := []byte(`[` + strings.Repeat(message+",", 500000/len(message)) + message + `]`)
		var bodies [8][]byte
		for i := range bodies {
			bodies[i] = bytes.Clone(body)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for i := 0; b.Loop(); i++ {
				c := jsonscan.New(bodies[i%len(bodies)])
				if walk(&c); c.Finish() != nil {
					b.Fatal(c.Err())
				}
			}
		})
	}
}

// walk reads every value with the cursor, member by member.
func walk(c *jsonscan.Cursor) {
	switch c.Kind() {
	case jsonscan.Object:
		for c.EnterObject(); c.Member(); {
			walk(c)
		}
	case jsonscan.Array:
		for c.EnterArray(); c.Element(); {
			walk(c)
		}
	default:
		c.Skip()
	}
}

func BenchmarkWalk(b *testing.B) {
	for name, data := range map[string][]byte{"transcript": transcript(), "delta": []byte(delta)} {
		b.Run(name+"/jsonscan", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				c := jsonscan.New(data)
				if walk(&c); c.Finish() != nil {
					b.Fatal(c.Err())
				}
			}
		})
		b.Run(name+"/encoding", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				var v any
				if err := json.Unmarshal(data, &v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkWriting(b *testing.B) {
	body := transcript()
	var indented bytes.Buffer
	require.NoError(b, json.Indent(&indented, body, "", "  "))
	code := strings.Repeat("\tif err != nil {\n\t\treturn fmt.Errorf(\"reading %q: %w\", name, err)\n\t}\n", 22)
	raw := jsonscan.AppendString(nil, code)
	room := make([]byte, 0, 2*indented.Len())
	for name, write := range map[string]func(){
		"compact/jsonscan": func() { jsonscan.AppendCompact(room, indented.Bytes()) },
		"compact/encoding": func() { _ = json.Compact(bytes.NewBuffer(room), indented.Bytes()) },
		"string/jsonscan":  func() { jsonscan.AppendString(room, code) },
		"string/encoding":  func() { _ = json.NewEncoder(bytes.NewBuffer(room)).Encode(code) },
		"text/jsonscan":    func() { jsonscan.AppendText(room, raw) },
		"text/encoding":    func() { var s string; _ = json.Unmarshal(raw, &s) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				write()
			}
		})
	}
}
