package usage_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// L062: whoever reads the accounts of a gateway, its backups or its disk reads no key
// and no text. The name of the model is in them, which shows that the test would find more.
func TestL062NoKeyAndNoTextIsRecorded(t *testing.T) {
	c := gatewaytest.NewCanaries()
	t.Setenv("KEY_ALICE", c.Secret("key"))
	dir := t.TempDir()
	s := site.Start(t, "store sqlite "+dir+"/gateway.db", "ledger {\njournal "+dir+"/journal\n}",
		site.Direct.Provider("p", gatewaytest.NewProvider(t), "models "+c.Secret("model")), "key alice {env.KEY_ALICE}")
	for _, stream := range []bool{false, true} {
		answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, c.Secret("model"), c.Secret("prompt"), stream),
			"Authorization", "Bearer "+c.Secret("key"), "X-Canary", c.Secret("header"))
		require.Equal(t, http.StatusOK, answer.Status)
		c.AssertPresent(t, "the answer, which repeats the prompt,", answer.Body, "prompt")
	}
	settled(t, s, "model", 2)
	var all []byte
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all = append(all, data...)
		c.AssertAbsent(t, path, data, "model")
		return err
	}))
	c.AssertPresent(t, "the disk", all, "model")
	for _, path := range []string{"usage?by=model", "usage?by=model,key&format=csv"} {
		response, err := http.Get(s.AdminURL("/api/v1/" + path))
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		c.AssertPresent(t, path, body, "model")
		c.AssertAbsent(t, path, body, "model")
	}
}

// L020: a client that leaves before its request was sent pays nothing.
func TestL020WhatWasNotSentCostsNothing(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // it accepts connections, and agrees on no encryption
	require.NoError(t, err)
	defer silent.Close()
	s := site.Start(t, withLedger(t, fmt.Sprintf("provider p openai_compatible {\nbase_url https://%s/v1\nformat chat\nmodels m\n%s\n}", silent.Addr(), priced))...)
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		conn, err := silent.Accept()
		leave()
		if err == nil {
			_, _ = io.Copy(io.Discard, conn) // until the gateway gives up
			_ = conn.Close()
		}
	}()
	_, err = s.Send(ctx, site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false))
	require.ErrorIs(t, err, context.Canceled)
	sums := settled(t, s, "outcome", 1)
	require.Len(t, sums, 1)
	assert.Equal(t, "client_closed", sums[0].Outcome)
	assert.Zero(t, sums[0].Input+sums[0].Output+sums[0].Cost)
	assert.Zero(t, sums[0].Unpriced)
}
