package written

import (
	"slices"
	"strconv"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// Addresses returns the addresses of a site as a Caddyfile has them. hosts are the hosts that it
// serves, none for all.
func Addresses(server *caddyhttp.Server, hosts []string) (addresses []string) {
	if len(hosts) == 0 {
		hosts = []string{""}
	}
	for _, listen := range server.Listen {
		network, err := caddy.ParseNetworkAddress(listen)
		if err != nil {
			continue // Caddy does not listen there, either
		}
		port := network.StartPort
		if network.IsUnixNetwork() {
			port = caddyhttp.DefaultHTTPSPort // a socket has none
		}
		for _, host := range hosts {
			addresses = append(addresses, address(server, host, port))
		}
	}
	return addresses
}

func address(server *caddyhttp.Server, host string, port uint) string {
	automatic := server.AutoHTTPS
	plain := port == caddyhttp.DefaultHTTPPort || automatic != nil && (automatic.Disabled || slices.Contains(automatic.Skip, host)) ||
		host == "" && port != caddyhttp.DefaultHTTPSPort && len(server.TLSConnPolicies) == 0
	switch {
	case plain && port == caddyhttp.DefaultHTTPPort && host != "":
		return "http://" + host
	case plain:
		return "http://" + host + ":" + strconv.Itoa(int(port))
	case port == caddyhttp.DefaultHTTPSPort && host != "":
		return host
	}
	return host + ":" + strconv.Itoa(int(port))
}
