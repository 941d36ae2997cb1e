#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every fuzz target for FUZZ_ROUNDS rounds (default 20000) from its seeds: tests/fuzz/seeds/NAME/.
# FUZZ_SEED=N makes other rounds. For ASan and UBSan: make SANITIZE=address,undefined B=build/asan fuzz
set -uo pipefail
cd "${TEST_TREE:-$(dirname "$0")/../..}"
build=${B:-build}
bad=0
for source in tests/fuzz/fuzz_*.c; do
	name=$(basename "$source" .c)
	seeds=tests/fuzz/seeds/${name#fuzz_}
	if out=$("$build/tests/fuzz/$name" "$seeds" "${FUZZ_ROUNDS:-20000}" "${FUZZ_SEED:-1}" "$build/$name.input" 2>&1); then
		echo "ok $name: $(tail -n 1 <<<"$out")"
	else
		tail -n 40 <<<"$out"
		echo "not ok $name: $(tail -n 1 <<<"$out")"
		bad=1
	fi
done
exit $bad
