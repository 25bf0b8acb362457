package jsonscan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

func TestMemberOfFindsMembersOfTheObjectItself(t *testing.T) {
	for object, want := range map[string]bool{
		`{"type":"x"}`: true,
		` {}`:          false, // callers hand in values, which begin with their first byte
		`{}`:           false, `{ }`: false, `[]`: false, `"type"`: false, ``: false, `7`: false,
		`{"a":1,"type":2}`:                         true,
		"{ \"a\" : { \"type\" : 1 } ,\n\"b\" : 2}": false,
		`{"a":[{"type":1}],"b":"type"}`:            false,
		`{"a":"type","a":{},"\u0074ype":null}`:     true,
		`{"type ":1}`:                              false,
		`{"a":{"b":[1,{"c":"}"}]} , "type" : []}`:  true,
	} {
		assert.Equal(t, want, jsonscan.MemberOf([]byte(object), "type") != nil, object)
	}
}

func TestTextLenIsTheLengthOfTheText(t *testing.T) {
	for _, raw := range []string{
		`""`, `"a"`, `"é"`, `"a\nb"`, `"\u00e9"`, `"\ud83d\ude00x"`, `"\ud83d"`, `"\ud83d\n"`, `"\\\"\/"`, `"` + strings.Repeat(`a\t`, 50) + `"`,
	} {
		assert.Equal(t, len(jsonscan.AppendText(nil, []byte(raw))), jsonscan.TextLen([]byte(raw)), raw)
	}
}

func TestMembersMayOccurTwice(t *testing.T) {
	for object, want := range map[string]string{
		`{"The":-1,"the":-2 , "The" : [1, {"a":2}]}`: `The=-1;the=-2;The=[1, {"a":2}];`,
		`{ "a\"b":"}" }`: `a\"b="}";`,
		`{}`:             ``, `[1]`: ``, ``: ``, `7`: ``,
	} {
		var b strings.Builder
		for name, value := range jsonscan.Members([]byte(object)) {
			b.WriteString(string(name) + "=" + string(value) + ";")
		}
		assert.Equal(t, want, b.String())
	}
	for name := range jsonscan.Members([]byte(`{"a":1,"b":2}`)) {
		assert.Equal(t, "a", string(name))
		break
	}
}

// A string that does not end as one made the walk panic, where a broken object
// came by a way that had not checked it.
func TestTheWalkOverABrokenObjectEndsAtTheBreak(t *testing.T) {
	whole := `{"a":1,"b":"x","c":{"d":[2]}}`
	for i := range whole {
		for _, broken := range []string{whole[:i], whole[:i] + "\x12" + whole[i+1:]} {
			assert.NotPanics(t, func() { jsonscan.MemberOf([]byte(broken), "z") }, broken)
		}
	}
}

func TestCutMemberLeavesAValidObject(t *testing.T) {
	for object, want := range map[string]string{
		`{"usage":{"a":1}}`:                          `{}`,
		`{"usage":{"a":1},"b":2}`:                    `{"b":2}`,
		`{ "usage" : {"a":"}"} , "b":2}`:             `{ "b":2}`,
		`{"b":2,"usage":{"a":1}}`:                    `{"b":2}`,
		"{\"b\":2 ,\n \"usage\": [1,{}] ,\"c\":3}":   `{"b":2 ,"c":3}`,
		`{"b":{"usage":1},"\u0075sage":null,"c":[]}`: `{"b":{"usage":1},"c":[]}`,
		`{"b":{"usage":1}}`:                          `{"b":{"usage":1}}`,
		`{}`:                                         `{}`,
		`["usage"]`:                                  `["usage"]`,
	} {
		start, end := jsonscan.CutMember([]byte(object), "usage")
		got := object[:start] + object[end:]
		assert.Equal(t, want, got)
		assert.True(t, json.Valid([]byte(got)), got)
	}
}
