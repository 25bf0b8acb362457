package aigateway_test

import (
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func TestAnswerBoundsThatAreNotSetAreInherited(t *testing.T) {
	own := aigateway.AnswerBounds{IdleTimeout: caddy.Duration(time.Hour)}
	own.Inherit(aigateway.AnswerBounds{IdleTimeout: caddy.Duration(time.Minute), MaxEventBytes: 4096})
	own.Inherit(aigateway.DefaultAnswerBounds)
	want := aigateway.DefaultAnswerBounds
	want.IdleTimeout, want.MaxEventBytes = caddy.Duration(time.Hour), 4096
	assert.Equal(t, want, own)
}

func TestAnswerBoundsThatNoAnswerCouldKeepToAreRefused(t *testing.T) {
	assert.NoError(t, new(aigateway.AnswerBounds).Check(), "nothing is set")
	defaults := aigateway.DefaultAnswerBounds
	assert.NoError(t, defaults.Check())
	for want, limits := range map[string]aigateway.AnswerBounds{
		"response_header_timeout must be positive":                                      {ResponseHeaderTimeout: -1},
		"first_event_timeout must be positive":                                          {FirstEventTimeout: -1},
		"idle_timeout must be positive":                                                 {IdleTimeout: -1},
		"usage_wait must be positive":                                                   {UsageWait: -1},
		"max_event_bytes must be from 1024 (1KiB) to 1073741824 (1GiB), got 1023":       {MaxEventBytes: aigateway.MinMaxEventBytes - 1},
		"max_event_bytes must be from 1024 (1KiB) to 1073741824 (1GiB), got 1073741825": {MaxEventBytes: aigateway.MaxMaxEventBytes + 1},
		"max_event_bytes must be from 1024 (1KiB) to 1073741824 (1GiB), got -1":         {MaxEventBytes: -1},
	} {
		assert.EqualError(t, limits.Check(), want)
	}
}
