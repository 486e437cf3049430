# All targets run on a fresh machine with Go. The tests use the race detector if there is a C compiler.
#
#   make test           checks everything: format, vet, lint, the tests of all modules in the workspace and alone, other
#                       systems, tidy, generated files, a rehearsed release, a sample of mutants, seconds of fuzzing
#   make check          format, vet, lint and the tests of all modules in the workspace
#   make envtest        builds the API server for tests and for examples/component, and the controllers of Kubernetes for tests
#                       (part of make test)
#   make browser        tests the page of flow/why in Chromium; installs Chromium and axe-core if they are missing and it can
#                       (part of make test, which says so if it ran without them)
#   make generate       writes the generated files of examples/operator and examples/component; make test fails if they are stale
#   make release-check  rehearses a release: the zip of each module, its exported names, a program that requires it
#   make api            records the exported names in api/; make test fails if they are stale
#   make api-released, make release-diff BASE=tag, make release VERSION=version   are steps of RELEASING.md
#   make bench          runs the benchmarks of the root module
#   make bench-peers    prints the table of costs of other libraries, in about a minute
#   make bench-ctrlx    measures passes and wake-ups of ctrlx and of code by hand, with an API server, in some minutes
#   make cover          measures the coverage of the root module by its own tests, and writes cover.html
#   make fuzz           runs every fuzz target of all modules for FUZZTIME (1m)
#   make fuzz-short     the same for FUZZ_SHORT (3s), without ctrlx and the examples (part of make test)
#   make faults         makes each mistake of internal/testing/faults and requires that its test fails
#   make mutate         makes small changes of the code (mutants) and prints those that no test notices; SAMPLE=200 SEED=1
#                       tries some of them
#   make soak           kills and breaks the operators, the API server and the network of ctrlx for twenty minutes
#   make fmt            formats the Go files
#   make clean          removes bin and the coverage

MODULES    := . classify/aws classify/google classify/grpc examples benchmarks ctrlx cmd/kubectl-windlass examples/component examples/operator
FUZZTIME   ?= 1m
FUZZ_SHORT ?= 3s
GO         ?= go
CC_FOUND   := $(shell command -v $$($(GO) env CC) 2>/dev/null)
RACE       := $(if $(CC_FOUND),-race,)

.PHONY: all test check alone systems tidy generate generated browser release-check api api-released release-diff release envtest bench bench-peers bench-ctrlx cover fuzz fuzz-short faults mutate mutate-check soak fmt clean
all: test

test: check alone systems tidy generated release-check browser mutate-check fuzz-short

# check runs in the workspace.
check: bin/staticcheck envtest
	@unformatted=$$(git ls-files --cached --others --exclude-standard '*.go' | xargs -r gofmt -l); \
	if [ -n "$$unformatted" ]; then echo "not formatted, run make fmt:"; echo "$$unformatted"; exit 1; fi
	@# && joins the commands, because the shell ignores set -e on the left side of ||.
	@for m in $(MODULES); do ( set -x; cd $$m && \
		$(GO) vet ./... && \
		$(CURDIR)/bin/staticcheck ./... && \
		$(GO) test $(RACE) ./... ) || exit 1; done

# alone compiles each module and its tests without the workspace, as users get it, the root first. It also runs the tests of
# packages that count allocations or compare times. These tests skip themselves in check, because the race detector allocates
# and is slow. In ctrlx and ctrlx/component only the tests of the cost of a pass run.
RACY := {{range .TestImports}}{{.}} {{end}}{{range .XTestImports}}{{.}} {{end}}{{.ImportPath}}
alone: envtest
	@for m in $(MODULES); do ( cd $$m && export GOWORK=off && \
		tests=$$($(GO) list -f '$(RACY)' ./... | sed -n 's#.*/internal/testing/race .* ##p' | grep -vE '/ctrlx(/component)?$$'); \
		set -x; $(GO) vet ./... && { [ -z "$$tests" ] || $(GO) test $$tests; } ) || exit 1; done
	cd ctrlx && GOWORK=off $(GO) test -run 'Pass|Cost' . && GOWORK=off $(GO) test -run Cost ./component

# systems compiles the root module and its tests for other systems. It runs the tests for 32 bits if this machine can.
SYSTEMS := windows/amd64 darwin/arm64 linux/arm64 linux/386
systems:
	@out=$$(mktemp -d) && trap 'rm -rf "$$out"' EXIT && for s in $(SYSTEMS); do ( \
		export GOOS=$${s%/*} GOARCH=$${s#*/} CGO_ENABLED=0; set -x; : $$s; $(GO) vet ./... && \
		if [ $$s = linux/386 ] && $(GO) test -run '^$$' ./internal/mono >/dev/null 2>&1; then $(GO) test -vet=off ./...; \
		else $(GO) test -vet=off -ldflags '-s -w' -c -o "$$out/" ./...; fi ) || exit 1; done

tidy:
	@for m in $(MODULES) tools/lint tools/envtest tools/controller-gen tools/release tools/mutate tools/browser; do ( set -x; cd $$m && GOWORK=off $(GO) mod tidy -diff ) || exit 1; done

# generate makes the DeepCopy methods, the CRDs and the roles of two examples from their types and comments.
GENERATED := operator=kusto-operator component=shop-operator
GENERATE   = $(CURDIR)/bin/controller-gen object crd rbac:roleName=$${example\#*=} paths=./...
generate: bin/controller-gen
	@for example in $(GENERATED); do ( set -x; cd examples/$${example%=*} && \
		$(GENERATE) output:crd:dir=config/crd output:rbac:dir=config/rbac ) || exit 1; done

# generated fails if the files of generate are stale.
generated: bin/controller-gen
	@for example in $(GENERATED); do ( new=$$(mktemp -d) && trap 'rm -rf "$$new"' EXIT && cd examples/$${example%=*} && \
		$(GENERATE) output:object:dir="$$new" output:crd:dir="$$new/crd" output:rbac:dir="$$new/rbac" && \
		diff -u api/v1/zz_generated.deepcopy.go "$$new/zz_generated.deepcopy.go" && diff -ru config/crd "$$new/crd" && \
		diff -u config/rbac/role.yaml "$$new/rbac/role.yaml" ) || { echo "the generated files are stale, run make generate"; exit 1; }; done

# browser runs without Chromium or axe-core if they cannot be installed: its tests then skip themselves.
browser: bin/staticcheck
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		{ apt-get update; DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium; } >/dev/null 2>&1; } || \
		echo "make browser: Chromium is missing and was not installed: the page is not tested"
	@[ -d bin/axe/node_modules/axe-core ] || \
		{ mkdir -p bin/axe && cp tools/browser/package.json tools/browser/package-lock.json tools/browser/.npmrc bin/axe && cd bin/axe && npm ci --silent; } || \
		echo "make browser: axe-core is missing and was not installed: the page is not tested for accessibility"
	cd tools/browser && GOWORK=off $(GO) vet . && GOWORK=off $(CURDIR)/bin/staticcheck . && GOWORK=off $(GO) test .

# release-check tests the rehearsal itself, and then rehearses a release of the working tree.
RELEASE := cd tools/release && GOWORK=off $(GO) run .
release-check: bin/staticcheck
	cd tools/release && GOWORK=off $(GO) vet . && GOWORK=off $(CURDIR)/bin/staticcheck . && GOWORK=off $(GO) test .
	$(RELEASE) check

api:
	$(RELEASE) api

api-released:
	$(RELEASE) api -released

release-diff:
	@$(RELEASE) diff $(BASE)

release:
	@$(RELEASE) write $(VERSION)

bin/controller-gen: tools/controller-gen/go.mod tools/controller-gen/go.sum
	cd tools/controller-gen && GOWORK=off $(GO) build -o $(CURDIR)/bin/controller-gen sigs.k8s.io/controller-tools/cmd/controller-gen

bin/staticcheck: tools/lint/go.mod tools/lint/go.sum
	cd tools/lint && GOWORK=off $(GO) build -o $(CURDIR)/bin/staticcheck honnef.co/go/tools/cmd/staticcheck

# envtest builds the API server and the etcd for make verify and for examples/component, and the controllers of Kubernetes for
# one test, in some minutes the first time. tools/envtest pins the versions of the workspace, so that the builds share its cache.
# If KUBEBUILDER_ASSETS is set, the tests use the programs in that folder instead.
APISERVER := v1.37.2
COMPONENT := k8s.io/component-base/version
BUILD      = $(GO) build -o $(CURDIR)/bin/envtest
VERSION_OF = -ldflags "-s -w -X $(COMPONENT).gitVersion=$(APISERVER) -X $(COMPONENT).gitMajor=1 -X $(COMPONENT).gitMinor=37"
envtest: $(if $(KUBEBUILDER_ASSETS),,bin/envtest/kube-controller-manager)
bin/envtest/kube-controller-manager: tools/envtest/go.mod tools/envtest/go.sum
	@export GOWORK=off && cd tools/envtest && set -x && \
	$(BUILD)/etcd -ldflags "-s -w" go.etcd.io/etcd/server/v3 && \
	$(BUILD)/kube-apiserver $(VERSION_OF) k8s.io/kubernetes/cmd/kube-apiserver && \
	$(BUILD)/kube-controller-manager $(VERSION_OF) k8s.io/kubernetes/cmd/kube-controller-manager

# The tests of ctrlx build the small server themselves if it is missing or stale.
bin/testserver: go.work $(wildcard tools/testserver/go.* tools/testserver/*.go tools/testserver/*/*.go)
	$(GO) build -o bin/testserver ./tools/testserver

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

bench-peers:
	@cd benchmarks && $(GO) run ./peers

bench-ctrlx: envtest
	@cd ctrlx && $(GO) test -run '^$$' -bench 'Pass' . && \
		$(GO) test -run '^$$' -bench 'Controller|WakeUp' -benchtime 7x -timeout 30m . && \
		$(GO) test -run '^$$' -bench Memory -benchtime 1x . && \
		$(GO) test -run '^$$' -bench 'Memory|Changed' ./internal/index

cover:
	$(GO) test -coverpkg=./... -coverprofile=cover.out ./...
	$(GO) tool cover -func=cover.out | tail -n 1
	$(GO) tool cover -html=cover.out -o cover.html

# fuzz finds the targets in the sources of all modules: "checks/state_test.go:func FuzzState". Interesting inputs go into the
# cache of Go, failing inputs into testdata/fuzz. The limit on minimizing inputs saves most of the time.
FUZZ_TARGETS = git grep --untracked -o '^func Fuzz[A-Za-z0-9_]*' -- '*_test.go' $(FUZZ_WITHOUT)
fuzz:
	@targets=$$($(FUZZ_TARGETS)) && echo "$$targets" | while IFS=: read -r file target; do \
		( set -x; cd "$$(dirname "$$file")" && \
		$(GO) test -run '^$$' -fuzz "^$${target#func }\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s . </dev/null ) || exit 1; done

# fuzz-short leaves out ctrlx and the examples, which take minutes to build. Their seeds run as tests.
fuzz-short:
	@$(MAKE) --no-print-directory fuzz FUZZTIME=$(FUZZ_SHORT) FUZZ_WITHOUT="':!ctrlx' ':!examples'"

faults:
	$(GO) test ./internal/testing/faults -faults -timeout 60m -v -run TestFaultsAreNoticed

# MUTATE_CLEAN lists the packages without unexplained survivors.
MUTATE_CLEAN := chain checks classify flow otelx

# mutate tries all mutants of PKG, or a sample. The same SEED draws the same sample as long as the mutated lines do not change.
PKG    ?= $(MUTATE_CLEAN)
SAMPLE ?= 0
SEED   ?= 1
mutate: bin/mutate
	bin/mutate -equivalent tools/mutate/equivalent.txt -sample $(SAMPLE) -seed $(SEED) $(PKG)

# mutate-check tests the tool and tries about 2 percent of the mutants of MUTATE_CLEAN.
mutate-check: bin/staticcheck
	cd tools/mutate && GOWORK=off $(GO) vet . && GOWORK=off $(CURDIR)/bin/staticcheck . && GOWORK=off $(GO) test .
	$(MAKE) --no-print-directory mutate PKG="$(MUTATE_CLEAN)" SAMPLE=130

bin/mutate: $(wildcard tools/mutate/*)
	cd tools/mutate && GOWORK=off $(GO) build -o $(CURDIR)/bin/mutate .

# soak also runs the tests of ctrlx whose size is a flag.
soak: envtest
	cd ctrlx && $(GO) test $(RACE) . -run 'TestOwnerWritesOften|TestGuardHistories' -children 1000 -rapid.checks 1000 -timeout 1h -v
	cd ctrlx && $(GO) test ./internal/soak -soak -timeout 2h -v

fmt:
	gofmt -w $$(git ls-files --cached --others --exclude-standard '*.go')

clean:
	rm -rf bin cover.out cover.html
