package gatewaytest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A provider once got the address of an earlier one, for which the gateway had learned that
// the model must be asked in another format: a test about a chat stream failed with 502.
func TestEachProviderHasAnAddressOfItsOwn(t *testing.T) {
	seen := make(map[string]bool)
	for range 2000 {
		listener := listen(t)
		assert.False(t, seen[listener.Addr().String()])
		seen[listener.Addr().String()] = true
		assert.NoError(t, listener.Close())
	}
}
