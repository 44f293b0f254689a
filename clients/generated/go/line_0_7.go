//go:build line_0_7

package main

import "library/cassandra"

// What 0.7 says otherwise: timestamps and the replication factor are required.

func stamp(timestamp int64) int64 {
	return timestamp
}

func replicateOnce(definition *cassandra.KsDef) {
	definition.ReplicationFactor = 1
}

func (l *library) later() {}
