package main

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
)

// A chart is a table whose first column is N and whose other columns are rates at
// N, drawn with logarithms on both axes.
type chart struct {
	title string
	names []string
	n     []float64
	rates [][]float64 // of each name; NaN: none
}

// curves draws the tables of a file of history whose first column is called N, each
// to a picture beside the file: NAME-1.svg, NAME-2.svg.
func curves(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	charts, err := readCharts(f)
	if err != nil {
		return err
	}
	for i, c := range charts {
		to := fmt.Sprintf("%s-%d.svg", strings.TrimSuffix(path, ".md"), i+1)
		if err := os.WriteFile(to, []byte(c.svg()), 0o644); err != nil {
			return err
		}
		fmt.Println(to)
	}
	return nil
}

// readCharts finds tables under their headings.
func readCharts(r io.Reader) ([]*chart, error) {
	var all []*chart
	var c *chart
	title := ""
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "#") {
			title = strings.TrimSpace(strings.TrimLeft(line, "#"))
		}
		if !strings.HasPrefix(line, "|") {
			c = nil
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case c == nil && cells[0] == "N":
			c = &chart{title: title, names: cells[1:], rates: make([][]float64, len(cells)-1)}
			all = append(all, c)
		case c == nil || strings.HasPrefix(cells[0], "-"):
		default:
			if err := c.add(cells); err != nil {
				return nil, err
			}
		}
	}
	return all, lines.Err()
}

func (c *chart) add(cells []string) error {
	if len(cells) != len(c.names)+1 {
		return fmt.Errorf("a row of %d cells under %d names: %v", len(cells), len(c.names)+1, cells)
	}
	for i, text := range cells {
		v := math.NaN()
		if text != "" {
			var err error
			if v, err = strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64); err != nil {
				return err
			}
		}
		if i == 0 {
			c.n = append(c.n, v)
		} else {
			c.rates[i-1] = append(c.rates[i-1], v)
		}
	}
	return nil
}

// The picture's measures.
const (
	chartWidth, chartHeight = 760, 420
	chartLeft, chartTop     = 70, 40
	chartRight, chartBottom = 200, 50
)

// Colours that are told apart without seeing red or green.
var chartColours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999933"}

// axis is a range of logarithms on so many points.
type axis struct{ low, high, from, to float64 }

func (a axis) at(v float64) float64 {
	return a.from + (math.Log10(v)-a.low)/(a.high-a.low)*(a.to-a.from)
}

// span is the decades that values lie in.
func span(all ...[]float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, vs := range all {
		for _, v := range vs {
			if v > 0 {
				low, high = min(low, math.Log10(v)), max(high, math.Log10(v))
			}
		}
	}
	return low, high
}

func (c *chart) svg() string {
	var b strings.Builder
	low, high := span(c.n)
	x := axis{low, max(high, low+0.1), chartLeft, chartWidth - chartRight}
	low, high = span(c.rates...)
	y := axis{math.Floor(low), math.Ceil(max(high, low+0.1)), chartHeight - chartBottom, chartTop}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n", chartWidth, chartHeight)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="white"/><text x="%d" y="20" font-size="14">%s</text>`+"\n", chartLeft, html.EscapeString(c.title))
	for e := y.low; e <= y.high; e++ {
		for _, k := range []float64{1, 2, 5} {
			v := k * math.Pow(10, e)
			if math.Log10(v) > y.high+1e-9 {
				continue
			}
			fmt.Fprintf(&b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#ddd"/><text x="%.1f" y="%.1f" text-anchor="end">%s</text>`+"\n",
				x.from, y.at(v), x.to, y.at(v), x.from-6, y.at(v)+4, strconv.FormatFloat(v, 'f', -1, 64))
		}
	}
	for _, n := range c.n {
		fmt.Fprintf(&b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#eee"/><text x="%.1f" y="%.1f" text-anchor="middle">%.0f</text>`+"\n",
			x.at(n), y.from, x.at(n), y.to, x.at(n), y.from+18, n)
	}
	fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">million keys</text>`+"\n", (x.from+x.to)/2, chartHeight-10)
	for i, name := range c.names {
		colour := chartColours[i%len(chartColours)]
		var line []string
		for j, v := range c.rates[i] {
			if v > 0 {
				line = append(line, fmt.Sprintf("%.1f,%.1f", x.at(c.n[j]), y.at(v)))
				fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x.at(c.n[j]), y.at(v), colour)
			}
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(line, " "), colour)
		at := chartTop + 18*i
		fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="12" height="12" fill="%s"/><text x="%.1f" y="%d">%s</text>`+"\n",
			x.to+14, at, colour, x.to+32, at+11, html.EscapeString(name))
	}
	b.WriteString("</svg>\n")
	return b.String()
}
