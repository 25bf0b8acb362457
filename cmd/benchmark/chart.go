package main

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"slices"
)

// The sizes of charts, in pixels.
const (
	chartWidth = 860
	chartLabel = 260 // width of the names
	chartEnd   = 140 // width of what is behind the longest bar
	chartBar   = 14
	chartGap   = 12
	panelWidth = chartWidth / 2
	panelSize  = 260 // height of a panel
	panelEdge  = 50  // around the curves of a panel
)

// colors are the colors of the setups, in their order: readable on white and on black.
var colors = []string{"#888888", "#1f9e89", "#3b7dd8", "#b5541c"}

func colorOf(gateway string) string {
	return colors[slices.IndexFunc(setups, func(s setup) bool { return s.name == gateway })]
}

// svg returns an SVG file of a height.
func svg(height int, content []byte) []byte {
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12" fill="#777777">`+"\n%s</svg>\n",
		chartWidth, height, content)
}

func label(b *bytes.Buffer, x, y int, anchor, content string) {
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="%s">%s</text>`+"\n", x, y, anchor, html.EscapeString(content))
}

// bars returns a chart of the processor times beside the baseline, of the scenarios with a
// bound: of all, it would be too long to be read.
func bars(all []summary) []byte {
	all = slices.DeleteFunc(slices.Clone(all), func(s summary) bool {
		return !slices.ContainsFunc(bounds, func(b bound) bool { return b.scenario == s.scenario })
	})
	longest := 2.0
	for _, s := range all {
		longest = max(longest, s.ratio())
	}
	var b bytes.Buffer
	label(&b, 0, 16, "start", "Processor time of a request, beside plain reverse_proxy (1.00). Shorter is better.")
	y, scenario := 30, ""
	for _, s := range all {
		if s.scenario != scenario {
			scenario = s.scenario
			y += chartGap
			label(&b, 0, y+chartBar-3, "start", scenario)
		}
		width := int(s.ratio() / longest * (chartWidth - chartLabel - chartEnd))
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", chartLabel, y, width, chartBar-2, colorOf(s.gateway))
		label(&b, chartLabel+width+6, y+chartBar-3, "start", fmt.Sprintf("%.2f %s, %.0f µs", s.ratio(), s.gateway, s.values[cpu]))
		y += chartBar
	}
	return svg(y+10, b.Bytes())
}

// panel is a part of a chart, with curves over an axis.
type panel struct {
	title  string
	curves []curve
	log    bool // both axes are logarithmic
}

// curve is the points of one color, with x growing.
type curve struct {
	name, color string
	points      []point
}

type point struct{ x, y float64 }

// plot returns a chart of panels, two in a row.
func plot(title string, panels []panel) []byte {
	var b bytes.Buffer
	label(&b, 0, 16, "start", title)
	for i, p := range panels {
		p.draw(&b, i%2*panelWidth, 30+i/2*panelSize)
	}
	return svg(40+(len(panels)+1)/2*panelSize, b.Bytes())
}

// draw draws a panel whose corner is at x and y.
func (p panel) draw(b *bytes.Buffer, x, y int) {
	scale := func(v float64) float64 {
		if p.log {
			return math.Log10(max(v, 1))
		}
		return v
	}
	left, right, bottom, top := math.Inf(1), math.Inf(-1), math.Inf(1), 0.0
	for _, c := range p.curves {
		for _, point := range c.points {
			left, right, bottom, top = min(left, point.x), max(right, point.x), min(bottom, point.y), max(top, point.y)
		}
	}
	width, height := float64(panelWidth-2*panelEdge), float64(panelSize-2*panelEdge)
	column := func(v float64) int {
		return x + panelEdge + int(width*(scale(v)-scale(left))/max(scale(right)-scale(left), 1e-9))
	}
	base := 0.0
	if p.log {
		base = math.Floor(scale(bottom)) // a power of ten
	}
	row := func(v float64) int {
		return y + panelSize - panelEdge - int(height*(scale(v)-base)/max(scale(top)-base, 1e-9))
	}
	label(b, x+panelEdge, y+20, "start", p.title)
	for i, c := range p.curves {
		fmt.Fprintf(b, `<polyline fill="none" stroke="%s" stroke-width="2" points="`, c.color)
		for _, point := range c.points {
			fmt.Fprintf(b, "%d,%d ", column(point.x), row(point.y))
		}
		fmt.Fprintf(b, `"/><text x="%d" y="%d" fill="%s">%s</text>`+"\n", x+panelEdge+6, y+panelEdge+12*i, c.color, html.EscapeString(c.name))
	}
	fmt.Fprintf(b, `<path d="M%d %dV%dH%d" fill="none" stroke="#777777"/>`+"\n", x+panelEdge, y+panelEdge-8, y+panelSize-panelEdge, x+panelWidth-panelEdge)
	label(b, column(left), y+panelSize-panelEdge+16, "middle", short(left))
	label(b, column(right), y+panelSize-panelEdge+16, "middle", short(right))
	label(b, x+panelEdge-6, row(top)+4, "end", short(top))
	if p.log {
		label(b, x+panelEdge-6, y+panelSize-panelEdge+4, "end", short(math.Pow(10, base)))
	}
}

// short writes a number with three digits at most, and a unit.
func short(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.3gM", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%.3gk", v/1e3)
	}
	return fmt.Sprintf("%.3g", v)
}
