package quickstart

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"syscall"
)

// address is where the gateway listens.
type address struct {
	host string // empty: all interfaces
	port string // "0": any free port
}

func parseAddress(listen string) (address, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return address{}, errors.New("--listen needs host:port or :port, such as localhost:8080")
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return address{}, errors.New("--listen needs a port from 0 to 65535")
	}
	return address{host, port}, nil
}

// choosePort checks that the address is free, and replaces port 0 by a free port. Caddy
// does not detect an address in use: its sockets can share a port with other programs of
// the same user, such as another Caddy.
func (a address) choosePort() (address, error) {
	listen := net.JoinHostPort(a.host, a.port)
	listener, err := net.Listen("tcp", listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return a, fmt.Errorf("%s is in use by another program; choose another address with --listen", listen)
	}
	if err != nil {
		return a, fmt.Errorf("listening on %s: %w", listen, err)
	}
	defer listener.Close()
	a.port = strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	return a, nil
}

// loopback reports whether only this machine can reach the address.
func (a address) loopback() bool {
	ip := net.ParseIP(a.host)
	return a.host == "localhost" || ip != nil && ip.IsLoopback()
}

// url returns the URL for clients on this machine.
func (a address) url() string {
	host := a.host
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, a.port)
}

// ollamaURL returns the base URL for a value of OLLAMA_HOST: host, host:port or a URL.
// The default port is 11434; for a URL, it is the default of the scheme. Ollama itself
// uses OLLAMA_HOST as the address to listen on, so an unspecified address means
// localhost.
func ollamaURL(host string) (string, error) {
	u, err := url.Parse(host)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		if u, err = url.Parse("http://" + host); err == nil && u.Port() == "" {
			u.Host = net.JoinHostPort(u.Hostname(), "11434")
		}
	}
	if err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("OLLAMA_HOST needs a host, host:port, or an http or https URL")
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() == "" || ip != nil && ip.IsUnspecified() {
		u.Host = net.JoinHostPort("localhost", u.Port())
	}
	return u.JoinPath("v1").String(), nil
}
