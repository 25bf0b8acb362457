package quickstart

import (
	"bytes"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAddressesThatAreRefused(t *testing.T) {
	for listen, want := range map[string]string{
		"8080": "host:port", "": "host:port", "localhost": "host:port",
		"localhost:http": "port from 0", "localhost:70000": "port from 0", "localhost:": "port from 0",
	} {
		_, err := parseAddress(listen)
		assert.ErrorContains(t, err, want, listen)
	}
	_, err := address{"no-such-host.invalid", "0"}.choosePort()
	assert.ErrorContains(t, err, "listening on no-such-host.invalid:0")
}

// Caddy itself would start, and each of the two programs would answer some of the
// requests.
func TestAddressInUseIsRefusedByName(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	used := Options{Listen: listener.Addr().String()}
	require.NoError(t, Print(used, environment(nil), io.Discard, io.Discard), "printing the Caddyfile needs no free address")
	var banner bytes.Buffer
	err = Start(used, environment(nil), nil, &banner)
	assert.ErrorContains(t, err, listener.Addr().String()+" is in use")
	assert.Empty(t, banner.String())
}

func TestURLsAreForClientsOfThisMachine(t *testing.T) {
	for a, want := range map[address]string{
		{"", "8080"}:          "http://localhost:8080",
		{"0.0.0.0", "8080"}:   "http://localhost:8080",
		{"::", "8080"}:        "http://localhost:8080",
		{"localhost", "8080"}: "http://localhost:8080",
		{"127.0.0.1", "80"}:   "http://127.0.0.1:80",
		{"::1", "8080"}:       "http://[::1]:8080",
	} {
		assert.Equal(t, want, a.url())
	}
}
