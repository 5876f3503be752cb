package kernels

import (
	"strings"
	"time"

	"github.com/gpusql/gpusql/sqltype"
)

// atTimeZone is x AT TIME ZONE z: of a TIMESTAMPTZ what a clock in z shows, of
// a TIMESTAMP the moment at which a clock in z shows it. Of what a clock shows
// twice, or never, where the zone changes its offset, it is one of the two
// moments.
func atTimeZone(fromMoment bool) ScalarFunc {
	return func(c *Call) error {
		names, in := Read[string](c, 0), Read[int64](c, 1)
		last, zone := "", (*time.Location)(nil)
		return funcRows(c, func(i int) (int64, error) {
			if name := names.At(i); name != last || zone == nil {
				z, err := zoneByName(name)
				if err != nil {
					return 0, err
				}
				last, zone = strings.Clone(name), z
			}
			if fromMoment {
				return clockIn(in.At(i), zone), nil
			}
			return momentIn(in.At(i), zone), nil
		})
	}
}

// clockIn is what a clock in a zone shows at a moment.
func clockIn(moment int64, zone *time.Location) int64 {
	_, offset := time.UnixMicro(moment).In(zone).Zone()
	return moment + int64(offset)*sqltype.MicrosPerSecond
}

// momentIn is the moment at which a clock in a zone shows ts.
func momentIn(ts int64, zone *time.Location) int64 {
	t := time.UnixMicro(ts).UTC()
	t = time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), zone)
	return t.UnixMicro()
}

// dateTruncIn is date_trunc(unit, moment, zone): cut by the zone's clock.
var dateTruncIn = FuncRow(func(c *Call, i int) (int64, error) {
	zone, err := zoneByName(ArgAt[string](c, 2, i))
	if err != nil {
		return 0, err
	}
	word := ArgAt[string](c, 0, i)
	p, ok := sqltype.ParseDatePart(word)
	if ok {
		var ts int64
		if ts, ok = p.Trunc(clockIn(ArgAt[int64](c, 1, i), zone)); ok {
			return momentIn(ts, zone), nil
		}
	}
	return 0, sqltype.UnknownPart(word, sqltype.TimestampTZ)
})

// dateBin is date_bin(stride, x [, origin]): the beginning of the stride that x
// is in, when one begins at origin, or at 2000-01-03, a Monday.
var dateBin = FuncRow(func(c *Call, i int) (int64, error) {
	stride, x := ArgAt[sqltype.Span](c, 0, i), ArgAt[int64](c, 1, i)
	origin := int64(10959) * sqltype.MicrosPerDay
	if len(c.Args) == 3 {
		origin = ArgAt[int64](c, 2, i)
	}
	switch {
	case stride.Months != 0:
		return 0, sqltype.Errorf(sqltype.CodeNotSupported, "timestamps cannot be binned into intervals containing months or years")
	case stride.Days < 0 || stride.Micros < 0 || stride.Days == 0 && stride.Micros == 0:
		return 0, sqltype.Errorf(sqltype.CodeDatetimeOverflow, "stride must be greater than zero")
	case int64(stride.Days) > sqltype.MaxTimestamp/sqltype.MicrosPerDay || stride.Micros > sqltype.MaxTimestamp/2:
		return 0, sqltype.Errorf(sqltype.CodeDatetimeOverflow, "interval out of range")
	}
	width := int64(stride.Days)*sqltype.MicrosPerDay + stride.Micros
	rest := (x%width - origin%width) % width
	if rest < 0 {
		rest += width
	}
	if x < sqltype.MinTimestamp+rest {
		return 0, sqltype.Errorf(sqltype.CodeDatetimeOverflow, "timestamp out of range")
	}
	return x - rest, nil
})

// overlapping is (a, b) OVERLAPS (c, d): the spans, whichever end comes first,
// share a moment; a span that is a moment is at its end too.
var overlapping = FuncRow(func(c *Call, i int) (bool, error) {
	var v [4]int64
	for k := range v {
		v[k] = ArgAt[int64](c, k, i)
	}
	a, b := min(v[0], v[1]), max(v[0], v[1])
	d, e := min(v[2], v[3]), max(v[2], v[3])
	if a > d || a == d && b > e {
		a, b, d = d, e, a
	}
	return a == d || d < b, nil
})

// zoneByName finds a zone in the machine's time zone database.
func zoneByName(name string) (*time.Location, error) {
	switch strings.ToUpper(name) {
	case "UTC", "GMT", "Z", "ZULU":
		return time.UTC, nil
	case "", "LOCAL": // names of Go's for the machine's own zone
	default:
		if z, err := time.LoadLocation(name); err == nil {
			return z, nil
		}
	}
	return nil, sqltype.Errorf(sqltype.CodeInvalidParameter, "time zone %q not recognized", name)
}
