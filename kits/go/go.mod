module thriftstore.dev/thriftstore

go 1.21
