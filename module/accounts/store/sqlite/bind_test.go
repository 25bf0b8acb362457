package sqlite

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Statements with the parameters of 100 records once took most of the time of the ledger,
// because the driver searched all parameters for each name.
func TestParametersInOrderHaveNoName(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT 1":                           "SELECT 1",
		"VALUES ($1, $2), ($3, $4)":          "VALUES (?, ?), (?, ?)",
		"a = $1":                             "a = ?",
		"$1 $2 $3 $4 $5 $6 $7 $8 $9 $10 $11": "? ? ? ? ? ? ? ? ? ? ?",
		"a = $2 AND b = $1":                  "a = ?2 AND b = ?1",
		"a = $1 OR b = $1":                   "a = ?1 OR b = ?1",
		"a = $10":                            "a = ?10",
		"a = $1 AND b = $2 AND c = $1 AND d = $3": "a = ?1 AND b = ?2 AND c = ?1 AND d = ?3",
	} {
		assert.Equal(t, want, bind(query))
	}
}
