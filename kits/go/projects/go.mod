module projects

go 1.23

require (
	github.com/apache/cassandra-gocql-driver/v2 v2.1.2
	github.com/apache/thrift v0.22.0
	thriftstore.dev/thriftstore v1.0.0
)

require (
	github.com/golang/snappy v0.0.3 // indirect
	github.com/pierrec/lz4/v4 v4.1.8 // indirect
	gopkg.in/inf.v0 v0.9.1 // indirect
)
