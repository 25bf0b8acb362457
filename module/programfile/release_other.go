//go:build !linux

package programfile

// Release does nothing.
func Release() error { return nil }
