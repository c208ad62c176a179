# Two commands do all the set-up: make demo, make test.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --warn-undefined-variables

BIN := .cache/bin
GO ?= go
FUZZTIME ?= 30s
HTTP ?=

.PHONY: help
help: ## List the targets.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

.PHONY: build
build: ## Build toolgen and the demo into .cache/bin.
	@mkdir -p $(BIN)
	@$(GO) build -o $(BIN)/ ./cmd/toolgen ./examples/demo

.PHONY: demo
demo: build ## Generate, make a database, serve it over MCP and call the tools.
	$(BIN)/toolgen -q
	rm -rf .cache/demo
	$(BIN)/demo tour

.PHONY: serve
serve: build ## Leave the demo's server running on stdio; HTTP=127.0.0.1:8080 for HTTP.
	@exec $(BIN)/demo serve $(if $(HTTP),-http $(HTTP))

.PHONY: test
test: mcp-deps ## Run every test, with the race detector.
	$(GO) test -race ./...
	$(GO) test -run 'Allocations|Register1000' ./runtime/... # exact without the race detector
	cd examples/bench && $(GO) test ./... # a module of its own: it compiles PostgreSQL's parser from C

.PHONY: lint
lint: $(BIN)/golangci-lint ## Run the linters.
	$(BIN)/golangci-lint run ./...

.PHONY: generate
generate: ## Write generated files.
	$(GO) generate ./...

.PHONY: check
check: build ## Fail if generated files are out of date, and look at what models read.
	$(BIN)/toolgen check
	$(BIN)/toolgen lint

.PHONY: bench
bench: ## Print ratios and allocations.
	$(GO) test -run '^$$' -bench . -benchtime 1s ./runtime/...
	$(GO) test -run '^$$' -bench . -benchtime 1x ./gen

.PHONY: coverage
coverage: ## Make tools of every method of 14 client libraries, and print the shares.
	cd gen/testdata/corpus && $(GO) vet ./... && $(GO) run .

.PHONY: soak
soak: ## Run what takes long: agents killed until they are through, 200 a store; 10,000 texts.
	TOOLGEN_SOAK=20 $(GO) test -run 'Kill' -v ./runtime/wrap
	TOOLGEN_SOAK=20 $(GO) test -run 'S18|V4' -v ./runtime/toolset/...

.PHONY: fuzz
fuzz: ## Fuzz what reads untrusted bytes, FUZZTIME each.
	$(GO) test -run '^$$' -fuzz '^FuzzMedium$$' -fuzztime $(FUZZTIME) ./runtime/toolimpl
	$(GO) test -run '^$$' -fuzz '^FuzzRules$$' -fuzztime $(FUZZTIME) ./runtime/toolimpl
	$(GO) test -run '^$$' -fuzz '^FuzzAny$$' -fuzztime $(FUZZTIME) ./runtime/toolimpl
	$(GO) test -run '^$$' -fuzz '^FuzzMask$$' -fuzztime $(FUZZTIME) ./runtime/secret
	$(GO) test -run '^$$' -fuzz '^FuzzParse$$' -fuzztime $(FUZZTIME) ./runtime/connection
	$(GO) test -run '^$$' -fuzz '^FuzzGuard$$' -fuzztime $(FUZZTIME) ./runtime/toolset/sqltool/sqlite
	$(GO) test -run '^$$' -fuzz '^FuzzGuard$$' -fuzztime $(FUZZTIME) ./runtime/toolset/sqltool/postgres
	$(GO) test -run '^$$' -fuzz '^FuzzAppendString$$' -fuzztime $(FUZZTIME) ./runtime/schema
	$(GO) test -run '^$$' -fuzz '^FuzzCompare$$' -fuzztime $(FUZZTIME) ./gen/internal/lock
	$(GO) test -run '^$$' -fuzz '^FuzzParse$$' -fuzztime $(FUZZTIME) ./gen/internal/directive
	$(GO) test -run '^$$' -fuzz '^FuzzParse$$' -fuzztime $(FUZZTIME) ./gen/internal/config
	$(GO) test -run '^$$' -fuzz '^FuzzParse$$' -fuzztime $(FUZZTIME) ./gen/internal/doccomment

$(BIN)/golangci-lint: .lint/go.mod .lint/go.sum
	@mkdir -p $(BIN)
	cd .lint && $(GO) build -o ../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

# The MCP conformance suite and the Node.js that it needs, from npm.
NPM := .cache/npm

.PHONY: mcp-deps
mcp-deps: $(NPM)/conf1/.done $(NPM)/conf2/.done $(NPM)/node/.done ## Install the MCP conformance suite from npm.

$(NPM)/node/.done:  PACKAGE := node@22.23.3
$(NPM)/conf1/.done: PACKAGE := @modelcontextprotocol/conformance@0.1.16
$(NPM)/conf2/.done: PACKAGE := @modelcontextprotocol/conformance@0.2.0-alpha.12
$(NPM)/%/.done: Makefile
	@mkdir -p $(@D)
	npm --prefix $(@D) install --no-audit --no-fund --silent $(PACKAGE)
	@touch $@
