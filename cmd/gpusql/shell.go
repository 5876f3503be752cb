package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/gpusql/gpusql"
)

// shell is a connection and how its results are written.
type shell struct {
	db             *gpusql.DB
	conn           *gpusql.Conn
	stdout, stderr io.Writer
	format         format
	timer          bool
	interactive    bool // say what statements without rows did
	quit           bool
}

func newShell(dsn, name string, stdout, stderr io.Writer) (*shell, error) {
	f, err := newFormat(name)
	if err != nil {
		return nil, err
	}
	db, err := gpusql.Open(dsn)
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(context.Background())
	if err != nil {
		db.Close() //nolint:errcheck // there is an error already
		return nil, err
	}
	return &shell{db: db, conn: conn, stdout: stdout, stderr: stderr, format: f}, nil
}

func (sh *shell) close() {
	sh.conn.Close() //nolint:errcheck // nothing is left to be done about it
	sh.db.Close()   //nolint:errcheck // likewise
}

// text runs dot commands, each on a line of its own, and the statements
// between them; it stops at the first error.
func (sh *shell) text(text string) bool {
	for text != "" && !sh.quit {
		line, rest, _ := strings.Cut(text, "\n")
		if isCommand(line) {
			if err := sh.command(strings.TrimSpace(line)); err != nil {
				printError(sh.stderr, err)
				return false
			}
			text = rest
			continue
		}
		sql, after := cutAtCommand(text)
		if !sh.statements(sql) {
			return false
		}
		text = after
	}
	return true
}

// isCommand reports that a line is a command of the shell: .tables or \tables.
func isCommand(line string) bool {
	line = strings.TrimSpace(line)
	return len(line) > 1 && (line[0] == '.' || line[0] == '\\') && (line[1] < '0' || line[1] > '9')
}

// cutAtCommand splits a text before the first line that is a command and that
// no statement goes on over.
func cutAtCommand(text string) (sql, rest string) {
	at := 0
	for at < len(text) {
		if isCommand(strings.SplitN(text[at:], "\n", 2)[0]) && gpusql.Complete(text[:at]) {
			return text[:at], text[at:]
		}
		next := strings.IndexByte(text[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	return text, ""
}

// statements runs SQL and writes each result. An interrupt cancels it.
func (sh *shell) statements(sql string) bool {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	start := time.Now()
	err := sh.conn.Script(ctx, sql, func(rows *gpusql.Rows) error {
		if len(rows.Columns()) == 0 {
			if sh.interactive {
				fmt.Fprintln(sh.stdout, rows.Tag())
			}
			return nil
		}
		return sh.format(sh.stdout, rows)
	})
	if sh.timer {
		fmt.Fprintf(sh.stdout, "time: %s\n", time.Since(start).Round(time.Microsecond))
	}
	if err != nil {
		printError(sh.stderr, err)
	}
	return err == nil
}

// command is a dot command.
type command struct {
	name, args, about string
	run               func(sh *shell, args []string) error
}

func commands() []command {
	return []command{
		{"help", "", "this list", (*shell).help},
		{"mode", "FORMAT", "write results as " + strings.Join(formatNames(), ", "), (*shell).mode},
		{"quit", "", "leave", (*shell).leave},
		{"read", "FILE", "run a file", (*shell).read},
		{"schema", "[TABLE]", "columns of a table, or of all", (*shell).schema},
		{"tables", "", "list the tables", (*shell).tables},
		{"timer", "on|off", "show how long statements take", (*shell).setTimer},
	}
}

// command runs a line such as ".mode csv".
func (sh *shell) command(line string) error {
	words := strings.Fields(strings.TrimSuffix(line[1:], ";"))
	if words[0] == "q" || words[0] == "exit" {
		words[0] = "quit"
	}
	list := commands()
	i := slices.IndexFunc(list, func(c command) bool { return c.name == words[0] })
	if i < 0 {
		return fmt.Errorf("no command .%s; .help lists them", words[0])
	}
	return list[i].run(sh, words[1:])
}

func (sh *shell) help([]string) error {
	for _, c := range commands() {
		fmt.Fprintf(sh.stdout, ".%-7s %-8s %s\n", c.name, c.args, c.about)
	}
	fmt.Fprintln(sh.stdout, "Statements end in a semicolon. SHOW ALL lists the settings.")
	return nil
}

func (sh *shell) mode(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf(".mode needs one of %s", strings.Join(formatNames(), ", "))
	}
	f, err := newFormat(args[0])
	if err == nil {
		sh.format = f
	}
	return err
}

func (sh *shell) leave([]string) error {
	sh.quit = true
	return nil
}

func (sh *shell) read(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf(".read needs a file")
	}
	text, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	// The errors of the statements have been written.
	sh.text(string(text))
	return nil
}

func (sh *shell) tables([]string) error {
	sh.statements("SHOW TABLES")
	return nil
}

func (sh *shell) schema(args []string) error {
	names := args
	if len(names) == 0 {
		var err error
		if names, err = sh.tableNames(); err != nil {
			return err
		}
	}
	for _, n := range names {
		if !sh.statements("DESCRIBE " + n) {
			break
		}
	}
	return nil
}

// tableNames are the tables and views there are.
func (sh *shell) tableNames() ([]string, error) {
	rows, err := sh.conn.Query(context.Background(), "SHOW TABLES")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		names = append(names, rows.Value(0).String())
	}
	return names, rows.Err()
}

// columnNames are the columns of a table.
func (sh *shell) columnNames(table string) ([]string, error) {
	rows, err := sh.conn.Query(context.Background(), `DESCRIBE "`+strings.ReplaceAll(table, `"`, `""`)+`"`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		names = append(names, rows.Value(0).String())
	}
	return names, rows.Err()
}

func (sh *shell) setTimer(args []string) error {
	switch {
	case len(args) == 0:
		sh.timer = !sh.timer
	case args[0] == "on", args[0] == "off":
		sh.timer = args[0] == "on"
	default:
		return fmt.Errorf(".timer needs on or off")
	}
	return nil
}
