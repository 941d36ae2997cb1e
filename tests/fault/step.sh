# SPDX-License-Identifier: GPL-2.0-or-later
# Steps that go wrong, in whole runs: exit 4 (5 when the kernel crashed), the evidence quoted, the other boots unharmed.
. "$TEST_TREE/tests/fault/common"

scenario() { # NAME STEP...: a scenario with these steps as YAML
	local name=$1; shift
	sed "s/^name: .*/name: $name/; /^steps:/,\$d" "$TEST_TMP/base.yaml" > "$TEST_TMP/$name.yaml"
	{ echo "steps:"; printf '  - %s\n' "$@"; } >> "$TEST_TMP/$name.yaml"
}
run_fails() { # CODE NAME OUTCOME STAGE MESSAGE EVIDENCE
	local began=$SECONDS boot
	run_exit "$1" "$2" "$NUMALAB" run --offline "$TEST_TMP/$2.yaml"
	boot=$(ls -d "$(ls -d "$NUMALAB_STORE"/runs/* | sort -V | tail -n 1)"/boots/* | head -n 1)
	equal "$2: outcome" "$3" "$(result "$boot" outcome)"
	equal "$2: stage" "$4" "$(result "$boot" stage)"
	matches "$2: message" "$5" "$(result "$boot" message)"
	matches "$2: evidence" "$6" "$(result "$boot" evidence)"
	matches "$2: told on stderr" "${5#^}" "$errors"
	no_guests "$2"
	echo "$2 took $((SECONDS - began)) s"
}

scenario hang 'run: {name: hang, argv: [sh, -c, "echo begun; sleep 1000000"], timeout: 10s}'
run_fails 4 hang step hang 'did not end within' 'begun'
scenario spin 'run: {name: spin, argv: [sh, -c, "while :; do :; done"], timeout: 2s}'
run_fails 4 spin step spin 'did not end within' ''
scenario exit3 'run: {name: first, argv: ["true"]}' 'run: {name: fails, argv: [sh, -c, "echo out; echo words >&2; exit 3"]}'
run_fails 4 exit3 step fails 'exit status 3' 'words'
scenario signal 'run: {name: killed, argv: [sh, -c, "kill -SEGV $$"]}'
run_fails 4 signal step killed 'signal 11' ''
scenario oom 'run: {name: hog, argv: [tail, /dev/zero]}'
run_fails 4 oom step hog 'hog' '(invoked oom-killer|Out of memory: Killed process)'
scenario allowed 'run: {name: hog, argv: [sh, -c, "tail /dev/zero; test $? = 137"], oom-kills: allowed}'
run_exit 0 "an OOM kill that is allowed" "$NUMALAB" run --offline "$TEST_TMP/allowed.yaml" --boots 1
matches "it is counted" '^oom_kills [1-9]' "$(cat "$(ls -d "$NUMALAB_STORE"/runs/* | sort -V | tail -n 1)"/boots/*/steps/hog/end)"
scenario crash 'run: {name: crash, argv: [sh, -c, "echo c > /proc/sysrq-trigger"]}'
run_fails 5 crash kernel crash '^panic in step crash: Kernel panic - not syncing: sysrq triggered crash' 'Kernel panic'
scenario missing 'run: {name: none, argv: [no-such-program]}'
run_fails 4 missing step none 'none' ''

# One seed of three is unlucky: the others are done, and the exit code tells of the one.
scenario unlucky 'run: {name: sometimes, argv: [sh, -c, "grep -q 01:00: /proc/driver/rtc && exit 3; exit 0"]}'
run_exit 4 "one boot of three fails" "$NUMALAB" run --offline "$TEST_TMP/unlucky.yaml" --boots 3
equal "the others are unharmed" "2 ok 1 step" "$(cat "$(ls -d "$NUMALAB_STORE"/runs/* | sort -V | tail -n 1)"/boots/*/result.json |
	sed -n 's/.*"outcome" : "\(.*\)".*/\1/p' | sort | uniq -c | xargs)"
finish
