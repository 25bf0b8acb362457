package demo_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

func TestFaultStatus(t *testing.T) {
	each(t, func(t *testing.T, s *speaker) {
		for prompt, want := range map[string]struct {
			status int
			kind   fault.Kind
		}{
			"[[fault:400]]":                 {400, fault.Invalid},
			"[[fault:401]]":                 {401, fault.CredentialRefused},
			"[[fault:402]]":                 {402, fault.AccountExhausted},
			"[[fault:404]]":                 {404, fault.NotFound},
			"[[fault:418]]":                 {418, fault.Invalid},
			"x [[fault:429 retry-after=7]]": {429, fault.RateLimited},
			"[[fault:500]]":                 {500, fault.Internal},
			"[[fault:503]]":                 {503, fault.Overloaded},
			"[[fault:529]]":                 {529, fault.Overloaded},
		} {
			response := s.answer(prompt, "")
			assert.Equal(t, want.status, response.StatusCode, prompt)
			assert.Equal(t, strings.Contains(prompt, "retry-after"), response.Header.Get("Retry-After") == "7", prompt)
			assert.Equal(t, "application/json", response.Header.Get("Content-Type"))
			assert.Equal(t, want.kind, fault.Read(response.StatusCode, "application/json", s.read(response)).Kind, prompt)
		}
	})
}

func TestFaultTooLong(t *testing.T) {
	each(t, func(t *testing.T, s *speaker) {
		response := s.answer("x [[fault:too-long]]", "")
		require.Equal(t, http.StatusBadRequest, response.StatusCode)
		raw := s.read(response)
		assert.Equal(t, fault.CodeOverflow, fault.Read(response.StatusCode, "application/json", raw).Code)
		assert.True(t, s.format.Errors.Relayable(response.StatusCode, raw), "clients know the words")
	})
}

func TestFaultsOfTheContent(t *testing.T) {
	each(t, func(t *testing.T, s *speaker) {
		h := s.hear("x [[fault:no-content]]", "")
		assert.True(t, h.whole)
		assert.Empty(t, h.text)

		h = s.hear("x [[fault:no-usage]]", "")
		assert.True(t, h.whole)
		assert.Zero(t, h.input)
	})
}

func TestFaultReset(t *testing.T) {
	each(t, func(t *testing.T, s *speaker) {
		response, err := s.transport.RoundTrip(s.asking(translate.Generate, "x [[fault:reset]]", ""))
		if !assert.Error(t, err) {
			_ = response.Body.Close()
		}
	})
}

func TestFaultCut(t *testing.T) {
	each(t, func(t *testing.T, s *speaker) {
		if s.stream {
			h := s.hear("x [[fault:cut after=2]]", "")
			assert.ErrorIs(t, h.err, io.ErrUnexpectedEOF)
			assert.Equal(t, "This is", h.text)
			assert.False(t, h.whole)
			return
		}
		response := s.answer("x [[fault:cut]]", "")
		assert.Positive(t, response.ContentLength)
		body, err := io.ReadAll(response.Body)
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
		assert.Len(t, body, int(response.ContentLength/2))
	})
}

// A fault at a position after the end of a short answer happens at its end.
func TestALateFaultStrikesBeforeTheFinish(t *testing.T) {
	eachStream(t, func(t *testing.T, s *speaker) {
		h := s.hear("x [[fault:cut after=500]]", "")
		assert.ErrorIs(t, h.err, io.ErrUnexpectedEOF)
		assert.Contains(t, h.text, "1 message.")
	})
}

func TestFaultStallEndsWithTheClient(t *testing.T) {
	eachStream(t, func(t *testing.T, s *speaker) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		response, err := s.transport.RoundTrip(s.asking(translate.Generate, "x [[fault:stall after=1]]", "").WithContext(ctx))
		require.NoError(t, err)
		defer response.Body.Close()
		seen := make([]byte, 0, 8192)
		for !strings.Contains(string(seen), `This`) {
			n, err := response.Body.Read(seen[len(seen):cap(seen)])
			require.NoError(t, err)
			seen = seen[:len(seen)+n]
		}
		cancel()
		_, err = io.ReadAll(response.Body)
		assert.ErrorIs(t, err, context.Canceled)
	})
}

func TestFaultErrorEvent(t *testing.T) {
	each(t, func(t *testing.T, s *speaker) {
		for prompt, text := range map[string]string{"[[fault:error-event]]": "This is the", "[[fault:first-event-error]]": ""} {
			h := s.hear(prompt, "")
			require.NotNil(t, h.fault, prompt)
			assert.Equal(t, fault.Overloaded, h.fault.Kind, prompt)
			assert.False(t, h.whole, prompt)
			if s.stream {
				assert.Equal(t, text, h.text, prompt)
			}
		}
	})
}

func TestTheCodeOfAnErrorEventCanBeChosen(t *testing.T) {
	each(t, func(t *testing.T, s *speaker) {
		h := s.hear("x [[fault:error-event code=rate_limit_exceeded]]", "")
		require.NotNil(t, h.fault)
		assert.Equal(t, fault.RateLimited, h.fault.Kind)
	})
}

func TestFaultGarbage(t *testing.T) {
	each(t, func(t *testing.T, s *speaker) {
		assert.False(t, s.hear("x [[fault:garbage]]", "").whole)
		if !s.stream {
			assert.False(t, json.Valid(s.read(s.answer("x [[fault:garbage]]", ""))))
		}
	})
}

func TestFaultsOfAProxy(t *testing.T) {
	each(t, func(t *testing.T, s *speaker) {
		for prompt, status := range map[string]int{"[[fault:html]]": 502, "[[fault:html status=200]]": 200} {
			response := s.answer(prompt, "")
			assert.Equal(t, status, response.StatusCode)
			assert.Equal(t, "text/html", response.Header.Get("Content-Type"))
		}
		response := s.answer("[[fault:empty-body]]", "")
		assert.Equal(t, http.StatusOK, response.StatusCode)
		assert.Empty(t, s.read(response))
	})
}

func TestFaultNoDoneLeavesOutOnlyTheLastEvent(t *testing.T) {
	eachStream(t, func(t *testing.T, s *speaker) {
		h, all := s.hear("x [[fault:no-done]]", ""), s.hear("x [[fault:slow-first=0s]]", "")
		require.NoError(t, h.err)
		assert.Contains(t, h.text, "1 message.")
		if s.format.Answers.NoLastEvent {
			assert.Equal(t, all.events, h.events)
		} else {
			assert.Equal(t, all.events-1, h.events)
		}
	})
}

func TestFaultNoFinishLeavesOutTheFinishToo(t *testing.T) {
	eachStream(t, func(t *testing.T, s *speaker) {
		h := s.hear("x [[fault:no-finish]]", "")
		require.NoError(t, h.err)
		assert.Contains(t, h.text, "1 message.")
		assert.False(t, h.whole)
		assert.False(t, h.input > 0 && s.format.Answers.Usage.Ask != nil, "usage follows the finish where it has an event of its own")
	})
}

func TestFaultBurst(t *testing.T) {
	eachStream(t, func(t *testing.T, s *speaker) {
		response := s.answer("x [[fault:burst]] [[fault:error-event after=2]]", "")
		piece := make([]byte, 1<<16)
		n, err := response.Body.Read(piece)
		if err != io.EOF {
			require.NoError(t, err)
		}
		assert.Contains(t, string(piece[:n]), "This")
		assert.Contains(t, string(piece[:n]), "overloaded", "the error is in the same piece as the text before it")
	})
}

func TestFaultsOfTheCodingStillAnswer(t *testing.T) {
	each(t, func(t *testing.T, s *speaker) {
		for _, f := range []string{"gzip", "crlf", "json", "slow-first=2ms", "slow-headers=2ms"} {
			h := s.hear("x [[fault:"+f+"]]", "")
			assert.True(t, h.whole, f)
			assert.Contains(t, h.text, "This is", f)
		}
		assert.Equal(t, "gzip", s.answer("x [[fault:gzip]]", "").Header.Get("Content-Encoding"))
		assert.Equal(t, "application/json", s.answer("x [[fault:json]]", "").Header.Get("Content-Type"))
		if s.stream {
			body := string(s.read(s.answer("x [[fault:crlf]]", "")))
			assert.Equal(t, strings.Count(body, "\n"), strings.Count(body, "\r\n"))
			assert.True(t, strings.HasSuffix(body, "\r\n\r\n"))
		}
	})
}

func TestASilentAnswerEndsWithTheClient(t *testing.T) {
	each(t, func(t *testing.T, s *speaker) {
		for _, f := range []string{"slow-headers=1h", "slow-first=1h", "stall"} {
			ctx, cancel := context.WithCancel(t.Context())
			r := s.asking(translate.Generate, "x [[fault:"+f+"]]", "").WithContext(ctx)
			cancel()
			response, err := s.transport.RoundTrip(r)
			if !assert.ErrorIs(t, err, context.Canceled, f) {
				_ = response.Body.Close()
			}
		}
	})
}
