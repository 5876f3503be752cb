package sqltype

// MaxLabels is the most labels that an ENUM can have.
const MaxLabels = 1 << 16

// Enum is the labels of an ENUM in their order. It never changes; two types are
// the same when they have the same Enum. The nil Enum has no labels.
type Enum struct {
	Name   string // of the type, as messages show it
	labels []string
	place  map[string]int
}

// NewEnum makes the labels of a type. They must differ.
func NewEnum(name string, labels []string) (*Enum, error) {
	e := &Enum{Name: name, labels: labels, place: make(map[string]int, len(labels))}
	if len(labels) > MaxLabels {
		return nil, Errorf(CodeTooComplex, "type \"%s\" has more than %d labels", name, MaxLabels)
	}
	for i, l := range labels {
		if _, ok := e.place[l]; ok {
			return nil, Errorf(CodeDuplicateObject, "enum label %q of type \"%s\" is given twice", l, name)
		}
		e.place[l] = i
	}
	return e, nil
}

// Labels are the labels in their order, not to be changed.
func (e *Enum) Labels() []string { return e.labels }

// Label is the label at a place. A place that no label has is one of a register
// whose value is not there; its text is never shown.
func (e *Enum) Label(i int) string {
	if e == nil || i < 0 || i >= len(e.labels) {
		return ""
	}
	return e.labels[i]
}

// Find is the place of a label.
func (e *Enum) Find(label string) (int, bool) {
	i, ok := e.place[label]
	return i, ok
}

func (e *Enum) parse(text string) (int64, error) {
	if e == nil {
		return 0, invalidText(Type{Kind: KindEnum}, text)
	}
	i, ok := e.place[text]
	if !ok {
		return 0, Errorf(CodeInvalidText, "invalid input value for enum %s: %q", e.Name, text)
	}
	return int64(i), nil
}
