package payload

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
)

func TestASplicedPayloadHasTheEditsInPlace(t *testing.T) {
	body, lease := []byte(`{"model":"m","n":1}`), exchange.NewLease()
	p := Splice(body, []edit.Edit{{Span: translate.Span{Start: 9, End: 12}, With: []byte(`"another"`)}}, lease)
	defer lease.Release()
	defer p.Close()
	assert.False(t, p.Sent())
	for range 2 {
		r := p.Open()
		sent, err := io.ReadAll(r)
		require.NoError(t, err)
		assert.Equal(t, `{"model":"another","n":1}`, string(sent))
		assert.EqualValues(t, len(sent), p.Length())
		require.NoError(t, r.Close())
		_, err = r.Read(make([]byte, 1))
		assert.ErrorIs(t, err, http.ErrBodyReadAfterClose, "the memory may belong to another request by now")
	}
	assert.True(t, p.Sent())
}
