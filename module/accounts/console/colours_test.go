package console

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sights turn linear RGB into what people see: all colours, or all but red, green or blue
// (Machado, Oliveira and Fernandes, 2009).
var sights = map[string][3][3]float64{
	"all colours": {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"no red":      {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"no green":    {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"no blue":     {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// linear returns the amounts of light of a colour: red, green and blue.
func linear(t *testing.T, colour string) (rgb [3]float64) {
	n, err := strconv.ParseUint(strings.TrimPrefix(colour, "#"), 16, 32)
	require.NoError(t, err)
	for i := range rgb {
		if rgb[i] = float64(n>>(16-8*i)&0xff) / 255; rgb[i] <= 0.04045 {
			rgb[i] /= 12.92
		} else {
			rgb[i] = math.Pow((rgb[i]+0.055)/1.055, 2.4)
		}
	}
	return rgb
}

// contrast returns the contrast of two colours, as WCAG defines it.
func contrast(t *testing.T, a, b string) float64 {
	luminance := func(colour string) float64 {
		rgb := linear(t, colour)
		return 0.2126*rgb[0] + 0.7152*rgb[1] + 0.0722*rgb[2] + 0.05
	}
	return max(luminance(a), luminance(b)) / min(luminance(a), luminance(b))
}

// labOf returns a colour in the space CIELAB, in which distances are those that eyes see.
func labOf(t *testing.T, colour string, sight [3][3]float64) (lab [3]float64) {
	linear := linear(t, colour)
	var seen [3]float64
	for i, row := range sight {
		seen[i] = min(1, max(0, row[0]*linear[0]+row[1]*linear[1]+row[2]*linear[2]))
	}
	curve := func(r, g, b, white float64) float64 {
		if v := (r*seen[0] + g*seen[1] + b*seen[2]) / white; v > 0.008856 {
			return math.Cbrt(v)
		} else {
			return 7.787*v + 16.0/116
		}
	}
	x, y, z := curve(0.4124, 0.3576, 0.1805, 0.95047), curve(0.2126, 0.7152, 0.0722, 1), curve(0.0193, 0.1192, 0.9505, 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// themes returns the values of a colour of the style: in the light theme, and in the dark one.
func themes(t *testing.T, name string) (values [2]string) {
	found := regexp.MustCompile(fmt.Sprintf(`--%s: light-dark\((#\w{6}), (#\w{6})\)`, name)).FindStringSubmatch(string(embedded().files["app.css"].plain))
	require.NotNil(t, found, name)
	return [2]string(found[1:])
}

// Parts of a bar were shades of blue and grey: which names were neighbours depended on the bar, and
// some of them differed little, and not at all for who sees no blue. In a bar, any two can be
// neighbours.
func TestAnyTwoColoursOfAChartCanBeToldApart(t *testing.T) {
	const (
		leastDistance = 20 // about ten times the smallest difference that is seen
		leastContrast = 1.5
	)
	background := themes(t, "raised")
	for _, names := range [][]string{{"s1", "s2", "s3", "s4", "s5", "s6", "s7"}, {"answered", "refused", "failed", "left"}} {
		for i, name := range names {
			for theme, colour := range themes(t, name) {
				assert.Greater(t, contrast(t, colour, background[theme]), leastContrast, "%s on the background", colour)
				for _, other := range names[:i] {
					for sight, matrix := range sights {
						a, b := labOf(t, colour, matrix), labOf(t, themes(t, other)[theme], matrix)
						distance := math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2])
						assert.Greater(t, distance, float64(leastDistance), "%s and %s, %s", name, other, sight)
					}
				}
			}
		}
	}
}
