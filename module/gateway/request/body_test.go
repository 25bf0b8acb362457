package request

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestContentTypesThatAreJSON(t *testing.T) {
	for _, values := range [][]string{
		nil, {""}, {"application/json"}, {"Application/JSON"}, {"application/json; charset=utf-8"}, {"application/json;charset=UTF-8"},
		{"application/json;"}, {" application/json "}, {"application/vnd.api+json"}, {"application/problem+json; x=y"}, {"application/json; charset"},
	} {
		assert.True(t, isJSON(values), "%q", values)
	}
	for _, values := range [][]string{
		{"text/plain"}, {"text/json"}, {"application/x-www-form-urlencoded"}, {"multipart/form-data; boundary=x"}, {"application/jsonx"},
		{"json"}, {"application/"}, {"application/json, application/json"}, {"application/xml, application/x+json"}, {"application/x +json"}, {"application/json", "application/json"}, {"image/svg+json"}, {"+json"}, {";"},
	} {
		assert.False(t, isJSON(values), "%q", values)
	}
}
