// Package thriftstore gives tests a database for applications that use Cassandra over Thrift or the native protocol.
//
//	func TestCart(t *testing.T) {
//		store := thriftstore.Start(t, thriftstore.Load("shop.cql"))
//		shop := NewShop(store.Thrift) // such as 127.0.0.1:40813
//		// ...
//	}
//
// [Start] gives a test the server in the state of its start, [Sandbox] a database of its own, for parallel tests. All
// tests of a test binary with the same options share one server process, which ends with the test binary.
package thriftstore
