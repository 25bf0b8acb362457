// Package webhook signs requests to webhooks as Standard Webhooks describes, whose libraries
// check the signatures. It sends nothing.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// ErrSecret is the error of a secret that is not what its beginning states.
var ErrSecret = errors.New("a secret that begins with whsec_ must have base64 behind it")

// Key returns the key of signatures by a secret. A secret that begins with whsec_ is base64
// behind it; any other is the key itself.
func Key(secret aigateway.Secret) ([]byte, error) {
	encoded, ok := strings.CutPrefix(string(secret), "whsec_")
	if !ok {
		return []byte(secret), nil
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, ErrSecret
	}
	return key, nil
}

// SetHeaders sets the headers of a message: its id, which is the same if the message is sent
// again, the time of now, and the signature of both and the body, unless key is nil.
func SetHeaders(h http.Header, key []byte, id string, body []byte) {
	now := strconv.FormatInt(time.Now().Unix(), 10)
	h.Set("Webhook-Id", id)
	h.Set("Webhook-Timestamp", now)
	if key != nil {
		h.Set("Webhook-Signature", Sign(key, id, now, body))
	}
}

// Sign returns the signature of a message with an id and a timestamp.
func Sign(key []byte, id, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body) // a hash never fails
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
