//go:build !linux

package memory

// Use does nothing on this system.
func Use() {}
