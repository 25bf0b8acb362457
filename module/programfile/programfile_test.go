package programfile

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	code   = "00400000-02719000 r-xp 00000000 fe:00 1840 "
	usage  = "Size:              35940 kB\nRss:               28348 kB\nVmFlags: rd ex mr mw me sd\n"
	shared = usage + "Anonymous:             0 kB\nSwap:                  0 kB\n"
	own    = usage + "Anonymous:             4 kB\nSwap:                  0 kB\n" // such as a breakpoint
	out    = usage + "Anonymous:             0 kB\nSwap:                  4 kB\n" // the same, swapped out
)

// Changed pages that were swapped out counted as unchanged: a reload removed breakpoints.
func TestOnlyUnchangedPagesOfTheProgramAreReleased(t *testing.T) {
	whole := []mapping{{0x400000, 0x2719000}}
	for name, test := range map[string]struct {
		smaps string
		want  []mapping
	}{
		"code":                  {code + "                  /usr/bin/caddy\n" + shared, whole},
		"after other lines":     {"c000000000-c008000000 rw-p 00000000 00:00 0 \n" + own + code + "/usr/bin/caddy\n" + shared, whole},
		"with a breakpoint":     {code + "/usr/bin/caddy\n" + own, nil},
		"swapped breakpoint":    {code + "/usr/bin/caddy\n" + out, nil},
		"of a library":          {code + "/usr/lib/libc.so.6\n" + shared, nil},
		"of another name":       {code + "/opt/usr/bin/caddy\n" + shared, nil},
		"constants":             {strings.Replace(code, "r-xp", "r--p", 1) + "/usr/bin/caddy\n" + shared, whole},
		"variables":             {strings.Replace(code, "r-xp", "rw-p", 1) + "/usr/bin/caddy\n" + shared, nil},
		"variables behind code": {code + "/usr/bin/caddy\n" + own + "0271a000-04f5a000 rw-p 0231a000 fe:00 1840 /usr/bin/caddy\n" + shared, nil},
		"with constants":        {code + "/usr/bin/caddy\n" + shared + "02800000-02900000 r--p 0231a000 fe:00 1840 /usr/bin/caddy\n" + shared, append(whole, mapping{0x2800000, 0x2900000})},
		"nothing":               {"", nil},
	} {
		got, err := unchanged(strings.NewReader(test.smaps), "/usr/bin/caddy")
		require.NoError(t, err, name)
		assert.Equal(t, test.want, got, name)
	}
	_, err := unchanged(strings.NewReader("0x-1 r-xp 00000000 fe:00 1840 /usr/bin/caddy\n"), "/usr/bin/caddy")
	assert.ErrorContains(t, err, "parsing mapping")
	_, err = unchanged(iotest.ErrReader(io.ErrUnexpectedEOF), "/usr/bin/caddy")
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

// With 10,000 mappings, or a heap of 4 GB, to read all of smaps took 100 ms of each reload.
func TestMappingsBehindTheProgramAreNotRead(t *testing.T) {
	smaps := io.MultiReader(strings.NewReader(code+"/usr/bin/caddy\n"+shared+"c000000000-c008000000 rw-p 00000000 00:00 0 \n"), iotest.ErrReader(io.ErrUnexpectedEOF))
	got, err := unchanged(smaps, "/usr/bin/caddy")
	require.NoError(t, err)
	assert.Equal(t, []mapping{{0x400000, 0x2719000}}, got)
}
