package doctor

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A provider whose error had an empty message was shown as "404: ".
func TestARefusalWithoutAMessageHasTheTextOfItsStatus(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"message":"no such model"}}`: "404: no such model",
		`{"error":{"message":""}}`:              "404: Not Found",
		`<html>`:                                "404: Not Found",
	} {
		assert.Equal(t, want, reply{404, nil, []byte(body)}.refusal())
	}
}
