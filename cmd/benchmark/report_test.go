package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The heading of a single round had "medians of 1 rounds".
func TestTheHeadingOfOneRoundHasNoMedians(t *testing.T) {
	assert.Contains(t, options{rounds: 1, duration: 1}.conditions(), "; 1 round of 1ns.")
	assert.Contains(t, options{rounds: 2, duration: 1}.conditions(), "; medians of 2 rounds of 1ns.")
}
