// Package catalog is what the planner knows by name: tables, indexes, views,
// sequences, types and functions, those that were created too.
//
//	FROM t     --Reader.Table--->  *Table{Columns, Indexes, Checks}    (one version; storage writes the next)
//	f(a, b)    --ResolveScalar-->  Resolved{Func, Args, Result}        (built in, the same for all)
//	           --no such name--->  "did you mean ...?"  by Suggest
//
// A function is a family of signatures under a canonical name and its aliases.
// A call means the signature that its arguments fit with the least conversion;
// what depends on the arguments' types more than a list can say (DECIMAL
// arithmetic) is a rule.
//
// Invariants:
//
//  1. The package imports sqltype alone, and holds no code of functions: exec
//     finds that by Func.Name and the argument types.
//  2. What a Reader returns never changes; a change of definition makes new values.
//  3. A Resolved call is complete: arguments cast to Args, the code gives Result.
//  4. All functions that share a FuncID have the same Volatile, Stable and NullIn.
//  5. The tables of information_schema and pg_catalog are made of a Contents, and
//     say what is so in its version.
//  6. Statistics may be stale and decide about speed only.
package catalog
