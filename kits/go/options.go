package thriftstore

import "strings"

// An Option changes how a server is started.
type Option func(*options)

type options struct {
	arguments []string
}

// Config selects the configuration: a storage-conf.xml or a cassandra.yaml. Without it the server uses
// storage-conf.xml in the working directory, which is the folder of the tested package, else the built-in one.
func Config(file string) Option {
	return Arguments("--config", file)
}

// Compat selects the release whose behaviour calls get, such as "1.2". It may be given once for each API generation.
func Compat(release string) Option {
	return Arguments("--compat", release)
}

// Load loads a file at the start: CQL statements if its name ends with .cql, rows if it ends with .json.
func Load(file string) Option {
	return Arguments("--load", file)
}

// Arguments adds arguments of "thriftstore serve".
func Arguments(arguments ...string) Option {
	return func(o *options) { o.arguments = append(o.arguments, arguments...) }
}

func optionsOf(list []Option) options {
	var o options
	for _, option := range list {
		option(&o)
	}
	return o
}

// key returns the same text for the same options.
func (o options) key() string {
	return strings.Join(o.arguments, "\x00")
}
