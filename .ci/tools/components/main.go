// Command components prints which Go modules a program consists of, as a CycloneDX document
// in JSON. It reads them from the program itself, so that the document lists what was
// compiled into it, and the same program has the same document.
//
//	components caddy.exe >caddy.cdx.json
package main

import (
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: components PROGRAM")
		os.Exit(2)
	}
	if err := write(os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "components:", err)
		os.Exit(1)
	}
}

// write writes the document of a program.
func write(w io.Writer, program string) error {
	build, err := buildinfo.ReadFile(program)
	if err != nil {
		return fmt.Errorf("reading build information: %w", err)
	}
	if err := cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).Encode(document(build)); err != nil {
		return fmt.Errorf("writing document: %w", err)
	}
	return nil
}

// document returns the document of a program: the program itself, and the modules and the
// standard library that it contains.
func document(build *debug.BuildInfo) *cdx.BOM {
	program := component(&build.Main)
	program.Type = cdx.ComponentTypeApplication
	std := strings.TrimPrefix(strings.Fields(build.GoVersion)[0], "go") // "go1.26.8 X:experiment"
	parts := []cdx.Component{component(&debug.Module{Path: "std", Version: "v" + std})}
	for _, module := range build.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		parts = append(parts, component(module))
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &program}
	bom.Components = &parts
	return bom
}

// component returns the entry of a module.
func component(module *debug.Module) cdx.Component {
	url := "pkg:golang/" + module.Path + "@" + module.Version
	return cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: url, Name: module.Path, Version: module.Version, PackageURL: url}
}
