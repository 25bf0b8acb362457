package aigateway

import (
	"errors"
	"net/netip"
	"strings"
)

// v4InV6 is the number of bits before the IPv4 address in an IPv4-mapped IPv6 address.
const v4InV6 = 96

var errNetwork = errors.New("a network is an IP address or one with a prefix length, such as 192.0.2.7 or 10.0.0.0/8")

// ParseNetwork parses an IP address, or a network in CIDR notation. An address is a
// network with that address only. Addresses with a zone are errors, because a key cannot
// be bound to a network interface.
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
			return netip.Prefix{}, errNetwork // contains both IPv4 and IPv6 addresses
		}
		network = netip.PrefixFrom(address.Unmap(), network.Bits()-v4InV6)
	}
	return network.Masked(), nil
}
