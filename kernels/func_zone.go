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
			t := time.UnixMicro(in.At(i)).UTC()
			if fromMoment {
				_, offset := t.In(zone).Zone()
				return in.At(i) + int64(offset)*sqltype.MicrosPerSecond, nil
			}
			t = time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), zone)
			return t.UnixMicro(), nil
		})
	}
}

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
