package aigateway

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNetworksAreReadInEveryNotation(t *testing.T) {
	for text, want := range map[string]string{
		"192.0.2.7":           "192.0.2.7/32",
		"10.1.2.3/8":          "10.0.0.0/8",
		"0.0.0.0/0":           "0.0.0.0/0",
		"2001:db8::1":         "2001:db8::1/128",
		"2001:db8:1::1/48":    "2001:db8:1::/48",
		"::ffff:192.0.2.7":    "192.0.2.7/32",
		"::ffff:10.0.0.0/104": "10.0.0.0/8",
		"::/0":                "::/0",
	} {
		got, err := ParseNetwork(text)
		require.NoError(t, err, text)
		assert.Equal(t, netip.MustParsePrefix(want), got, text)
	}
}

func TestWhatIsNoNetworkIsRefused(t *testing.T) {
	for _, text := range []string{"", "/8", "10.0.0.0/33", "10.0.0/8", "localhost", "fe80::1%eth0", "fe80::1%eth0/64", "10.0.0.1-10.0.0.9", "010.0.0.1", "::ffff:10.0.0.0/64", " 10.0.0.1"} {
		_, err := ParseNetwork(text)
		assert.ErrorContains(t, err, "a network is", text)
	}
}
