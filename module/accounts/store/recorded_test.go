package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A new kind of change cannot forget its row of the audit log: only the function that writes
// rows, and what no caller asks for, begin transactions.
func TestOnlyRecordedTransactionsWrite(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var places []string
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		if strings.Contains(string(source), "db.Write(") || strings.Contains(string(source), "db.Transact(") {
			places = append(places, file)
		}
	}
	assert.Equal(t, []string{"audit.go", "change.go", "recorded_test.go", "uses.go"}, places, "audit.go deletes old rows, and uses.go writes when keys were used")
}
