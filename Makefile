# make test is the second command of the README. It needs Go and a shell, and prints what it proved. The other targets:
#
#   make verify         proves the rest of what CI proves, stage by stage (VERIFY below), and prints the seconds of each stage
#   make nightly        looks for mistakes that no list has: the soak, explorations, a sample of mutants of every package, fuzzing, the
#                       benchmarks. LONG=1 runs the long forms: all mutants, and FUZZTIME for each fuzz target
#   make fmt            formats the Go files
#   make generate       writes the generated files of examples/operator and examples/component
#   make api            records the exported names in tools/api
#   make bench          runs the benchmarks of the root module
#   make benchmarks     prints the table of tools/benchmarks: each cost, and that of code by hand. It fails
#                       if a ratio is worse than its bound. It starts an API server and takes about 10 minutes
#   make mutate         makes small changes of the code in PKG (mutants), and prints those that no test notices; SAMPLE=200 SEED=1
#                       tries some of them. It fails if fewer than PERCENT=95 of them are noticed
#   make cover          measures the coverage of the root module by its own tests, and writes cover.html
#   make clean          removes bin and the coverage
#   make release-diff BASE=tag, make release VERSION=version   are steps of docs/RELEASING.md
#
# Each stage of make verify is a target, too: make lint, make race, ...

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c

MODULES  := . classify/aws classify/google classify/grpc examples ctrlx ctrlx/manifests/helm ctrlx/manifests/kustomize cmd/kubectl-windlass \
            examples/operator
PACKAGES := $(patsubst ././%,./%,$(MODULES:%=./%/...)) ./tools/testserver/...
GO       ?= go
CC_FOUND := $(shell command -v $$($(GO) env CC) 2>/dev/null)
RACE     := $(if $(CC_FOUND),-race,)
CORES    := $(shell getconf _NPROCESSORS_ONLN)

# Rapid draws the same cases in each run, so that chance fails no run. Only plain go test and make nightly draw new ones.
export RAPID_SEED ?= 1

.PHONY: all test verify

all: test

test: formatted bin/testserver
	$(GO) vet $(PACKAGES)
	$(GO) test -vet=off -timeout 40m $(PACKAGES) | grep --line-buffered -v 'no test files' | tee bin/test.log
	@echo
	@echo "make test passed: format, vet, and the tests of $$(grep -c '^ok' bin/test.log) packages of the workspace."
	@echo "make verify adds: $(VERIFY)."

# VERIFY is in the order of the seconds that a failure costs.
VERIFY := lint modules generated release-check programs tutorial browser systems explore race mistakes ratios

verify:
	@for stage in $(VERIFY); do SECONDS=0; \
		$(MAKE) --no-print-directory $$stage || { echo "make verify: the stage $$stage failed: run make $$stage"; exit 1; }; \
		echo "make verify: $$stage passed in $$SECONDS s"; done

.PHONY: formatted fmt lint modules generate generated systems mistakes explore explore-mistakes race tutorial browser release-check ratios programs

formatted:
	@unformatted=$$(git ls-files --cached --others --exclude-standard '*.go' | xargs -r gofmt -l); \
	if [ -n "$$unformatted" ]; then echo "not formatted, run make fmt:"; echo "$$unformatted"; exit 1; fi

fmt:
	gofmt -w $$(git ls-files --cached --others --exclude-standard '*.go')

# lint also checks that each known mistake still applies.
lint: bin/staticcheck bin/mutate
	bin/staticcheck $(PACKAGES)
	bin/mutate -mistakes tools/mutate/mistakes -check

# modules compiles each module and its tests without the workspace, as users get it, and checks that go.mod is tidy.
TOOLS := tools tools/envtest tools/testserver
modules:
	@for m in $(MODULES) $(TOOLS); do ( set -x; cd $$m && GOWORK=off $(GO) mod tidy -diff ) || exit 1; done
	@for m in $(MODULES) tools; do ( set -x; cd $$m && GOWORK=off $(GO) vet ./... ) || exit 1; done

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

# systems compiles the root module and its tests for other systems. It runs the tests for 32 bits if this machine can.
SYSTEMS := windows/amd64 darwin/arm64 linux/386
systems:
	@out=$$(mktemp -d) && trap 'rm -rf "$$out"' EXIT && for s in $(SYSTEMS); do ( \
		export GOOS=$${s%/*} GOARCH=$${s#*/} CGO_ENABLED=0; set -x; : $$s; $(GO) vet ./... && \
		if [ $$s = linux/386 ] && $(GO) test -run '^$$' ./internal/mono >/dev/null 2>&1; then $(GO) test -vet=off ./...; fi ) || exit 1; done

# race runs the tests under the race detector, and those of ctrlx with kube-apiserver. Without a C compiler it runs them without.
# The other modules start no goroutine of their own but in programs.
race: envtest
	WINDLASS_DRAWS=100 $(GO) test $(RACE) -vet=off -timeout 30m ./... | grep --line-buffered -v 'no test files'
	WINDLASS_KUBE_APISERVER=1 $(GO) test $(RACE) -vet=off -timeout 30m ./ctrlx ./ctrlx/component/... ./ctrlx/dependents/... ./ctrlx/manifests/helm ./ctrlx/manifests/kustomize ./ctrlx/internal/... ./cmd/kubectl-windlass/... | grep --line-buffered -v 'no test files'

# mistakes makes each mistake of tools/mutate/mistakes, and requires that a test notices it.
mistakes: bin/mutate bin/staticcheck bin/kubeserver
	cd tools/mutate && GOWORK=off $(CURDIR)/bin/staticcheck . && GOWORK=off $(GO) test .
	$(MUTATE_CTRLX) -workers 6 -mistakes tools/mutate/mistakes

# explore explores the operators of the examples under the race detector, with new seeds. CI sets EXPLORE=1, so that it draws the
# same runs each time. A failure prints the seed.
EXPLORE ?= 0
DRAWS = $(if $(filter 0,$(EXPLORE)),50,100)
explore:
	cd ctrlx && WINDLASS_DRAWS=$(DRAWS) RAPID_SEED=$(EXPLORE) $(GO) test $(RACE) -vet=off -count 1 -timeout 30m -v -run 'TestCorrect$$' ./ctrltest
	cd examples/operator && WINDLASS_DRAWS=$(DRAWS) RAPID_SEED=$(EXPLORE) $(GO) test $(RACE) -vet=off -count 1 -timeout 30m -v -run 'TestExplore$$' ./internal/controller

# explore-mistakes requires that an exploration of examples/operator finds the mistakes that say "explore: found". It prints a
# line for each mistake. make nightly runs it.
TIMES ?= 1
explore-mistakes: bin/mutate
	WINDLASS_DRAWS=100 bin/mutate -mistakes tools/mutate/mistakes -explore examples/operator/internal/controller.TestExplore -times $(TIMES)

tutorial:
	WINDLASS_TUTORIAL=1 $(GO) test -vet=off -timeout 20m -run Tutorial ./internal/testing/pages

# browser tests the page of flow/why in Chromium. It runs without Chromium or axe-core if they cannot be installed: its tests
# then skip themselves.
browser: bin/staticcheck
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		{ apt-get update; DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium; } >/dev/null 2>&1; } || \
		echo "make browser: Chromium is missing and was not installed: the page is not tested"
	@[ -d bin/axe/node_modules/axe-core ] || \
		{ mkdir -p bin/axe && cp tools/browser/package.json tools/browser/package-lock.json tools/browser/.npmrc bin/axe && cd bin/axe && npm ci --silent; } || \
		echo "make browser: axe-core is missing and was not installed: the page is not tested for accessibility"
	cd tools/browser && GOWORK=off $(CURDIR)/bin/staticcheck . && GOWORK=off $(GO) test .

# release-check tests the rehearsal itself, and then rehearses a release of the working tree: the zip of each module, its
# exported names, a program that requires it.
RELEASE := cd tools/release && GOWORK=off $(GO) run .
release-check: bin/staticcheck
	cd tools/release && GOWORK=off $(CURDIR)/bin/staticcheck . && GOWORK=off $(GO) test .
	$(RELEASE) check

# ratios runs the benchmarks' tests, and the tests that compare times within one run.
ratios:
	cd tools/benchmarks && GOWORK=off WINDLASS_RATIOS=1 $(GO) test -vet=off -p 1 -count 1 ./...
	WINDLASS_RATIOS=1 $(GO) test -vet=off -p 1 -count 1 -run 'Ratio|Cost' $$(git grep -l 'testing/ratio"' -- '*_test.go' ':!tools' | xargs -n 1 dirname | sort -u | sed 's,^,./,')

# programs runs each example once. The tests of the last two run the programs as they are, with kube-apiserver and its rights.
programs: envtest
	@for example in aks buckets kusto privateendpoint redis; do \
		echo "go run ./examples/$$example"; $(GO) run "./examples/$$example" >/dev/null; done
	WINDLASS_KUBE_APISERVER=1 $(GO) test -vet=off ./examples/component ./examples/operator/demo ./examples/operator/cmd

nightly soak fuzz: export RAPID_SEED = 0

.PHONY: nightly soak fuzz mutate api release-diff release bench benchmarks cover clean

nightly: soak explore-mistakes fuzz benchmarks mutate

api:
	$(RELEASE) api

release-diff:
	@git diff --unified=0 $(BASE) -- tools/api

release:
	@$(RELEASE) write $(VERSION)

bin/controller-gen: tools/go.mod tools/go.sum
	cd tools && GOWORK=off $(GO) build -o $(CURDIR)/bin/controller-gen sigs.k8s.io/controller-tools/cmd/controller-gen

bin/staticcheck: tools/go.mod tools/go.sum
	cd tools && GOWORK=off $(GO) build -o $(CURDIR)/bin/staticcheck honnef.co/go/tools/cmd/staticcheck

# The tests of ctrlx build the small server themselves if it is missing or stale.
bin/testserver: go.work $(wildcard tools/testserver/go.* tools/testserver/*.go tools/testserver/*/*.go)
	$(GO) build -o bin/testserver ./tools/testserver

bin/mutate: $(wildcard tools/go.* tools/mutate/*.go tools/mutate/*.go.txt)
	cd tools/mutate && GOWORK=off $(GO) build -o $(CURDIR)/bin/mutate .

# envtest builds kube-apiserver and etcd for make verify and examples/component, and the controllers of Kubernetes for one test,
# in some minutes the first time. tools/envtest pins the versions of the workspace, so that the builds share its cache. If
# KUBEBUILDER_ASSETS is set, the tests use the programs in that folder instead.
APISERVER := v1.37.2
COMPONENT := k8s.io/component-base/version
BUILD      = $(GO) build -o $(CURDIR)/bin/envtest
VERSION_OF = -ldflags "-s -w -X $(COMPONENT).gitVersion=$(APISERVER) -X $(COMPONENT).gitMajor=1 -X $(COMPONENT).gitMinor=37"
.PHONY: envtest
envtest: $(if $(KUBEBUILDER_ASSETS),,bin/envtest/kube-controller-manager)
bin/envtest/kube-controller-manager: tools/envtest/go.mod tools/envtest/go.sum
	@export GOWORK=off && cd tools/envtest && set -x && \
	$(BUILD)/etcd -ldflags "-s -w" go.etcd.io/etcd/server/v3 && \
	$(BUILD)/kube-apiserver $(VERSION_OF) k8s.io/kubernetes/cmd/kube-apiserver && \
	$(BUILD)/kube-controller-manager $(VERSION_OF) k8s.io/kubernetes/cmd/kube-controller-manager

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

benchmarks: envtest
	@cd tools/benchmarks && KUBEBUILDER_ASSETS=$${KUBEBUILDER_ASSETS:-$(CURDIR)/bin/envtest} GOWORK=off $(GO) run . -server

cover:
	$(GO) test -coverpkg=./... -coverprofile=cover.out ./...
	$(GO) tool cover -func=cover.out | tail -n 1
	$(GO) tool cover -html=cover.out -o cover.html

# fuzz finds the targets in the sources of all modules: "checks/resource_test.go:func FuzzState". Interesting inputs go into the
# cache of Go, failing inputs into testdata/fuzz. The limit on minimizing inputs saves most of the time.
FUZZTIME ?= $(if $(LONG),1m,5s)
fuzz:
	@git grep --untracked -o '^func Fuzz[A-Za-z0-9_]*' -- '*_test.go' | while IFS=: read -r file target; do \
		( set -x; cd "$$(dirname "$$file")" && \
		$(GO) test -run '^$$' -fuzz "^$${target#func }\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s . </dev/null ) || exit 1; done

# mutate tries all mutants of PKG, or a sample, and requires that PERCENT of them are noticed. The same SEED draws the same sample
# as long as the mutated lines do not change. Without PKG it draws from all packages that users run.
PKG     ?= $(shell git ls-files '*.go' | grep -Ev '_test.go$$|^(examples|tools)/|/(testing|testv1|soak|combinations)/|^cmd/[^/]*/main.go' | xargs dirname | sort -u)
SAMPLE  ?= $(if $(LONG),0,300)
SEED    ?= 1
PERCENT ?= 95
mutate: bin/mutate $(if $(findstring ctrlx,$(PKG)),bin/kubeserver)
	$(if $(findstring ctrlx,$(PKG)),$(MUTATE_CTRLX),bin/mutate) -equivalent tools/mutate/equivalent.txt -sample $(SAMPLE) -seed $(SEED) -percent $(PERCENT) $(PKG)

# The tests of ctrlx share one kube-apiserver.
MUTATE_CTRLX = KUBEBUILDER_ASSETS=$${KUBEBUILDER_ASSETS:-$(CURDIR)/bin/envtest} WINDLASS_KUBE_APISERVER=1 bin/mutate -server bin/kubeserver
.PHONY: bin/kubeserver
bin/kubeserver: envtest
	$(GO) build -o bin/kubeserver ./ctrlx/internal/testing/kubeserver

# soak kills the operator of ctrlx on kube-apiserver, and explores it with many draws. It also runs the tests of ctrlx whose
# size is a flag.
soak: envtest
	cd ctrlx && WINDLASS_KUBE_APISERVER=1 $(GO) test $(RACE) . -run TestOwnerWritesOften -children 1000 -timeout 1h -v
	cd ctrlx && $(GO) test $(RACE) ./inuse -run TestHistories -rapid.checks 1000 -timeout 1h -v
	cd ctrlx && WINDLASS_DRAWS=500 WINDLASS_KUBE_APISERVER=1 $(GO) test ./internal/soak -soak -timeout 2h -v
	cd ctrlx && $(GO) test ./internal/combinations -run TestCombinations -rapid.checks 10000 -timeout 1h

clean:
	rm -rf bin cover.out cover.html
