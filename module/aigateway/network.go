package aigateway

import (
	"errors"
	"net/netip"
	"strings"
)

// v4InV6 is how many bits stand before an IPv4 address that is written as IPv6.
const v4InV6 = 96

var errNetwork = errors.New("a network is an IP address or one with a prefix length, such as 192.0.2.7 or 10.0.0.0/8")

// ParseNetwork reads an IP address, which stands for itself alone, or a network
// in CIDR notation. Zones are refused: a key is not bound to an interface.
func ParseNetwork(s string) (netip.Prefix, error) {
	if !strings.Contains(s, "/") {
		address, err := netip.ParseAddr(s)
		if err != nil || address.Zone() != "" {
			return netip.Prefix{}, errNetwork
		}
		address = address.Unmap()
		return netip.PrefixFrom(address, address.BitLen()), nil
	}
	network, err := netip.ParsePrefix(s)
	if err != nil {
		return netip.Prefix{}, errNetwork
	}
	if address := network.Addr(); address.Is4In6() {
		if network.Bits() < v4InV6 {
			return netip.Prefix{}, errNetwork // neither one nor the other
		}
		network = netip.PrefixFrom(address.Unmap(), network.Bits()-v4InV6)
	}
	return network.Masked(), nil
}
