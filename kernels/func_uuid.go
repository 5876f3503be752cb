package kernels

import (
	"crypto/rand"
	"encoding/binary"
	"time"

	"github.com/gpusql/gpusql/sqltype"
)

// uuidFuncs make UUIDs.
func uuidFuncs(name string, _ []sqltype.Type, _ sqltype.Type, _ []*sqltype.Datum) (ScalarFunc, bool) {
	switch name {
	case "gen_random_uuid":
		return Func0(func(*Heap) (sqltype.Int128, error) { return randomUUID(4, nil), nil }), true
	case "uuidv7":
		return Func0(func(*Heap) (sqltype.Int128, error) {
			var ms [8]byte
			binary.BigEndian.PutUint64(ms[:], uint64(time.Now().UnixMilli())<<16)
			return randomUUID(7, ms[:6]), nil
		}), true
	}
	return nil, false
}

// randomUUID is a UUID of RFC 9562 that begins with prefix and is random elsewhere.
func randomUUID(version byte, prefix []byte) sqltype.Int128 {
	var b [16]byte
	rand.Read(b[:]) //nolint:errcheck // it never fails
	copy(b[:], prefix)
	b[6] = b[6]&0x0F | version<<4
	b[8] = b[8]&0x3F | 0x80
	return sqltype.UUIDOf(b)
}
