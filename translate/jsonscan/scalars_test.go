package jsonscan_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

func TestScalarsHaveTheNameOfTheInnermostMember(t *testing.T) {
	const document = `[0, {"a" : [ "1" , {"b":"2\"","n":-1.5} ,"3",{} ,[],"4"], "\u0063":"5", "e":"","t":true}, "6"] "7"`
	var got []string
	for name, at := range jsonscan.Scalars([]byte(document), jsonscan.Slot{End: len(document) - len(` "7"`)}) {
		got = append(got, string(name)+"="+document[at.Start:at.End])
	}
	assert.Equal(t, []string{"=0", `a="1"`, `b="2\""`, "n=-1.5", `a="3"`, `a="4"`, `c="5"`, `e=""`, `="6"`}, got)

	got = nil
	for name, at := range jsonscan.Scalars([]byte(document), jsonscan.Slot{End: len(document)}) {
		got = append(got, string(name)+"="+document[at.Start:at.End])
		if len(got) == 2 {
			break
		}
	}
	assert.Len(t, got, 2, "an iteration may end early")
	for range jsonscan.Scalars(nil, jsonscan.Slot{}) {
		assert.Fail(t, "no value has no scalar")
	}
}
