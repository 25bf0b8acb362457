// Lint examines the packages that its arguments name, with their tests, by the rules that are
// listed here: those of vet, Staticcheck and some smaller analyzers. A rule is here because it has found a
// defect of this code, or a comment that was no longer true.
//
// It prints a line for each finding, and its status is 1 if there is one. A comment
// "//lint:ignore RULE reason" above a line excepts the line.
package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"

	"codeberg.org/polyfloyd/go-errorlint/errorlint"
	"github.com/charithe/durationcheck"
	"github.com/golangci/unconvert"
	"github.com/gordonklaus/ineffassign/pkg/ineffassign"
	"github.com/nishanths/predeclared/passes/predeclared"
	"github.com/sanposhiho/wastedassign/v2"
	"github.com/sashamelentyev/usestdlibvars/pkg/analyzer"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/appends"
	"golang.org/x/tools/go/analysis/passes/asmdecl"
	"golang.org/x/tools/go/analysis/passes/assign"
	"golang.org/x/tools/go/analysis/passes/atomic"
	"golang.org/x/tools/go/analysis/passes/bools"
	"golang.org/x/tools/go/analysis/passes/buildssa"
	"golang.org/x/tools/go/analysis/passes/buildtag"
	"golang.org/x/tools/go/analysis/passes/cgocall"
	"golang.org/x/tools/go/analysis/passes/composite"
	"golang.org/x/tools/go/analysis/passes/copylock"
	"golang.org/x/tools/go/analysis/passes/defers"
	"golang.org/x/tools/go/analysis/passes/directive"
	"golang.org/x/tools/go/analysis/passes/errorsas"
	"golang.org/x/tools/go/analysis/passes/framepointer"
	"golang.org/x/tools/go/analysis/passes/hostport"
	"golang.org/x/tools/go/analysis/passes/httpresponse"
	"golang.org/x/tools/go/analysis/passes/ifaceassert"
	"golang.org/x/tools/go/analysis/passes/lostcancel"
	"golang.org/x/tools/go/analysis/passes/modernize"
	"golang.org/x/tools/go/analysis/passes/nilfunc"
	"golang.org/x/tools/go/analysis/passes/printf"
	"golang.org/x/tools/go/analysis/passes/shift"
	"golang.org/x/tools/go/analysis/passes/sigchanyzer"
	"golang.org/x/tools/go/analysis/passes/slog"
	"golang.org/x/tools/go/analysis/passes/stdmethods"
	"golang.org/x/tools/go/analysis/passes/stdversion"
	"golang.org/x/tools/go/analysis/passes/stringintconv"
	"golang.org/x/tools/go/analysis/passes/structtag"
	"golang.org/x/tools/go/analysis/passes/testinggoroutine"
	"golang.org/x/tools/go/analysis/passes/tests"
	"golang.org/x/tools/go/analysis/passes/timeformat"
	"golang.org/x/tools/go/analysis/passes/unmarshal"
	"golang.org/x/tools/go/analysis/passes/unreachable"
	"golang.org/x/tools/go/analysis/passes/unsafeptr"
	"golang.org/x/tools/go/analysis/passes/unusedresult"
	"golang.org/x/tools/go/analysis/passes/waitgroup"
	"golang.org/x/tools/go/packages"
	"honnef.co/go/tools/lintcmd"
	"honnef.co/go/tools/quickfix"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
	"honnef.co/go/tools/unused"
	"mvdan.cc/unparam/check"
)

// Comments of exported names begin with the name (ST1020 to ST1022). Packages have one comment
// (ST1000), which a test demands; names of the wire formats keep their case (ST1003); conditions may
// be negated as a whole (QF1001); selectors may name an embedded field (QF1008).
const checks = "all,-ST1000,-ST1003,-QF1001,-QF1008"

func main() {
	command := lintcmd.NewCommand("lint")
	command.ParseFlags(append([]string{"-checks", checks}, os.Args[1:]...))
	command.AddAnalyzers(simple.Analyzers...)
	command.AddAnalyzers(staticcheck.Analyzers...)
	command.AddAnalyzers(stylecheck.Analyzers...)
	command.AddAnalyzers(quickfix.Analyzers...)
	command.AddAnalyzers(unused.Analyzer)
	command.AddBareAnalyzers(vet...)
	command.AddBareAnalyzers(modern()...)
	command.AddBareAnalyzers(
		durationcheck.Analyzer, // products of two durations
		wrappedErrors(),
		resolved(ineffassign.Analyzer),
		predeclared.Analyzer, // names that hide those of the language
		conversions,
		parameters,
		analyzer.New(), // numbers and texts that net/http has names for
		wastedassign.Analyzer,
	)
	command.Run()
}

// vet is what "go vet" runs.
var vet = []*analysis.Analyzer{
	appends.Analyzer,
	asmdecl.Analyzer,
	assign.Analyzer,
	atomic.Analyzer,
	bools.Analyzer,
	buildtag.Analyzer,
	cgocall.Analyzer,
	composite.Analyzer,
	copylock.Analyzer,
	defers.Analyzer,
	directive.Analyzer,
	errorsas.Analyzer,
	framepointer.Analyzer,
	hostport.Analyzer,
	resolved(httpresponse.Analyzer),
	ifaceassert.Analyzer,
	lostcancel.Analyzer,
	nilfunc.Analyzer,
	printf.Analyzer,
	shift.Analyzer,
	resolved(sigchanyzer.Analyzer),
	slog.Analyzer,
	stdmethods.Analyzer,
	stdversion.Analyzer,
	stringintconv.Analyzer,
	structtag.Analyzer,
	resolved(testinggoroutine.Analyzer),
	tests.Analyzer,
	timeformat.Analyzer,
	unmarshal.Analyzer,
	resolved(unreachable.Analyzer),
	unsafeptr.Analyzer,
	unusedresult.Analyzer,
	waitgroup.Analyzer,
}

// wrappedErrors finds errors that are compared or formatted so that wrapping hides them. It
// leaves type assertions alone: errors of drivers are examined where they arrive.
func wrappedErrors() *analysis.Analyzer {
	rule := errorlint.NewAnalyzer()
	for name, value := range map[string]string{"errorf": "true", "asserts": "false"} {
		if err := rule.Flags.Set(name, value); err != nil {
			panic(err)
		}
	}
	return resolved(rule)
}

// modern returns the rules on what the language and the standard library do by now. Two of them
// have names that rules of vet have, too.
func modern() (rules []*analysis.Analyzer) {
	for _, rule := range modernize.Suite {
		renamed := *rule
		renamed.Name = "modernize_" + rule.Name
		rules = append(rules, &renamed)
	}
	return rules
}

// resolved returns a rule that needs the object of each identifier.
func resolved(rule *analysis.Analyzer) *analysis.Analyzer {
	rule.Requires = append(rule.Requires, objects)
	return rule
}

// objects sets the object of each identifier, as the parser does and lintcmd forbids it to. Rules that
// need these objects find less without them, or too much.
var objects = &analysis.Analyzer{
	Name: "objects",
	Doc:  "the object of each identifier",
	Run: func(pass *analysis.Pass) (any, error) {
		for _, file := range pass.Files {
			again, err := parser.ParseFile(token.NewFileSet(), pass.Fset.File(file.Package).Name(), nil, parser.ParseComments)
			if err != nil {
				return nil, err
			}
			others := identifiers(again)
			for i, identifier := range identifiers(file) {
				identifier.Obj = others[i].Obj
			}
		}
		return nil, nil
	},
}

// identifiers returns the identifiers of a file in their order.
func identifiers(file *ast.File) (all []*ast.Ident) {
	for node := range ast.Preorder(file) {
		if identifier, ok := node.(*ast.Ident); ok {
			all = append(all, identifier)
		}
	}
	return all
}

// conversions finds conversions of a value to the type that it has.
var conversions = &analysis.Analyzer{
	Name: "unconvert",
	Doc:  "conversions of a value to the type that it has",
	Run: func(pass *analysis.Pass) (any, error) {
		files := map[string]*token.File{}
		for _, file := range pass.Files {
			found := pass.Fset.File(file.Package)
			files[found.Name()] = found
		}
		for _, position := range unconvert.Run(pass) { // it has no offset
			line := files[position.Filename].LineStart(position.Line)
			pass.Reportf(line+token.Pos(position.Column-1), "unnecessary conversion")
		}
		return nil, nil
	},
}

// parameters finds parameters and results of functions that nobody needs.
var parameters = &analysis.Analyzer{
	Name:     "unparam",
	Doc:      "parameters and results that nobody needs",
	Requires: []*analysis.Analyzer{buildssa.Analyzer},
	Run: func(pass *analysis.Pass) (any, error) {
		checker := &check.Checker{}
		checker.Packages([]*packages.Package{{Fset: pass.Fset, Syntax: pass.Files, Types: pass.Pkg, TypesInfo: pass.TypesInfo}})
		checker.ProgramSSA(pass.ResultOf[buildssa.Analyzer].(*buildssa.SSA).Pkg.Prog)
		issues, err := checker.Check()
		for _, issue := range issues {
			pass.Reportf(issue.Pos(), "%s", issue.Message())
		}
		return nil, err
	},
}
