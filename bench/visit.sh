#!/bin/sh
# Builds, checks and times everything that wants a GPU, in one visit to a machine
# that has one.
#
#   bench/visit.sh build DIR              here: stripped, compressed programs into DIR
#   bench/visit.sh run DIR OUT PART...    there, in any folder: each part in turn
#
# DIR has the texts of TPC-H's queries in DIR/tpch. Each part's output is OUT/PART.txt;
# what counts of it is printed.
set -u
export GOFLAGS=-trimpath GPUSQL_REQUIRE_CUDA=1

build() {
	for p in kernels exec; do
		CGO_ENABLED=0 go test -c -ldflags='-s -w' -o "$1/$p.test" "./$p" || exit 1
	done
	(cd bench && go build -ldflags='-s -w' -o "$1/bench" .) || exit 1
	for p in kernels.test exec.test bench; do xz -T0 -f "$1/$p" & done
	wait
}

# part runs a command of at most so many seconds, and prints the lines of its
# output that count.
part() {
	name=$1 limit=$2 counts=$3
	shift 3
	start=$(date +%s)
	timeout "$limit" "$@" >"$out/$name.txt" 2>&1
	echo "== $name: exit code $?, $(($(date +%s) - start)) s"
	grep -E "$counts" "$out/$name.txt"
}

run() {
	out=$2
	mkdir -p work && cd work
	for f in "$1"/*.xz; do
		name=$(basename "$f" .xz)
		[ -x "$name" ] || { python3 -c 'import lzma, shutil, sys; shutil.copyfileobj(lzma.open(sys.argv[1]), open(sys.argv[2], "wb"))' "$f" "$name" && chmod +x "$name"; }
	done
	dir=$1
	shift 2
	nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem --format=csv,noheader
	for p in "$@"; do
		case $p in
		fold) part "$p" 60 '^(ok|PASS|FAIL|panic)|--- FAIL|GB/s' ./kernels.test -test.timeout 50s -test.run '^TestFold$/^cuda$|^TestRadix$/./^cuda$|^TestSelect$/./^cuda$|^TestSelectBits$/^cuda$|^TestCopyAll$/^cuda$' -test.bench BenchmarkFold ;;
		functions) part "$p" 70 '^(ok|PASS|FAIL|---|panic)' ./exec.test -test.timeout 60s -test.run '^TestFunctionsAway$' -test.v ;;
		compiled) part "$p" 120 '^(ok|PASS|FAIL|--- FAIL|panic)' ./exec.test -test.timeout 110s -test.run '^TestCompile' ;;
		kernels) part "$p" 150 '^(ok|PASS|FAIL|panic)| --- FAIL' ./kernels.test -test.timeout 140s -test.run '/^cuda$' ;;
		steps) part "$p" 150 'GB/s|Grows/s|FAIL|panic' ./kernels.test -test.run NONE -test.benchtime 4x \
			-test.bench 'BenchmarkCopy/from_byte_0|BenchmarkReduce|BenchmarkScan|BenchmarkSelect|BenchmarkGroup$|BenchmarkFold|BenchmarkSum|BenchmarkRadix|BenchmarkJoin' ;;
		tpch) part "$p" 300 'gpusql|Q|mean|time:|gpu:' ./bench tpch -sf 10 -engines gpusql,duckdb -runs 7 -explain -queries "$dir/tpch" ;;
		small) part "$p" 60 'steps' ./bench steps -gpu -engines gpusql,duckdb ;;
		profile) part "$p" 90 'Q|loaded' ./bench tpch -sf 10 -engines gpusql -q 1,6 -runs 500 -queries "$dir/tpch" -cpuprofile "$out/q.prof" ;;
		hits) part "$p" 400 'loaded|Q|mean' ./bench hits -rows 100e6 -engines gpusql,duckdb -runs 2 -q 8,10,13,16,31 ;;
		cold) part "$p" 200 'first|GB' ./bench cold -sf 10 -copies 8 -engines gpusql,duckdb,gpusql-cuda ;;
		*) echo "no part $p" ;;
		esac
	done
}

"$@"
