package transport

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The memory for the translation of a burst of events stayed with its stream, which may then
// wait for hours.
func TestAnOutputHoldsMemoryOnlyWhileItHasBytes(t *testing.T) {
	var o output
	assert.Zero(t, o.Len())
	o.Write(nil)
	assert.Nil(t, o.held)
	o.Write([]byte("abc"))
	o.Write([]byte("d"))
	p := make([]byte, 3)
	require.Equal(t, 3, o.Read(p))
	assert.Equal(t, "abc", string(p))
	assert.Equal(t, 1, o.Len())
	require.Equal(t, 1, o.Read(p))
	assert.Equal(t, "d", string(p[:1]))
	assert.Nil(t, o.held)

	o.Write([]byte("ef"))
	var buffer bytes.Buffer
	n, err := o.WriteTo(&buffer)
	require.NoError(t, err)
	assert.EqualValues(t, 2, n)
	assert.Equal(t, "ef", buffer.String())
	assert.Nil(t, o.held)
	n, err = o.WriteTo(&buffer)
	require.NoError(t, err)
	assert.Zero(t, n, "nothing is left")

	o.Write([]byte("g"))
	o.Reset()
	assert.Zero(t, o.Len())
}
