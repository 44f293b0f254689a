package main

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"sort"
	"strings"
	"sync"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

const partitions, rowsEach, pageSize, ranges = 20, 5000, 5000, 16

func (s scenario) collections() {
	key := []any{"ada", 1843, gocql.TimeUUID()}
	where := " WHERE author = ? AND year = ? AND written = ?"
	change := func(what string, values ...any) {
		s.run("UPDATE posts SET "+what+where, append(values, key...)...)
	}
	change("title = ?, words = ?, tags = ?, drafts = ?", "Notes", map[string]int{"engine": 2}, []string{"math"},
		[]string{"one", "two"})
	change("words = words + ?", map[string]int{"loop": 7})
	change("words[?] = ?", "number", 9)
	change("tags = tags + ?", []string{"poetry", "art"})
	change("tags = tags - ?", []string{"math"})
	change("drafts = drafts + ?", []string{"three"})
	change("drafts = ? + drafts", []string{"zero"})
	change("drafts[?] = ?", 1, "ONE")
	change("drafts = drafts - ?", []string{"two"})
	s.run("DELETE words[?] FROM posts"+where, append([]any{"engine"}, key...)...)
	same("collections that were changed", "[drafts [zero ONE three], tags [art poetry], words map[loop:7 number:9]]",
		s.rows("SELECT words, tags, drafts FROM posts"+where, key...))
	change("words = ?, tags = ?", map[string]int{}, nil)
	same("emptied", "[tags [], words map[]]", s.rows("SELECT words, tags FROM posts"+where, key...))
	s.run("UPDATE posts SET motto = 'poetical science' WHERE author = 'ada' AND year = 1843")
	same("a static column", "[motto poetical science, title Notes]", s.rows("SELECT title, motto FROM posts"+where, key...))
}

func (s scenario) prepared() {
	for statement, wanted := range map[string]string{
		"SELECT title FROM posts WHERE author = ? AND year = ?": "[0 1]",
		"SELECT title FROM posts WHERE year = ? AND author = ?": "[1 0]",
		"SELECT owner FROM accounts WHERE id = ?":               "[0]",
	} {
		told, err := s.StatementMetadata(context.Background(), statement, keyspace)
		must(statement, err)
		same("the places of the partition key in "+statement, wanted, told.PKBindColumnIndexes)
	}
	same("values by their place", "[title Notes]",
		s.rows("SELECT title FROM posts WHERE year = ? AND author = ?", 1843, "ada"))
	for id := range 5 {
		s.run("INSERT INTO accounts (id, owner, city) VALUES (?, ?, ?)", id, fmt.Sprint("owner ", id), "Turku")
	}
	found := s.rows("SELECT id FROM accounts WHERE id IN ?", []int{4, 3, 1, 9})
	sort.Strings(found)
	same("a list for IN", "[id 1 id 3 id 4]", found)
	same("a limit", 2, len(s.rows("SELECT id FROM accounts LIMIT ?", 2)))
	same("an index", 5, len(s.rows("SELECT id FROM accounts WHERE city = ?", "Turku")))
}

func (s scenario) keyspaces() {
	other := connect(cluster())
	defer other.Close()
	err := other.Query("SELECT * FROM accounts").Exec()
	refused[*gocql.RequestErrInvalid]("no keyspace", "No keyspace has been specified", err)
	var count int
	err = other.Query("SELECT count(*) FROM accounts").SetKeyspace(keyspace).Scan(&count)
	must("the keyspace of one statement", err)
	same("the keyspace of one statement", 5, count)
	// The driver leaves USE to the configuration, which says it on every connection.
	config := cluster()
	config.Logger = gocql.NewLogger(gocql.LogLevelNone)
	config.Keyspace = "nowhere"
	_, err = config.CreateSession()
	same("no such keyspace", true, err != nil)
}

func (s scenario) batches() {
	for _, kind := range []gocql.BatchType{gocql.LoggedBatch, gocql.UnloggedBatch} {
		batch := s.Batch(kind).WithTimestamp(time.Now().UnixMicro())
		batch.Query("INSERT INTO accounts (id, owner) VALUES (?, ?)", 10, fmt.Sprint("kind ", kind))
		batch.Query("INSERT INTO accounts (id, owner) VALUES (11, 'text')")
		must("a batch", batch.Exec())
		found := s.rows("SELECT id, owner FROM accounts WHERE id IN (10, 11)")
		same(fmt.Sprint("a batch of kind ", kind), fmt.Sprintf("[id 10, owner kind %d id 11, owner text]", kind), found)
	}
	batch := s.Batch(gocql.LoggedBatch)
	batch.Query("UPDATE counts SET n = n + 1 WHERE id = 'a'")
	refused[*gocql.RequestErrInvalid]("a counter in a batch of others",
		"Cannot include a counter statement in a logged batch", batch.Exec())
}

func (s scenario) conditions() {
	insert := "INSERT INTO accounts (id, owner, city) VALUES (?, ?, ?) IF NOT EXISTS"
	try := func(what string, wanted bool, row string, statement string, values ...any) {
		there := map[string]any{}
		applied, err := s.Query(statement, values...).MapScanCAS(there)
		must(what, err)
		same(what, wanted, applied)
		same(what+": the row", row, written(there))
	}
	try("a row that was not there", true, "", insert, 20, "ada", "Turku")
	try("a row that was there", false, "city Turku, id 20, owner ada", insert, 20, "bob", "Oulu")
	update := "UPDATE accounts SET owner = ? WHERE id = ? IF owner = ?"
	try("another owner", false, "owner ada", update, "eve", 20, "mallory")
	try("the owner", true, "", update, "eve", 20, "ada")
	try("no such row", false, "", "DELETE FROM accounts WHERE id = 21 IF EXISTS")
	batch := s.Batch(gocql.LoggedBatch)
	batch.Query("UPDATE accounts SET owner = ? WHERE id = ? IF owner = ?", "zoe", 20, "ada")
	batch.Query("UPDATE accounts SET city = ? WHERE id = ?", "Espoo", 20)
	applied, rows, err := batch.MapExecCAS(map[string]any{})
	must("a batch that does not hold", err)
	must("its rows", rows.Close())
	same("a batch that does not hold", false, applied)
	same("what is there", "[city Turku, owner eve]", s.rows("SELECT owner, city FROM accounts WHERE id = 20"))
}

func (s scenario) counters() {
	s.run("UPDATE counts SET n = n + ? WHERE id = ?", int64(5), "a")
	batch := s.Batch(gocql.CounterBatch)
	batch.Query("UPDATE counts SET n = n - 2 WHERE id = 'a'")
	must("a batch of counters", batch.Exec())
	same("a counter", "[id a, n 3]", s.rows("SELECT * FROM counts"))
}

func (s scenario) times() {
	s.run("INSERT INTO accounts (id, owner) VALUES (30, ?) USING TTL 1000", "short")
	var written, left int64
	must("times", s.Query("SELECT writetime(owner), ttl(owner) FROM accounts WHERE id = 30").Scan(&written, &left))
	same("the client said when", true, math.Abs(float64(time.Now().UnixMicro()-written)) < 60e6)
	same("time left", true, 900 < left && left <= 1000)
	must("older", s.Query("UPDATE accounts SET owner = 'old' WHERE id = 30").WithTimestamp(1).Exec())
	same("what is older", "[owner short]", s.rows("SELECT owner FROM accounts WHERE id = 30"))
}

// fill writes all the numbers, several batches at a time.
func (s scenario) fill() {
	work := make(chan [2]int)
	var workers sync.WaitGroup
	for range 16 {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for at := range work {
				batch := s.Batch(gocql.UnloggedBatch)
				for number := at[1]; number < at[1]+100; number++ {
					batch.Query("INSERT INTO numbers (part, number, square) VALUES (?, ?, ?)", at[0], number, int64(number*number))
				}
				must("numbers", batch.Exec())
			}
		}()
	}
	for start := 0; start < rowsEach; start += 100 {
		for part := range partitions {
			work <- [2]int{part, start}
		}
	}
	close(work)
	workers.Wait()
}

func (s scenario) paging() {
	s.fill()
	iter := s.Query("SELECT part, number, square FROM numbers").PageSize(pageSize).Prefetch(0).Iter()
	next := map[int]int{}
	var part, number, rows, pages int
	var square, sum int64
	for iter.Scan(&part, &number, &square) {
		if number != next[part] {
			fail("row %d of %d comes where %d should", number, part, next[part])
		}
		next[part]++
		rows++
		sum += square
		if iter.WillSwitchPage() {
			pages++
		}
	}
	must("pages", iter.Close())
	wanted := int64(0)
	for number := range int64(rowsEach) {
		wanted += number * number * partitions
	}
	same("rows, all in order", partitions*rowsEach, rows)
	same("their sum", wanted, sum)
	same("pages", true, pages == partitions*rowsEach/pageSize || pages == partitions*rowsEach/pageSize-1)

	select10 := s.Query("SELECT number FROM numbers WHERE part = 7").PageSize(10)
	first := select10.PageState(nil).Iter()
	state := first.PageState()
	must("a page", first.Close())
	second := select10.PageState(state).Iter()
	same("the rows of the next page", 10, second.NumRows())
	second.Scan(&number)
	must("the next page", second.Close())
	same("the next page", 10, number)
	backwards := s.Query("SELECT number FROM numbers WHERE part = 7 ORDER BY number DESC LIMIT 2500").PageSize(1000).Iter()
	for wanted := rowsEach - 1; backwards.Scan(&number); wanted-- {
		if number != wanted {
			fail("backwards: %d instead of %d", number, wanted)
		}
	}
	must("backwards", backwards.Close())
	same("pages backwards, up to a limit", rowsEach-2500, number)
}

// bounds divides all tokens into ranges, each after one bound and up to the next.
func bounds() (found []any) {
	low, high := big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64)
	isRandom := strings.HasSuffix(partitioner, ".RandomPartitioner")
	if isRandom {
		low, high = big.NewInt(-1), new(big.Int).Lsh(big.NewInt(1), 127)
	}
	step := new(big.Int).Div(new(big.Int).Sub(high, low), big.NewInt(ranges))
	for range ranges {
		found = append(found, low)
		low = new(big.Int).Add(low, step)
	}
	found = append(found, high)
	if !isRandom {
		for at := range found {
			found[at] = found[at].(*big.Int).Int64()
		}
	}
	return found
}

func (s scenario) tokenRanges() {
	seen := map[int]bool{}
	var part int
	bounds := bounds()
	for at := range ranges {
		iter := s.Query("SELECT DISTINCT part FROM numbers WHERE token(part) > ? AND token(part) <= ?",
			bounds[at], bounds[at+1]).Iter()
		for iter.Scan(&part) {
			same(fmt.Sprint("partition ", part, " once"), false, seen[part])
			seen[part] = true
		}
		must("a range of tokens", iter.Close())
	}
	same("all partitions, by their tokens", partitions, len(seen))
}

func (s scenario) errors() {
	try := func(statement string, values ...any) error { return s.Query(statement, values...).Exec() }
	refused[*gocql.RequestErrSyntax]("no statement", "line 1:0 no viable alternative", try("SELEC * FROM posts"))
	refused[*gocql.RequestErrInvalid]("no table", "unconfigured", try("SELECT * FROM nowhere"))
	refused[*gocql.RequestErrInvalid]("no column", "Undefined column name nothing", try("SELECT nothing FROM posts"))
	refused[*gocql.RequestErrInvalid]("a value of another type", "Invalid STRING constant",
		try("INSERT INTO accounts (id) VALUES ('x')"))
	refused[*gocql.RequestErrInvalid]("no such statement to prepare", "unconfigured",
		try("SELECT * FROM nowhere WHERE id = ?", 1))
	err := try("CREATE TABLE accounts (id int PRIMARY KEY)")
	refused[*gocql.RequestErrAlreadyExists]("a table that is there", "", err)
	same("its name", keyspace+".accounts", err.(*gocql.RequestErrAlreadyExists).Keyspace+"."+
		err.(*gocql.RequestErrAlreadyExists).Table)
	refused[*gocql.RequestErrAlreadyExists]("a keyspace that is there", "", try("CREATE KEYSPACE "+keyspace+replication))

	// A prepared statement goes on after the table has changed, and shows the change.
	columns := func() string {
		var names []string
		iter := s.Query("SELECT * FROM accounts WHERE id = ?", 20).Iter()
		for _, column := range iter.Columns() {
			names = append(names, column.Name)
		}
		must("a statement prepared before", iter.Close())
		return strings.Join(names, " ")
	}
	same("before", "id city owner", columns())
	s.run("ALTER TABLE accounts ADD phone text")
	same("after", "id city owner phone", columns())
	s.run("DROP TABLE accounts")
	refused[*gocql.RequestErrInvalid]("after the end", "unconfigured", try("SELECT * FROM accounts WHERE id = ?", 20))
	s.run("CREATE TABLE accounts (id int PRIMARY KEY, name text)")
	same("and when it is there again", "id name", columns())
}
