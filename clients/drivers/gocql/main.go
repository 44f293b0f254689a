// The Go driver against a server: scenario HOST CQL_PORT
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/apache/cassandra-gocql-driver/v2/lz4"
	"github.com/apache/cassandra-gocql-driver/v2/snappy"
)

const (
	keyspace    = "drivers_gocql"
	replication = " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
	timestamp   = 1249084800000000
)

var (
	host    = os.Args[1]
	port, _ = strconv.Atoi(os.Args[2])
	checks  int
	// The class of the server's partitioner.
	partitioner string
)

func fail(format string, values ...any) {
	fmt.Printf("FAILED: "+format+"\n", values...)
	os.Exit(1)
}

// same compares what is printed of the two, which is enough to tell values of one type apart.
func same(what string, wanted, found any) {
	checks++
	if fmt.Sprint(wanted) != fmt.Sprint(found) {
		fail("%s: expected %v, found %v", what, wanted, found)
	}
	fmt.Println("ok:", what)
}

func must(what string, err error) {
	if err != nil {
		fail("%s: %v", what, err)
	}
}

// refused wants an error of the driver's class E that says these words.
func refused[E error](what, words string, err error) {
	if found, is := err.(E); !is {
		fail("%s: expected %T, found %T: %v", what, found, err, err)
	} else if !strings.Contains(err.Error(), words) {
		fail("%s: expected %q, found %q", what, words, err)
	}
	same(what, true, true)
}

// eventually waits for what is told by an event.
func eventually(what string, wanted any, look func() any) {
	end := time.Now().Add(10 * time.Second)
	found := look()
	for fmt.Sprint(found) != fmt.Sprint(wanted) && time.Now().Before(end) {
		time.Sleep(20 * time.Millisecond)
		found = look()
	}
	same(what, wanted, found)
}

func cluster() *gocql.ClusterConfig {
	config := gocql.NewCluster(host)
	config.Port = port
	config.Timeout = 60 * time.Second
	config.ConnectTimeout = 30 * time.Second
	config.Consistency = gocql.One
	config.PoolConfig.HostSelectionPolicy = gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy(), gocql.ShuffleReplicas())
	config.Logger = gocql.NewLogger(gocql.LogLevelWarn)
	return config
}

func connect(config *gocql.ClusterConfig) *gocql.Session {
	session, err := config.CreateSession()
	must("connect", err)
	return session
}

// connections tries every version and compression of this driver.
func connections() {
	for _, version := range []int{0, 3, 4, 5} {
		for _, compressor := range []gocql.Compressor{nil, snappy.SnappyCompressor{}, lz4.LZ4Compressor{}} {
			if _, isSnappy := compressor.(snappy.SnappyCompressor); isSnappy && (version == 0 || version == 5) {
				continue // From version 5 on there is only LZ4.
			}
			config := cluster()
			config.ProtoVersion = version
			config.Compressor = compressor
			session := connect(config)
			var key string
			err := session.Query("SELECT key FROM system.local WHERE key = ?", "local").Scan(&key)
			must("system.local", err)
			same(fmt.Sprintf("version %d with %T", version, compressor), "local", key)
			if version == 0 {
				hosts := session.GetHosts()
				same("hosts", 1, len(hosts))
				same("tokens", true, len(hosts[0].Tokens()) > 0)
				partitioner = hosts[0].Partitioner()
			}
			session.Close()
		}
	}
}

func main() {
	connections()
	administrator := connect(cluster())
	for _, statement := range []string{
		"DROP KEYSPACE IF EXISTS " + keyspace,
		"DROP KEYSPACE IF EXISTS " + keyspace + "_told",
		"CREATE KEYSPACE " + keyspace + replication,
	} {
		must(statement, administrator.Query(statement).Exec())
	}
	administrator.Close()

	heard := &listener{}
	config := cluster()
	config.Keyspace = keyspace
	config.Metadata.SchemaListener.KeyspaceChangeListener = heard
	config.Metadata.SchemaListener.TableChangeListener = heard
	config.Metadata.SchemaListener.UserTypeChangeListener = heard
	s := scenario{connect(config), heard}
	s.createSchema()
	s.types()
	s.olderVersions()
	s.collections()
	s.prepared()
	s.keyspaces()
	s.batches()
	s.conditions()
	s.counters()
	s.times()
	s.paging()
	s.tokenRanges()
	s.schemaRead()
	s.schemaEvents()
	s.errors()
	s.Close()
	fmt.Println(checks, "checks")
}
