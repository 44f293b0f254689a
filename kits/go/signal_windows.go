package thriftstore

import "os"

// Windows has no signal that asks a process to end.
var terminate = os.Kill
