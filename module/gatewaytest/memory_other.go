//go:build !linux

package gatewaytest

// useMemory does nothing on this system.
func useMemory() {}
