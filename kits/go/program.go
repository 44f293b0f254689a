package thriftstore

import (
	"fmt"
	"os"
	"os/exec"
)

const (
	variable    = "THRIFTSTORE"
	programName = "thriftstore"
)

// findProgram returns the path of the program: that in the environment's THRIFTSTORE, else the one in PATH. A Go module
// consists of source files, so the package contains no program.
func findProgram() (string, error) {
	if named := os.Getenv(variable); named != "" {
		path, err := exec.LookPath(named)
		if err != nil {
			return "", fmt.Errorf("%s is %s, which is not an executable file: %w", variable, named, err)
		}
		return path, nil
	}
	path, err := exec.LookPath(programName)
	if err != nil {
		return "", fmt.Errorf("there is no program %s: set %s in the environment to its path, or install it in a folder"+
			" of PATH; this package contains none", programName, variable)
	}
	return path, nil
}
