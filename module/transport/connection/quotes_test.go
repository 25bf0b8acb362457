package connection

import (
	"bytes"
	"log"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOtherLinesOfTheStandardLogStay(t *testing.T) {
	before := log.Writer()
	defer log.SetOutput(before)
	var lines bytes.Buffer
	log.SetOutput(&lines)
	FilterLog()
	FilterLog()
	log.Print("another \"line\"")
	assert.True(t, strings.HasSuffix(lines.String(), "another \"line\"\n"))
	assert.IsType(t, &bytes.Buffer{}, log.Writer().(*logFilter).next, "one filter is enough")
}
