//go:build ignore

// Command pack writes the module as a module proxy serves it: pack DIRECTORY VERSION. It is run in the module's folder.
package main

import (
	"archive/zip"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
)

const module = "thriftstore.dev/thriftstore"

func main() {
	directory, version := os.Args[1], os.Args[2]
	if err := pack(filepath.Join(directory, filepath.FromSlash(module), "@v"), version); err != nil {
		log.Fatal(err)
	}
}

func pack(folder, version string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	definition, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	info := fmt.Sprintf(`{"Version":%q,"Time":"2026-01-01T00:00:00Z"}`, version)
	for name, content := range map[string]string{"list": version + "\n", version + ".info": info, version + ".mod": string(definition)} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return archive(filepath.Join(folder, version+".zip"), version)
}

func archive(path, version string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	writer := zip.NewWriter(file)
	names, err := filepath.Glob("*")
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == "pack.go" || name != "go.mod" && name != "README.md" && !strings.HasSuffix(name, ".go") {
			continue
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		entry, err := writer.Create(module + "@" + version + "/" + name)
		if err != nil {
			return err
		}
		if _, err := entry.Write(content); err != nil {
			return err
		}
	}
	return writer.Close()
}
