//go:build goexperiment.jsonv2

package jsonscan_test

import (
	"bytes"
	"encoding/json/jsontext"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// The second oracle is stricter than the first: left alone it refuses lone
// surrogates, which are accepted here, and members that occur twice in the same
// letter case. It is only there with GOEXPERIMENT=jsonv2.
func FuzzTheStricterOracleAgrees(f *testing.F) {
	for _, seed := range seeds() {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		bare := jsontext.Value(bytes.TrimPrefix(document, []byte("\ufeff")))
		lone, twice := jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)

		c := jsonscan.New(document)
		c.Skip()
		deep := bare.IsValid(lone, twice) && depth(bare) > jsonscan.MaxDepth
		assert.Equal(t, utf8.Valid(document) && bare.IsValid(lone, twice) && !deep, c.Finish() == nil)

		c = jsonscan.New(document)
		decode(t, &c)
		if !bare.IsValid(lone) {
			assert.Error(t, c.Finish())
		}
	})
}
