package webhook

import (
	"encoding/base64"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func TestSignaturesAreThoseOfStandardWebhooks(t *testing.T) {
	key, err := Key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw") // the example of the specification
	require.NoError(t, err)
	assert.Equal(t, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
		Sign(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`)))

	signed, unsigned := make(http.Header), make(http.Header)
	SetHeaders(signed, key, "1", []byte("{}"))
	assert.Equal(t, Sign(key, "1", signed.Get("Webhook-Timestamp"), []byte("{}")), signed.Get("Webhook-Signature"))
	SetHeaders(unsigned, nil, "1", []byte("{}"))
	assert.Equal(t, "1", unsigned.Get("Webhook-Id"))
	assert.NotContains(t, unsigned, "Webhook-Signature")
}

func TestASecretIsAKeyOrTheBase64OfOne(t *testing.T) {
	for secret, want := range map[aigateway.Secret]string{
		"plain": "plain",
		"whsec_" + aigateway.Secret(base64.StdEncoding.EncodeToString([]byte("key"))): "key",
	} {
		key, err := Key(secret)
		require.NoError(t, err)
		assert.Equal(t, want, string(key))
	}
	_, err := Key("whsec_%")
	require.ErrorIs(t, err, ErrSecret)
}
