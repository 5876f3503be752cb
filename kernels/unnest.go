package kernels

import (
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// ListColumn is lists of a type.
type ListColumn struct {
	Vec
	Type sqltype.Type
}

// at is the elements of row i; there are none of NULL.
func (l *ListColumn) at(i int) sqltype.Elements {
	if l.isNull(i) {
		return sqltype.Elements{}
	}
	return sqltype.ElementsOf(l.Type, l.str(i).Str())
}

// Unnest goes through the lists of N rows and writes a row for each element: the
// number of its row, its own from 1, and of each list the element or, where the
// list has ended before another, NULL.
type Unnest struct {
	Lists []ListColumn
	N     int

	row    int
	number int64              // of the last element written of row
	walks  []sqltype.Elements // of the row
}

// Unnested is where the rows go.
type Unnested struct {
	Rows, Numbers device.Ptr // uint32, int64
	Values        []Vec      // of each list, with a bitmap
	Heap          *Heap      // of strings among them
}

type unnestArgs struct {
	*Unnest
	To    Unnested
	Most  int
	Given *int
	Fail  *error
}

var unnestStep = &device.Kernel[unnestArgs]{Name: "unnest", Host: unnestHost}

// Next writes the next rows, at most most of them, and gives how many; 0 at the end.
func (u *Unnest) Next(s device.Stream, most int, to Unnested) (int, error) {
	for i := range u.Lists {
		if err := Zero(s, to.Values[i].Valid, BitmapBytes(most)); err != nil {
			return 0, err
		}
	}
	given := 0
	var fail error
	if err := device.Launch(s, unnestStep, most, unnestArgs{Unnest: u, To: to, Most: most, Given: &given, Fail: &fail}); err != nil {
		return 0, err
	}
	return given, fail
}

func unnestHost(a *unnestArgs, _, _ int) {
	rows, numbers := device.View[uint32](a.To.Rows, a.Most), device.View[int64](a.To.Numbers, a.Most)
	for *a.Given < a.Most && a.row < a.N {
		if a.walks == nil {
			for i := range a.Lists {
				a.walks = append(a.walks, a.Lists[i].at(a.row))
			}
			a.number = 0
		}
		if !a.element(*a.Given) {
			a.row, a.walks = a.row+1, nil
			continue
		}
		a.number++
		rows[*a.Given], numbers[*a.Given] = uint32(a.row), a.number
		*a.Given++
		if *a.Fail != nil {
			return
		}
	}
}

// element writes the next element of each list as row at, and reports false
// when all lists have ended.
func (a *unnestArgs) element(at int) bool {
	some := false
	for i := range a.walks {
		e := &a.walks[i]
		if !e.Next() {
			continue
		}
		some = true
		if e.IsNull() {
			continue
		}
		d, dst := e.Datum(), &a.To.Values[i]
		var v View
		if d.Type.Phys() == sqltype.PhysStr {
			if v, *a.Fail = a.To.Heap.String(d.S); *a.Fail != nil {
				return true
			}
		}
		w := d.Type.Phys().Width()
		storeDatum(unsafe.Pointer(&device.View[byte](dst.Data+device.Ptr(at*w), w)[0]), d, v)
		device.View[uint64](dst.Valid, at>>6+1)[at>>6] |= 1 << (at & 63)
	}
	return some
}
