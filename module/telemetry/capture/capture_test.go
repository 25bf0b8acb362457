package capture

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	alice = Owner{1}
	bob   = Owner{2}
)

func requestWith(token string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "http://gateway.example/v1/messages?beta=true", nil)
	r.Header = http.Header{"X-Api-Key": {"sk-secret"}, "Authorization": {"Bearer sk-secret"}, "Cookie": {"session=sess_secret"}, "Anthropic-Version": {"2023-06-01"}}
	if token != "" {
		r.Header[Header] = []string{token}
	}
	return r
}

func tokenOf(t *testing.T, s *Store, owner Owner) string {
	t.Helper()
	token, _, err := s.Token(owner, int64(owner[0]))
	require.NoError(t, err)
	return token
}

func asIs(_ int, body []byte) []byte { return body }

func TestACaptureHasBothSidesOfTheWire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		ex := s.Begin(requestWith(tokenOf(t, s, alice)), "req_1")
		require.NotNil(t, ex)
		ex.Request([]byte(`{"model":"m"}`))
		time.Sleep(3 * time.Millisecond)
		out := httptest.NewRequest(http.MethodPost, "https://provider.example/v1/chat/completions", nil)
		out.Header = http.Header{"Authorization": {"Bearer sk-provider"}, "Content-Type": {"application/json"}, "Openai-Organization": {"org-1"}}
		answer := ex.Call("p", "up", "chat", out, strings.NewReader(`{"model":"up"}`), asIs)
		body := answer(&http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}, "Set-Cookie": {"a=b"}}, Body: io.NopCloser(strings.NewReader("data: 1\n\n"))})
		_, err := io.ReadAll(body)
		require.NoError(t, err)
		w := httptest.NewRecorder()
		to := ex.Answer(w)
		to.Header().Set("X-Request-Id", "req_1")
		to.WriteHeader(http.StatusOK)
		for _, part := range []string{"event: a\n\n", "event: b\n\n"} {
			_, err := to.Write([]byte(part))
			require.NoError(t, err)
			require.NoError(t, http.NewResponseController(to).Flush())
			time.Sleep(5 * time.Millisecond)
		}
		assert.Nil(t, ex.View().Ended)
		ex.End(map[string]any{"outcome": "answered"})

		v := ex.View()
		assert.Equal(t, MessageView{
			Method: "POST", Path: "/v1/messages", Headers: [][2]string{{"Anthropic-Version", "2023-06-01"}},
			Body: `{"model":"m"}`, Size: 13, Chunks: [][2]int64{{0, 13}},
		}, *v.Client.Request)
		assert.Equal(t, MessageView{
			Begun: 3, Status: 200, Headers: [][2]string{{"X-Request-Id", "req_1"}},
			Body: "event: a\n\nevent: b\n\n", Size: 20, Chunks: [][2]int64{{3, 10}, {8, 10}},
		}, *v.Client.Answer)
		require.Len(t, v.Calls, 1)
		assert.Equal(t, Target{"p", "up", "chat"}, v.Calls[0].Target)
		assert.Equal(t, MessageView{
			Begun: 3, Method: "POST", Path: "/v1/chat/completions", Headers: [][2]string{{"Content-Type", "application/json"}},
			Body: `{"model":"up"}`, Size: 14, Chunks: [][2]int64{{3, 14}},
		}, *v.Calls[0].Request)
		assert.Equal(t, MessageView{
			Begun: 3, Status: 200, Headers: [][2]string{{"Content-Type", "text/event-stream"}}, Body: "data: 1\n\n", Size: 9, Chunks: [][2]int64{{3, 9}},
		}, *v.Calls[0].Answer)
		assert.Equal(t, map[string]any{"outcome": "answered"}, v.Exchange)
		assert.NotNil(t, v.Ended)
	})
}

// A user may have two sessions; one that was stolen must not read what the other has sent.
func TestOnlyTheSessionReadsItsCaptures(t *testing.T) {
	s := New()
	token := tokenOf(t, s, alice)
	require.NotNil(t, s.Begin(requestWith(token), "req_1"))
	assert.NotNil(t, s.Find(alice, "req_1"))
	assert.Nil(t, s.Find(bob, "req_1"))
	assert.Empty(t, s.Of(bob))
	assert.Nil(t, s.Begin(requestWith(""), "req_2"))
	assert.Nil(t, s.Begin(requestWith("cap_guessed"), "req_2"))
	twice := requestWith(token)
	twice.Header[Header] = []string{token, token}
	assert.Nil(t, s.Begin(twice, "req_2"))
}

func TestCapturesAndTokensEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		token := tokenOf(t, s, alice)
		require.NotNil(t, s.Begin(requestWith(token), "req_1"))
		time.Sleep(lifetime - time.Second)
		assert.NotNil(t, s.Find(alice, "req_1"))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		assert.Empty(t, s.exchanges, "the memory must be free, although nobody asks for it")
		time.Sleep(tokenLifetime)
		assert.Nil(t, s.Begin(requestWith(token), "req_2"))
	})
}

func TestCapturesAreBounded(t *testing.T) {
	s := New()
	token := tokenOf(t, s, alice)
	other := s.Begin(requestWith(tokenOf(t, s, bob)), "req_bob")
	for range mostOfOwner + 1 {
		s.Begin(requestWith(token), "req")
	}
	assert.Len(t, s.Of(alice), mostOfOwner)
	assert.Equal(t, []*Exchange{other}, s.Of(bob), "one session must not displace the captures of another")
	for i := range mostExchanges {
		s.Begin(requestWith(tokenOf(t, s, Owner{byte(3 + i%8), byte(i)})), "req")
	}
	assert.Len(t, s.exchanges, mostExchanges)
	for i := range mostTokens {
		_, _, _ = s.Token(alice, int64(i))
	}
	_, _, err := s.Token(alice, -1)
	assert.ErrorIs(t, err, ErrManyTokens)
}

func TestBodiesAreBounded(t *testing.T) {
	s := New()
	ex := s.Begin(requestWith(tokenOf(t, s, alice)), "req_1")
	piece := bytes.Repeat([]byte("é"), 1<<10)
	for range 1 << 10 {
		ex.Request(piece) // 2 MiB
	}
	v := ex.View().Client.Request
	assert.True(t, v.Cut)
	assert.EqualValues(t, 2<<20, v.Size)
	assert.Equal(t, mostOfBody-longestSecret, len(v.Body))
	assert.Empty(t, v.Encoding, "a cut within a character makes no other encoding")
	for range mostCalls + 1 {
		answer := ex.Call("p", "", "", requestWith(""), bytes.NewReader(bytes.Repeat([]byte{0xff}, 2<<20)), asIs)
		res := &http.Response{Body: io.NopCloser(strings.NewReader("x"))}
		assert.NotNil(t, answer(res), "further calls are not captured, but made")
	}
	assert.Len(t, ex.View().Calls, mostCalls)
	assert.Equal(t, "base64", ex.View().Calls[0].Request.Encoding)
	assert.Zero(t, ex.room)
	for range 2 * mostChunks {
		_, _ = ex.answer.Write([]byte("x"))
	}
	assert.Len(t, ex.answer.chunks, mostChunks)
}

// Every request runs through this call: it must cost nothing without a token.
func TestOtherRequestsPayNothing(t *testing.T) {
	r := requestWith("")
	s := New()
	tokenOf(t, s, alice)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if s.Begin(r, "req_1") != nil {
			t.Fatal("captured without a token")
		}
	}))
}

// One user could have all tokens of the process, so that nobody else captured anything.
func TestAUserHasAPartOfTheTokens(t *testing.T) {
	s := New()
	for i := range mostOfUser {
		_, _, err := s.Token(Owner{byte(i)}, 7) // each in a session of its own
		require.NoError(t, err)
	}
	_, _, err := s.Token(Owner{200}, 7)
	assert.ErrorIs(t, err, ErrManyTokens)
	_, _, err = s.Token(Owner{201}, 8)
	assert.NoError(t, err)
}
