package gpusql_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/gpusql/gpusql"
	_ "github.com/gpusql/gpusql/driver"
)

func Example() {
	ctx := context.Background()
	db, err := gpusql.Open(":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	_, err = db.Exec(ctx, `
		CREATE TABLE planets (name VARCHAR PRIMARY KEY, moons INTEGER);
		INSERT INTO planets VALUES ('Earth', 1), ('Mars', 2), ('Venus', 0)`)
	if err != nil {
		log.Fatal(err)
	}
	rows, err := db.Query(ctx, "SELECT name, moons FROM planets WHERE moons >= $1 ORDER BY name", 1)
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var moons int
		if err := rows.Scan(&name, &moons); err != nil {
			log.Fatal(err)
		}
		fmt.Println(name, moons)
	}
	if err := rows.Err(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// Earth 1
	// Mars 2
}

func ExampleRows_Records() {
	ctx := context.Background()
	db, err := gpusql.Open("")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(ctx, "SELECT i, i * 0.5::DOUBLE AS half FROM generate_series(1, 4) AS g(i)")
	if err != nil {
		log.Fatal(err)
	}
	records := rows.Records()
	defer records.Release()
	for records.Next() {
		halves := records.RecordBatch().Column(1).(*array.Float64)
		sum := 0.0
		for _, v := range halves.Float64Values() {
			sum += v
		}
		fmt.Println(records.Schema().Field(1).Name, sum)
	}
	if err := records.Err(); err != nil {
		log.Fatal(err)
	}
	// Output: half 5
}

func ExampleConn_Appender() {
	ctx := context.Background()
	db, err := gpusql.Open("")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := conn.Exec(ctx, "CREATE TABLE points (x BIGINT, label VARCHAR)"); err != nil {
		log.Fatal(err)
	}
	a, err := conn.Appender("points")
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()

	// Rows, one by one,
	for i := range 3 {
		if err := a.Append(i, fmt.Sprint("row ", i)); err != nil {
			log.Fatal(err)
		}
	}
	// or an Arrow record, whose columns are not copied.
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "x", Type: arrow.PrimitiveTypes.Int64}, {Name: "label", Type: arrow.BinaryTypes.String},
	}, nil))
	defer b.Release()
	b.Field(0).(*array.Int64Builder).AppendValues([]int64{10, 20}, nil)
	b.Field(1).(*array.StringBuilder).AppendValues([]string{"ten", "twenty"}, nil)
	record := b.NewRecordBatch()
	defer record.Release()
	if err := a.AppendRecord(record); err != nil {
		log.Fatal(err)
	}
	n, err := a.Flush(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(n, "rows")
	// Output: 5 rows
}

func ExampleConn_Prepare() {
	ctx := context.Background()
	db, err := gpusql.Open("")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(ctx, "CREATE TABLE t (id BIGINT PRIMARY KEY, v VARCHAR)"); err != nil {
		log.Fatal(err)
	}
	insert, err := db.Prepare(ctx, "INSERT INTO t VALUES (?, ?)")
	if err != nil {
		log.Fatal(err)
	}
	defer insert.Close()
	for i, v := range []string{"zero", "one", "two"} {
		if _, err := insert.Exec(ctx, i, v); err != nil {
			log.Fatal(err)
		}
	}
	find, err := db.Prepare(ctx, "SELECT v FROM t WHERE id = ?")
	if err != nil {
		log.Fatal(err)
	}
	defer find.Close()
	rows, err := find.Query(ctx, 2)
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		fmt.Println(rows.Value(0))
	}
	// Output: two
}

func ExampleTx() {
	ctx := context.Background()
	db, err := gpusql.Open("")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(ctx, "CREATE TABLE accounts (name VARCHAR PRIMARY KEY, amount INTEGER CHECK (amount >= 0)); INSERT INTO accounts VALUES ('a', 10), ('b', 0)"); err != nil {
		log.Fatal(err)
	}
	move := func(amount int) error {
		tx, err := db.Begin(ctx)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if _, err := tx.Exec(ctx, "UPDATE accounts SET amount = amount + ? WHERE name = 'b'", amount); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "UPDATE accounts SET amount = amount - ? WHERE name = 'a'", amount); err != nil {
			return err
		}
		return tx.Commit()
	}
	fmt.Println(move(7))
	err = move(7)
	var e *gpusql.Error
	fmt.Println(errors.As(err, &e) && e.Code == "23514")
	rows, err := db.Query(ctx, "SELECT amount FROM accounts ORDER BY name")
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		fmt.Println(rows.Value(0))
	}
	// Output:
	// <nil>
	// true
	// 3
	// 7
}

// Through database/sql, after a blank import of the driver package.
func Example_databaseSQL() {
	db, err := sql.Open("gpusql", ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE t (d DATE, n INTEGER); INSERT INTO t VALUES ('2024-02-29', 1), (NULL, 2)"); err != nil {
		log.Fatal(err)
	}
	rows, err := db.Query("SELECT d, n FROM t ORDER BY n")
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var d sql.NullTime
		var n int
		if err := rows.Scan(&d, &n); err != nil {
			log.Fatal(err)
		}
		fmt.Println(d.Valid, d.Time.Format("2006-01-02"), n)
	}
	// Output:
	// true 2024-02-29 1
	// false 0001-01-01 2
}

func ExampleError() {
	db, err := gpusql.Open("")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	_, err = db.Exec(context.Background(), "SELECT 1 +\n FROM nowhere")
	var e *gpusql.Error
	if errors.As(err, &e) {
		line, column, _ := e.Position()
		fmt.Println(e.Code, line, column)
		fmt.Println(e.Caret())
	}
	// Output:
	// 42601 2 2
	//  FROM nowhere
	//  ^
}
