package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// The oracle of these tests is encoding/json. It differs from this package in
// what is listed here, and in nothing else:
//
//   - it takes invalid UTF-8 for U+FFFD, here it is refused;
//   - it lets 10,000 containers be open, here MaxDepth;
//   - it takes the last of two equal members, here they are refused;
//   - it refuses a byte order mark, here one is tolerated.

// seeds are documents of every kind, valid and not.
func seeds() []string {
	list := []string{
		`{"model":"m","messages":[{"role":"user","content":"Hi \"you\"\n\u00e9\ud83d\ude42"}],"n":[0,-1.5e+3,true,false,null]}`,
		"\ufeff{\"a\" : [ ] , \"b\"\t:\r\n{ } }",
		`{"a":1,"A":2}`, `{"top_k":1,"top_\u212a":2}`, `"\ud800"`, `[[[[[]]]]]`, "\"\xff\"",
		`1e400`, `-0`, `123456789012345678901234567890`, `"é世🙂"`,
		strings.Repeat("[", jsonscan.MaxDepth) + strings.Repeat("]", jsonscan.MaxDepth),
		strings.Repeat("[", jsonscan.MaxDepth+1) + strings.Repeat("]", jsonscan.MaxDepth+1),
		delta,
		"{" + strings.Join(crowded(40), ",") + "}",
	}
	for _, tc := range invalid {
		list = append(list, tc.document)
	}
	return list
}

// valid reports whether encoding/json accepts a document. It ignores repeated members.
func valid(document []byte) bool {
	document = bytes.TrimPrefix(document, []byte("\ufeff"))
	return utf8.Valid(document) && json.Valid(document) && depth(document) <= jsonscan.MaxDepth
}

// depth returns how deeply a valid document is nested.
func depth(document []byte) (deepest int) {
	tokens := json.NewDecoder(bytes.NewReader(document))
	for open := 0; ; deepest = max(deepest, open) {
		token, err := tokens.Token()
		if err != nil {
			return deepest
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			open++
		case json.Delim('}'), json.Delim(']'):
			open--
		}
	}
}

func FuzzSkipAcceptsWhatTheOracleAccepts(f *testing.F) {
	for _, seed := range seeds() {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		c := jsonscan.New(document)
		raw := c.Skip()
		err := c.Finish()
		if !valid(document) {
			var syntax *jsonscan.SyntaxError
			require.ErrorAs(t, err, &syntax)
			assert.LessOrEqual(t, syntax.Offset, len(document))
			return
		}
		require.NoError(t, err)
		trimmed := bytes.Trim(bytes.TrimPrefix(document, []byte("\ufeff")), " \t\r\n")
		assert.Equal(t, string(trimmed), string(raw))

		var compact bytes.Buffer
		require.NoError(t, json.Compact(&compact, raw))
		assert.Equal(t, compact.String(), string(jsonscan.AppendCompact(nil, raw)))
	})
}

// decode reads a value into the types that encoding/json reads it into, and
// holds the accessors of the cursor against each other on the way.
func decode(t *testing.T, c *jsonscan.Cursor) any {
	ahead := *c
	raw := ahead.Skip()
	start := c.Offset()
	v := decodeKind(t, c)
	if c.Err() == nil {
		assert.Equal(t, len(raw), c.Offset()-start, "Skip and the walk disagree on the length of %s", raw)
	}
	return v
}

func decodeKind(t *testing.T, c *jsonscan.Cursor) any {
	switch c.Kind() {
	case jsonscan.Object:
		object := map[string]any{}
		for c.EnterObject(); c.Member(); {
			name := string(c.Name())
			object[name] = decode(t, c)
		}
		return object
	case jsonscan.Array:
		array := []any{}
		for c.EnterArray(); c.Element(); {
			array = append(array, decode(t, c))
		}
		return array
	case jsonscan.String:
		ahead := *c
		raw, _ := ahead.RawString()
		text, _ := c.Text()
		assert.Equal(t, string(text), string(jsonscan.AppendText(nil, raw)))
		return string(text)
	case jsonscan.Bool:
		v, _ := c.Bool()
		return v
	case jsonscan.Null:
		c.Null()
		return nil
	}
	return decodeNumber(t, c)
}

func decodeNumber(t *testing.T, c *jsonscan.Cursor) any {
	ahead := *c
	n, exact, _ := ahead.Int()
	raw, _ := c.Number()
	float := jsonscan.ParseFloat(raw)
	if c.Err() != nil {
		return nil
	}
	if want, err := json.Number(raw).Float64(); err == nil {
		assert.Equal(t, want, float)
	}
	if want, ok := rational(string(raw)); ok {
		assert.Equal(t, want.IsInt() && want.Num().IsInt64(), exact, "%s", raw)
		assert.True(t, !exact || want.Num().Int64() == n, "%s is not %d", raw, n)
	}
	return json.Number(raw)
}

// rational returns the exact value of a number, unless its exponent is so large
// that the value would fill the memory.
func rational(raw string) (*big.Rat, bool) {
	if e := strings.IndexAny(raw, "eE"); e >= 0 && len(raw)-e > 5 {
		return nil, false
	}
	return new(big.Rat).SetString(raw)
}

// repeats reports whether an object of the oracle's tokens has a member twice, letter
// case ignored.
func repeats(tokens *json.Decoder) bool {
	token, err := tokens.Token()
	if err != nil {
		return false
	}
	repeated := false
	switch token {
	case json.Delim('{'):
		var names []string
		for tokens.More() {
			token, _ := tokens.Token()
			name, _ := token.(string)
			for _, other := range names {
				repeated = repeated || strings.EqualFold(name, other)
			}
			names = append(names, name)
			repeated = repeats(tokens) || repeated
		}
		_, _ = tokens.Token()
	case json.Delim('['):
		for tokens.More() {
			repeated = repeats(tokens) || repeated
		}
		_, _ = tokens.Token()
	}
	return repeated
}

func FuzzWalkReadsWhatTheOracleReads(f *testing.F) {
	for _, seed := range seeds() {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		c := jsonscan.New(document)
		got := decode(t, &c)
		err := c.Finish()
		if !valid(document) {
			require.Error(t, err)
			return
		}
		document = bytes.TrimPrefix(document, []byte("\ufeff"))
		if repeats(json.NewDecoder(bytes.NewReader(document))) {
			var duplicate *jsonscan.DuplicateError
			require.ErrorAs(t, err, &duplicate)
			return
		}
		require.NoError(t, err)
		var want any
		oracle := json.NewDecoder(bytes.NewReader(document))
		oracle.UseNumber()
		require.NoError(t, oracle.Decode(&want))
		assert.Equal(t, want, got)
	})
}

// unescaped writes out what encoding/json escapes without need. Escaped
// backslashes come first, so that none of them begins another escape.
var unescaped = strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029", `\ufffd`, "\ufffd").Replace

func FuzzStringsSurviveTheOracle(f *testing.F) {
	for _, seed := range seeds() {
		f.Add([]byte(seed))
	}
	f.Add([]byte("\x00\x1f\x7f\b\f\u2028\ufffd\xed\xa0\x80 <&>"))
	f.Fuzz(func(t *testing.T, text []byte) {
		raw := jsonscan.AppendString(nil, text)
		assert.Equal(t, string(raw), string(jsonscan.AppendString(nil, string(text))))

		var want bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		require.NoError(t, encoder.Encode(string(text)))
		assert.Equal(t, unescaped(strings.TrimSuffix(want.String(), "\n")), string(raw))

		var decoded string
		require.NoError(t, json.Unmarshal(raw, &decoded))
		assert.Equal(t, decoded, string(jsonscan.AppendText(nil, raw)))
	})
}
