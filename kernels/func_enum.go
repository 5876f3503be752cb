package kernels

import "github.com/gpusql/gpusql/sqltype"

// enumFuncs are the functions over the labels of an ENUM, which are known by the
// argument's type alone: enum_range(NULL::mood) are all of them.
func enumFuncs(name string, args []sqltype.Type, _ sqltype.Type, _ []*sqltype.Datum) (ScalarFunc, bool) {
	if len(args) == 0 || args[0].Kind != sqltype.KindEnum {
		return nil, false
	}
	labels := args[0].Enum.Labels()
	one := func(label string) (ScalarFunc, bool) {
		return Func0(func(h *Heap) (View, error) { return h.String(label) }), true
	}
	switch {
	case name == "enum_code":
		return Pure1(func(v uint16) int32 { return int32(v) }), true
	case name == "enum_first" && len(labels) > 0:
		return one(labels[0])
	case name == "enum_last" && len(labels) > 0:
		return one(labels[len(labels)-1])
	case name == "enum_first", name == "enum_last":
		return Func0(func(*Heap) (View, error) { return View{}, ErrNull }), true
	case name == "enum_range":
		return FuncRow(func(c *Call, i int) (View, error) {
			from, to := 0, len(labels)
			if len(c.Args) == 2 { // from one label to another, NULL the first or the last
				if !c.Args[0].IsNull(i) {
					from = int(ArgAt[uint16](c, 0, i))
				}
				if !c.Args[1].IsNull(i) {
					to = int(ArgAt[uint16](c, 1, i)) + 1
				}
			}
			var out []byte
			for k := from; k < to; k++ {
				out = sqltype.AppendElement(out, sqltype.NewString(labels[k]))
			}
			return c.Heap.Bytes(out)
		}), true
	}
	return nil, false
}
