module github.com/caddy-ai-gateway/caddy-ai-gateway/.ci/lint

go 1.26.0

require (
	codeberg.org/polyfloyd/go-errorlint v1.9.0
	github.com/charithe/durationcheck v0.0.11
	github.com/golangci/unconvert v0.0.0-20250410112200-a129a6e6413e
	github.com/gordonklaus/ineffassign v0.2.0
	github.com/nishanths/predeclared v0.2.2
	github.com/sanposhiho/wastedassign/v2 v2.1.0
	github.com/sashamelentyev/usestdlibvars v1.29.0
	golang.org/x/tools v0.43.0
	honnef.co/go/tools v0.7.0
	mvdan.cc/unparam v0.0.0-20251027182757-5beb8c8f8f15
)

require (
	github.com/BurntSushi/toml v1.4.1-0.20240526193622-a339e1f7089c // indirect
	golang.org/x/exp/typeparams v0.0.0-20231108232855-2478ac86f678 // indirect
	golang.org/x/mod v0.34.0 // indirect
	golang.org/x/sync v0.20.0 // indirect
	golang.org/x/text v0.22.0 // indirect
)
