package event_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
)

// An image whose stream does not state its format got the type "image/".
func TestMediaHaveATypeAndBase64(t *testing.T) {
	for _, m := range [][2]string{
		{"", "AAAA"}, {"image/", "AAAA"}, {"image", "AAAA"}, {`image/p"ng`, "AAAA"}, {"image/é", "AAAA"}, {"image/p ng", "AAAA"},
		{"image/png", ""}, {"image/png", `AA"A`}, {"image/png", "https://a/b.png"}, {"image/png", "AA%22"}, {"image/png", "AAé"},
	} {
		assert.Nil(t, event.NewMedia([]byte(m[0]), []byte(m[1]), "p"), m)
	}
	for _, data := range []string{"AAA+/w==", "AAA-_w", "AAA%2B/w==", "AAA+ \n/w=="} {
		m := event.NewMedia([]byte("audio/L16;rate=24000"), []byte(data), "p")
		assert.Equal(t, &event.Media{Type: []byte("audio/L16;rate=24000"), Data: []byte("AAA+/w=="), Path: "p"}, m, data)
	}
}
