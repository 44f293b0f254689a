// Command library is the library of ../README.md on a generated client: library LINE HOST PORT.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"reflect"

	"library/cassandra"

	"github.com/apache/thrift/lib/go/thrift"
)

var (
	ctx    = context.Background()
	checks = 0
)

func main() {
	line, address := os.Args[1], net.JoinHostPort(os.Args[2], os.Args[3])
	configuration := &thrift.TConfiguration{}
	transport := thrift.NewTFramedTransportConf(thrift.NewTSocketConf(address, configuration), configuration)
	must(transport.Open())
	defer func() {
		transport.Close()
		fmt.Println(checks, "checks")
		if failure := recover(); failure != nil {
			fmt.Println(failure)
			os.Exit(1)
		}
	}()
	client := cassandra.NewCassandraClientFactory(transport, thrift.NewTBinaryProtocolFactoryConf(configuration))
	newLibrary(line, client).run()
}

// must stops the scenario: what it is about are answers, and each call has one that is right.
func must(err error) {
	if err != nil {
		panic(fmt.Sprintf("%T: %v", err, err))
	}
}

// got is the answer of a call that must not fail.
func got[T any](answer T, err error) T {
	must(err)
	return answer
}

func check(what string, found, expected any) {
	checks++
	if !reflect.DeepEqual(found, expected) {
		panic(fmt.Sprintf("%s: expected %v, found %v", what, expected, found))
	}
}

func isInvalid(err error) bool {
	var invalid *cassandra.InvalidRequestException
	return errors.As(err, &invalid)
}

func isNotFound(err error) bool {
	var missing *cassandra.NotFoundException
	return errors.As(err, &missing)
}

func refused(what string, kind func(error) bool, err error) {
	checks++
	if !kind(err) {
		panic(fmt.Sprintf("%s: found %T: %v", what, err, err))
	}
}

// failure drops the answer of a call that has to fail.
func failure(_ any, err error) error {
	return err
}
