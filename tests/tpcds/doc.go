// Package tpcds makes data with the schema, the relations, the value domains
// and the skew of TPC-DS, as Arrow records, and says what its tables look like.
// It does not copy the official generator value for value: the specification's
// words and distributions are cut down to what its queries tell apart.
//
//	draws of a row (rand.go) ─┐
//	words (words.go) ─────────┼─▶ dimensions (calendar.go, goods.go, people.go, places.go) ─┐
//	baskets (basket.go) ──────┴─▶ sales and their returns (sales.go), inventory ────────────┴─▶ records (gen.go)
//
// Invariants:
//
//  1. A row is a function of its table, its number and the scale: every row
//     has random draws of its own, so that tables can be made in any order and
//     one can look up what another will hold.
//  2. A foreign key names a row that exists, or is NULL in a table of facts.
//  3. At scale 1 every table has the specification's number of rows. Below,
//     facts shrink with the scale, customers and addresses too, items with its
//     root, and the small dimensions not at all.
//  4. Nothing here is part of the engine.
package tpcds
