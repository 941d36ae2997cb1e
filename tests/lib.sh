# SPDX-License-Identifier: GPL-2.0-or-later
# For the test scripts: source it first. Every case ends in exactly one line "ok NAME" or "not ok NAME: WHY".
set -uo pipefail
failed=0
export NUMALAB_STORE=${NUMALAB_STORE:-$TEST_TMP/store}
data=$TEST_TREE/tests/data

ok() { echo "ok $1"; }
not_ok() { echo "not ok $1: ${2:-}"; failed=1; }
# check NAME COMMAND...: the command succeeds
check() { local name=$1; shift; if "$@"; then ok "$name"; else not_ok "$name" "$*"; fi; }
# equal NAME WANTED FOUND
equal() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "wanted '$2', found '$3'"; fi; }
# matches NAME REGEX TEXT
matches() { if grep -Eq -- "$2" <<<"$3"; then ok "$1"; else not_ok "$1" "wanted /$2/, found: $(head -c 2000 <<<"$3")"; fi; }
# run_exit CODE NAME COMMAND...: output in $output, stderr in $errors; the exit code is the case
run_exit() {
	local want=$1 name=$2 rc; shift 2
	"$@" > "$TEST_TMP/.out" 2> "$TEST_TMP/.err"; rc=$?
	output=$(<"$TEST_TMP/.out"); errors=$(<"$TEST_TMP/.err")
	if [ "$rc" = "$want" ]; then ok "$name (exit $want)"; else not_ok "$name" "wanted exit $want, found $rc; stderr: $(tail -c 2000 "$TEST_TMP/.err")"; fi
	return $((rc != want))
}
# sample METRIC RUN-DIR BOOT: a value of samples.json
sample() {
	python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
d = d["samples"] if isinstance(d, dict) and "samples" in d else d
for s in d:
    if s["metric"] == sys.argv[2]: print(s["value"]); break
' "$2/boots/$3/samples.json" "$1"
}
# Keep every core of the host busy until busy_stop.
busy=()
busy_start() { trap busy_stop EXIT; for _ in $(seq "$(nproc)"); do ( while :; do :; done ) & busy+=($!); done; }
busy_stop() { [ ${#busy[@]} -eq 0 ] || kill "${busy[@]}" 2>/dev/null; wait "${busy[@]}" 2>/dev/null; busy=(); }
# Ends processes, the hard way after 20 s; then nothing more of them is awaited.
end_processes() {
	local i
	kill "$@" 2>/dev/null
	for i in {1..200}; do kill -0 "$@" 2>/dev/null || break; sleep 0.1; done
	! kill -KILL "$@" 2>/dev/null || echo "# it took SIGKILL to end: $*"
	wait "$@" 2>/dev/null
}
# within SECONDS COMMAND...: wait until it succeeds. Return: whether it did.
within() { local end=$((SECONDS + $1)); shift; until "$@" >/dev/null 2>&1; do [ $SECONDS -lt $end ] || return 1; sleep 0.2; done; }
finish() { exit "$failed"; }
