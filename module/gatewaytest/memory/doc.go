// Package memory keeps the temporary files of tests in memory. It does not import Caddy, which
// takes seconds to link.
package memory
