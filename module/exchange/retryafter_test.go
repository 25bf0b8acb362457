package exchange_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

func TestTheTimeToWaitIsReadInItsForms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		date := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
		for _, test := range []struct {
			name, value string
			want        time.Duration
			hidden      bool // from the client
		}{
			{"Retry-After", "7", 7 * time.Second, false},
			{"Retry-After", "0.5", 500 * time.Millisecond, false},
			{"Retry-After", date(time.Minute), time.Minute, false},
			{"Retry-After", date(-time.Minute), 0, false},
			{"Retry-After", "soon", 0, false},
			{"Retry-After-Ms", "1500", 1500 * time.Millisecond, false},
			{"X-Other", "700000", 0, false},
			{"Retry-After", "86400", 24 * time.Hour, false},
			{"Retry-After", "287441", 287441 * time.Second, true},
			{"Retry-After", date(25 * time.Hour), 25 * time.Hour, true},
			{"Retry-After", "1000000000000000000000", 87600 * time.Hour, true},
			{"Retry-After", "Wed, 21 Oct 2999 07:28:00 GMT", 87600 * time.Hour, true},
			{"Retry-After-Ms", "90000000", 25 * time.Hour, true},
		} {
			head := exchange.Head{Header: http.Header{test.name: {test.value}, "X-Should-Retry": {"true"}}}
			assert.Equal(t, test.want, head.RetryAfter(), "%s: %s", test.name, test.value)
			want := head.Header
			if test.hidden {
				want = http.Header{"X-Should-Retry": {"false"}}
			}
			assert.Equal(t, want, head.ClientHeader(), "%s: %s", test.name, test.value)
			assert.Equal(t, []string{test.value}, head.Header[test.name], "what health reads is not changed")
		}
		assert.Nil(t, new(exchange.Head).ClientHeader())
	})
}

func TestTheShorterOfTwoWaitsIsTakenOver(t *testing.T) {
	headers := func(pairs ...string) exchange.Head {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return exchange.Head{Header: h}
	}
	for _, test := range []struct{ own, other, want exchange.Head }{
		{headers("Retry-After", "20"), headers("Retry-After", "9"), headers("Retry-After", "9")},
		{headers("Retry-After", "9"), headers("Retry-After", "20"), headers("Retry-After", "9")},
		{headers("Retry-After", "20", "Retry-After-Ms", "20000", "X-Should-Retry", "true"), headers("Retry-After", "9"), headers("Retry-After", "9", "X-Should-Retry", "true")},
		{headers("Retry-After", "20"), headers("Retry-After-Ms", "9"), headers("Retry-After-Ms", "9")},
		{headers("Retry-After", "20"), exchange.Head{}, headers("Retry-After", "20")},
		{exchange.Head{}, headers("Retry-After", "9"), exchange.Head{}},
	} {
		test.own.ShortenWait(&test.other)
		assert.Equal(t, test.want, test.own)
	}
}
