package catalog

import "github.com/gpusql/gpusql/sqltype"

// sessionFamilies are the functions of versions and sequences, whose code asks the
// execution, and of UUIDs.
func sessionFamilies() []family {
	i64, str := sqltype.Int64, sqltype.Varchar
	return []family{
		{Func: Func{ID: FuncCurrentVersion, Stable: true}, signatures: []signature{on(i64)}},
		{Func: Func{ID: FuncNextval, Volatile: true}, signatures: []signature{on(i64, str)}},
		{Func: Func{ID: FuncCurrval, Volatile: true}, signatures: []signature{on(i64, str)}},
		{Func: Func{ID: FuncLastval, Volatile: true}, signatures: []signature{on(i64)}},
		{Func: Func{ID: FuncSetval, Volatile: true}, signatures: []signature{on(i64, str, i64, sqltype.Bool).withOptional(1)}},
		{Func: Func{ID: FuncUUID, Volatile: true}, aliases: []string{"uuid", "uuidv4"}, signatures: []signature{on(sqltype.UUID)}},
		{Func: Func{ID: FuncUUIDv7, Volatile: true}, signatures: []signature{on(sqltype.UUID)}},
	}
}

// UsesSequence reports a function whose calls must come one after the other.
func UsesSequence(id FuncID) bool { return id >= FuncNextval && id <= FuncSetval }
