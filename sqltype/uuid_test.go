package sqltype

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUUID(t *testing.T) {
	const text = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
	for _, same := range []string{text, "{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}", "a0eebc999c0b4ef8bb6d6bb9bd380a11", "a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11"} {
		d, err := ParseDatum(same, UUID)
		require.NoError(t, err, same)
		require.Equal(t, text, d.String())
	}
	for _, bad := range []string{"", "a0ee", text + "0", text[:35], text[:35] + "g", "-" + text, text + "-", "a0eebc99--9c0b-4ef8-bb6d-6bb9bd380a11", "a0-eebc999c0b4ef8bb6d6bb9bd380a11"} {
		_, err := ParseDatum(bad, UUID)
		require.Error(t, err, bad)
	}
	var last Datum
	for i, text := range []string{"00000000-0000-0000-0000-000000000000", "00000000-0000-0000-8000-000000000000", "7fffffff-ffff-ffff-ffff-ffffffffffff", "80000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"} {
		d, err := ParseDatum(text, UUID)
		require.NoError(t, err)
		require.True(t, i == 0 || Compare(last, d) < 0, "the order is that of the bytes")
		last = d
	}
}

func TestEnum(t *testing.T) {
	_, err := NewEnum("e", []string{"x", "y", "x"})
	require.ErrorContains(t, err, "given twice")
	_, err = NewEnum("e", make([]string, MaxLabels+1))
	require.ErrorContains(t, err, "labels")
	e, err := NewEnum("e", []string{"x", "a"})
	require.NoError(t, err)
	typ := Type{Kind: KindEnum, Enum: e}
	x, err := ParseDatum("x", typ)
	require.NoError(t, err)
	a, err := CastDatum(NewString("a"), typ)
	require.NoError(t, err)
	require.Negative(t, Compare(x, a), "labels are in their own order")
	require.Equal(t, "a", a.String())
	_, err = ParseDatum("b", typ)
	require.ErrorContains(t, err, "invalid input value for enum e")
	other, err := NewEnum("f", []string{"x"})
	require.NoError(t, err)
	require.False(t, CanCast(typ, Type{Kind: KindEnum, Enum: other}))
	_, ok := CommonType(typ, Type{Kind: KindEnum, Enum: other})
	require.False(t, ok)
}
