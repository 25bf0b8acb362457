package exchange

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The runtime rounds memory up to a size class, and adds 8 bytes to what has pointers and more
// than 512 bytes. One flag more once cost each request 64 bytes. If the parts of an exchange need
// more, the bound is the next size class.
func TestAnExchangeAndItsAttemptsFitTheirSizeClasses(t *testing.T) {
	assert.LessOrEqual(t, reflect.TypeFor[Exchange]().Size(), uintptr(704-8))
	assert.LessOrEqual(t, reflect.TypeFor[Conduit]().Size(), uintptr(640-8))
}
