package passthrough

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// reading is what a server reads in a form: the texts by the names of their parts, and the files.
type reading struct {
	texts map[string][]string
	files []string
}

func newReading() *reading { return &reading{texts: map[string][]string{}} }

func (r *reading) add(name, content string, file bool) {
	if file {
		r.files = append(r.files, content)
	} else {
		r.texts[name] = append(r.texts[name], content)
	}
}

// all returns all texts, sorted.
func (r *reading) all() (all []string) {
	for _, texts := range r.texts {
		all = append(all, texts...)
	}
	slices.Sort(all)
	return all
}

// readers are servers that read forms, each by its own rules.
var readers = map[string]func(body []byte) (*reading, error){
	"net/http": readAsGo, "any line ends": readLeniently, "line by line, without letter case": readByLines,
}

// readAsGo reads as programs in Go.
func readAsGo(body []byte) (*reading, error) {
	r, err := http.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", Type(body))
	if err := r.ParseMultipartForm(32 << 20); err != nil {
		return nil, err
	}
	read := newReading()
	for name, values := range r.MultipartForm.Value {
		for _, value := range values {
			read.add(name, value, false)
		}
	}
	for name, files := range r.MultipartForm.File {
		for _, header := range files {
			file, err := header.Open()
			if err != nil {
				return nil, err
			}
			content, err := io.ReadAll(file)
			if err != nil {
				return nil, err
			}
			read.add(name, string(content), true)
		}
	}
	return read, nil
}

// What lenient servers look for.
const lineEnd = `(?:\r\n|\n|\r)`

var (
	firstEnd   = regexp.MustCompile("^" + lineEnd)
	blankLine  = regexp.MustCompile(`\r\n\r\n|\r\r|\n\n`)
	continued  = regexp.MustCompile(lineEnd + `[ \t]`)
	option     = regexp.MustCompile(`;\s*([\w!#$%&'+.^-]+)(?:\*\d*)?\*?\s*=\s*("(?:\\.|[^"\\])*"|[^;\s]*)`)
	partOption = regexp.MustCompile(`[;\s]name\*?=(?:utf-8'')?"?([^";]*)`)
)

// readLeniently reads as Werkzeug, the server of Flask: CR, LF and CR LF end a line, a blank line
// of the same ends a head, lines that begin with a blank continue the one before, and delimiters
// may be followed by blanks.
func readLeniently(body []byte) (*reading, error) {
	delimiter := regexp.MustCompile(lineEnd + regexp.QuoteMeta("--"+boundaryOf(body)) + `(--[ \t]*` + lineEnd + `?|[ \t]*` + lineEnd + `)`)
	read, rest := newReading(), append([]byte("\n"), body...)
	match := delimiter.FindSubmatchIndex(rest)
	for match != nil && !bytes.HasPrefix(rest[match[2]:match[3]], []byte("--")) {
		rest = rest[match[1]:]
		blank := blankLine.FindIndex(rest)
		if blank == nil {
			return nil, io.ErrUnexpectedEOF
		}
		head := continued.ReplaceAll(rest[:blank[0]], []byte(" "))
		rest = rest[(blank[0]+blank[1])/2:] // the delimiter may be behind the head
		start := firstEnd.FindIndex(rest)[1]
		if match = delimiter.FindSubmatchIndex(rest); match == nil {
			return nil, io.ErrUnexpectedEOF
		}
		var name string
		var file bool
		for line := range bytes.FieldsFuncSeq(head, func(c rune) bool { return c == '\r' || c == '\n' }) {
			if key, value, _ := strings.Cut(string(line), ":"); strings.EqualFold(strings.TrimSpace(key), "content-disposition") {
				name, file = optionsOf(value)
			}
		}
		read.add(name, string(rest[min(start, match[0]):match[0]]), file)
	}
	if match == nil {
		return nil, io.ErrUnexpectedEOF
	}
	return read, nil
}

// optionsOf returns the name of a part, and whether it has the name of a file. A star behind the
// name of a parameter, and a number behind the star, are no part of it.
func optionsOf(value string) (name string, file bool) {
	for _, m := range option.FindAllStringSubmatch(value, -1) {
		text := strings.NewReplacer(`\\`, `\`, `\"`, `"`, `%22`, `"`).Replace(strings.Trim(m[2], `"`))
		if i := strings.LastIndexByte(text, '\''); strings.Contains(m[0], "*") && i >= 0 {
			text = text[i+1:]
		}
		switch strings.ToLower(m[1]) {
		case "name":
			name = text
		case "filename":
			file = true
		}
	}
	return name, file
}

// readByLines reads line by line, as servers do that know only the lines of a stream: a delimiter
// is a line, with whatever white space behind it. Names have no letter case, no brackets and no
// escapes, as in frameworks that bind them to members of objects, and a part of no text is a file.
func readByLines(body []byte) (*reading, error) {
	read, delimiter := newReading(), "--"+boundaryOf(body)
	var name, content string
	var begun, inHead, file bool
	for line := range lines(string(body)) {
		bare := strings.TrimRight(line, " \t\r\n")
		if bare == delimiter || bare == delimiter+"--" {
			if begun {
				content = strings.TrimSuffix(strings.TrimSuffix(content, "\n"), "\r")
				read.add(name, content, file)
			}
			if bare != delimiter {
				return read, nil
			}
			begun, inHead, file, name, content = true, true, false, "", ""
			continue
		}
		switch key, value, _ := strings.Cut(strings.ToLower(bare), ":"); {
		case !inHead:
			content += line
		case bare == "":
			inHead = false
		case strings.TrimSpace(key) == "content-disposition":
			name = partOption.FindStringSubmatch(value + `;name=`)[1]
			name, _, _ = strings.Cut(strings.ReplaceAll(strings.TrimSpace(name), `\`, ""), "[")
			file = file || strings.Contains(value, "filename")
		case strings.TrimSpace(key) == "content-type":
			kind, _, err := mime.ParseMediaType(value)
			file = file || err != nil || !strings.HasPrefix(kind, "text/") && kind != "application/json"
		}
	}
	return nil, io.ErrUnexpectedEOF
}

// lines returns an iterator over the lines of a text with what ends them: CR LF, LF or CR.
func lines(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for text != "" {
			end := strings.IndexAny(text, "\r\n") + 1
			if end == 0 {
				end = len(text)
			} else if strings.HasPrefix(text[end-1:], "\r\n") {
				end++
			}
			if !yield(text[:end]) {
				return
			}
			text = text[end:]
		}
	}
}

// readAlike checks that all servers read a form as the gateway does, if that accepts it. It returns
// whether the gateway does, and whether the servers agree.
func readAlike(t *testing.T, body []byte, op translate.Operation) (accepted, agree bool) {
	view, refused := Inspect(body, op)
	gateway := newReading()
	if refused != nil {
		gateway, _ = readAsGo(body)
	} else {
		for f := formOf(body); f.next(); {
			gateway.add(f.name, string(f.text()), f.file)
		}
		if !view.ModelSpan.Empty() {
			require.Equal(t, []string{view.Model}, gateway.texts["model"])
		}
	}
	for server, readBy := range readers {
		switch read, err := readBy(body); {
		case refused == nil:
			require.NoError(t, err, "%s: %q", server, body)
			for _, name := range []string{"model", "n", "stream", "prompt"} {
				require.Equal(t, gateway.texts[name], read.texts[name], "%s: %s of %q", server, name, body)
			}
			require.Equal(t, gateway.all(), read.all(), "%s: %q", server, body)
			require.ElementsMatch(t, gateway.files, read.files, "%s: %q", server, body)
		case gateway == nil || err != nil || !slices.Equal(gateway.texts["model"], read.texts["model"]) || !slices.Equal(gateway.all(), read.all()):
			return false, false
		}
	}
	return refused == nil, true
}

// A client sent a part whose head ended with two bare line feeds, and a second model behind it: the
// gateway read one model, and the server another, which the key did not have.
func TestAcceptedFormsAreReadAlikeByAllServers(t *testing.T) {
	const valid = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\nx\r\n--b\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\np" +
		"\r\n--b\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nm\r\n--b--\r\n"
	headers := []string{
		"", "Content-Type: text/plain; charset=utf-8", "Content-Type: application/octet-stream", "Content-Type: multipart/mixed; boundary=c",
		"Content-Transfer-Encoding: quoted-printable", "Content-Transfer-Encoding: 8bit", "X-A: b\r\n c", `Content-Disposition: form-data; name="model"`, "X-A : b", "X-A",
	}
	var accepted, refused, told int
	for _, name := range []string{
		`name="x"`, `name=x`, `name="model"`, `name="Model"`, `name="model[]"`, `name=model[]`, `name="[model]"`, `name="model[0]"`, `name="MODEL[a]"`, `name*=utf-8''model`,
		`name*0=mod; name*1=el`, `name="mo\del"`, `name="mod%65l"`, `name="model "`, `name=" model"`, `name="x"; name="model"`, `Name="model"`, `NAME=model`, `name ="model"`, `name= "model"`,
		`name='model'`, `name="model`, `name=model"`, `name=""`, `name="x"; filename=""`, `name="x"; filename="a"`, `name="x"; filename*=utf-8''a`, `filename="a\"; name=\"model"; name="x"`,
		`name="x"; filename="; name=model"`, `name="x";`, `name="x"; filename="a\"b"`, `name="N"`, `name="stream[]"`, `name="prompt"`, `name="Prompt"`, `name="PROMPT[]"`, `name="mödel"`, "name=\"x\x00\"", `name="n`,
	} {
		for _, header := range headers {
			for _, headEnd := range []string{"\r\n\r\n", "\n\n", "\r\r", "\r\n\n", "\n\r\n"} {
				for _, content := range []string{"10", "", "\r\n", "a\r", "=31", "1\n--b\nContent-Disposition: form-data; name=\"model\"\n\ns", "\r--b\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n9",
					"--b\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\ns", "--bb", "\xff", "--c\r\n\r\nd\r\n--c--"} {
					head := "Content-Disposition: form-data; " + name
					if header != "" {
						head += "\r\n" + header
					}
					ok, agree := readAlike(t, []byte("--b\r\n"+head+headEnd+content+"\r\n"+valid), translate.EditImages)
					switch {
					case ok:
						accepted++
					case agree:
						refused++
					default:
						told++
					}
				}
			}
		}
	}
	assert.Greater(t, accepted, 50, "accepted")
	assert.Greater(t, told, 1000, "refused, and read differently")
	t.Logf("%d accepted, %d refused that servers read differently, %d others refused", accepted, told, refused)
}

// Whatever a form is, what the gateway accepts is read alike.
func FuzzForm(f *testing.F) {
	const part = "--b\r\nContent-Disposition: form-data; name=\""
	for _, body := range []string{
		part + "model\"\r\n\r\nm\r\n" + part + "file\"; filename=\"f\"\r\nContent-Type: audio/wav\r\n\r\nx\n--c\r\n--b--\r\n",
		part + "prompt\"\r\n\r\np\r\n" + part + "image[]\"; filename=\"a;b.png\"; filename*=utf-8''a%20b\r\n\r\n\x89\r\n--b--",
		part + "prompt\"\r\ncontent-type: text/plain; charset=iso-8859-1\r\n\r\np\r\n--b--",
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, op := range []translate.Operation{translate.EditImages, translate.Transcribe} {
			if _, refused := Inspect(body, op); refused == nil && IsForm(body) {
				readAlike(t, body, op)
			}
		}
	})
}
