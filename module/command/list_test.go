package command

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The lists of limits and usage were empty, without an error, for the number of a key that other commands take.
func TestTheNumberOfAKeyIsItsID(t *testing.T) {
	for written, want := range map[string]string{"1": "key_1", "key_1": "key_1", "alice": "alice"} {
		cmd := new(cobra.Command)
		cmd.Flags().String("key", "", "")
		require.NoError(t, cmd.Flags().Set("key", written))
		assert.Equal(t, want, flagQuery(cmd, "key").Get("key"))
	}
}
