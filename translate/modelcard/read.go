package modelcard

import (
	"errors"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// ErrNoList is the error of a body that is JSON, but no list of models.
var ErrNoList = errors.New("not a list of models")

// maxModelText bounds the texts of a model, in bytes.
const maxModelText = 256

// Read reads a provider's list of models: an object with the models in data, or just
// the array. Members are read by every name that a service documents. Values of an
// unexpected type and texts of more than 256 bytes count as absent. Models without an
// id are left out.
//
// next is the id after which the next page begins, "" for the last page.
func Read(body []byte) (models []Card, next string, err error) {
	c := jsonscan.New(body)
	p := modelPage{}
	if c.Kind() == jsonscan.Array {
		p.readModels(&c)
	} else {
		p.read(&c)
	}
	if err := c.Finish(); err != nil {
		return nil, "", err
	}
	if !p.isList {
		return nil, "", ErrNoList
	}
	if !p.more {
		p.last = ""
	}
	return p.models, p.last, nil
}

// modelPage is one page of a list of models.
type modelPage struct {
	models []Card
	isList bool
	more   bool
	last   string
}

func (p *modelPage) read(c *jsonscan.Cursor) {
	for c.OpenObject(); c.Member(); {
		p.member(c)
	}
}

func (p *modelPage) member(c *jsonscan.Cursor) {
	switch string(c.Name()) {
	case "data", "models": // "models" in lists of Google
		p.readModels(c)
	case "last_id":
		readModelText(c, &p.last)
	case "nextPageToken": // of Google; the next page begins after the token instead of an id
		readModelText(c, &p.last)
		p.more = p.last != ""
	case "has_more":
		if more, ok := c.Bool(); ok {
			p.more = more
			return
		}
		fallthrough
	default:
		c.Skip()
	}
}

func (p *modelPage) readModels(c *jsonscan.Cursor) {
	p.isList = c.OpenArray() || p.isList
	for c.Element() {
		var m cardReader
		m.read(c)
		if card := m.card(); card.ID != "" {
			p.models = append(p.models, card)
		}
	}
}

// cardReader reads a model. Sizes that services state in several places are kept apart,
// so that the order of members does not matter.
type cardReader struct {
	stated        Card
	name          string // used if there is no display name
	model         string // used if there is no id, and a context
	serving       int64  // the context that a llama.cpp server was started with
	training      int64  // the context that its model was trained with
	routedContext int64  // the context of a router's preferred service
	routedOutput  int64  // its longest answer
	silent        bool   // it does not write answers, but embeds, for example
}

func (m *cardReader) read(c *jsonscan.Cursor) {
	for c.OpenObject(); c.Member(); {
		m.member(c)
	}
}

func (m *cardReader) member(c *jsonscan.Cursor) {
	switch string(c.Name()) {
	case "id":
		readModelText(c, &m.stated.ID)
	case "display_name", "displayName":
		readModelText(c, &m.stated.DisplayName)
	case "name":
		readModelText(c, &m.name)
	case "model": // of Ollama's list of loaded models
		readModelText(c, &m.model)
	case "owned_by":
		readModelText(c, &m.stated.OwnedBy)
	case "created", "created_at":
		readModelDate(c, &m.stated.Created)
	case "shutdown_date", "retires_at", "expiration_date": // of OpenAI and Azure, of this gateway, and of OpenRouter
		readModelDay(c, &m.stated.Shutdown)
	case "context_length", "context_window", "context_window_tokens", "max_context_length", "max_input_tokens", "max_model_len", "inputTokenLimit":
		token.ReadCount(c, &m.stated.ContextTokens)
	case "max_completion_tokens", "max_output_tokens", "max_tokens", "outputTokenLimit":
		token.ReadCount(c, &m.stated.OutputTokens)
	case "supportedGenerationMethods":
		m.readMethods(c)
	case "meta":
		readCounts(c, map[string]*int64{"n_ctx": &m.serving, "n_ctx_train": &m.training})
	case "top_provider":
		readCounts(c, map[string]*int64{"context_length": &m.routedContext, "max_completion_tokens": &m.routedOutput})
	default:
		c.Skip()
	}
}

// resource begins the names of models in lists of Google.
const resource = "models/"

// readMethods reads the methods of a model of Google.
func (m *cardReader) readMethods(c *jsonscan.Cursor) {
	m.silent = true
	for c.OpenArray(); c.Element(); {
		if string(c.StringOrSkip()) == `"generateContent"` {
			m.silent = false
		}
	}
}

// card returns the card of the model. A name that repeats the id is left out. The id is empty for a model
// that does not write answers.
func (m *cardReader) card() Card {
	card := m.stated
	if name, ok := strings.CutPrefix(m.name, resource); ok && card.ID == "" {
		card.ID, m.name = name, ""
	}
	if card.ID == "" && card.ContextTokens > 0 { // llama.cpp has a second list with such names, which states less
		card.ID = m.model
	}
	if m.silent {
		card.ID = ""
	}
	card.DisplayName = orElse(card.DisplayName, m.name)
	if card.DisplayName == card.ID {
		card.DisplayName = ""
	}
	card.ContextTokens = firstSize(m.routedContext, card.ContextTokens, m.serving, m.training) // a router states the longest of its services, too
	card.OutputTokens = firstSize(card.OutputTokens, m.routedOutput)
	return card
}

func firstSize(sizes ...int64) int64 {
	for _, size := range sizes {
		if size > 0 {
			return size
		}
	}
	return 0
}

// readCounts reads the members of an object that are keys of counts.
func readCounts(c *jsonscan.Cursor, counts map[string]*int64) {
	for c.OpenObject(); c.Member(); {
		if count := counts[string(c.Name())]; count != nil {
			token.ReadCount(c, count)
		} else {
			c.Skip()
		}
	}
}

func readModelText(c *jsonscan.Cursor, dst *string) {
	text, ok := c.Text()
	switch {
	case !ok:
		c.Skip()
	case len(text) <= maxModelText:
		*dst = string(text)
	}
}

// lastDate is the last second that RFC 3339 can express.
const lastDate = 253402300799

// readModelDate reads Unix seconds or a time of RFC 3339.
func readModelDate(c *jsonscan.Cursor, seconds *int64) {
	if text, ok := c.Text(); ok {
		if date, err := time.Parse(time.RFC3339, string(text)); err == nil {
			*seconds = max(date.Unix(), 0)
		}
		return
	}
	var n int64
	if token.ReadCount(c, &n); n <= lastDate {
		*seconds = n
	}
}

// readModelDay reads the day of a date, or of a time of RFC 3339.
func readModelDay(c *jsonscan.Cursor, day *string) {
	var date string
	readModelText(c, &date)
	date, _, _ = strings.Cut(date, "T")
	if _, err := time.Parse(time.DateOnly, date); err == nil {
		*day = date
	}
}
