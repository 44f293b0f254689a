//go:build !windows

package thriftstore

import "syscall"

const terminate = syscall.SIGTERM
