# SPDX-License-Identifier: GPL-2.0-or-later
# collect: a step is sampled and its events are counted in a real guest, and what numalab makes of the samples is what perf makes of them.
. "$TEST_TREE/tests/lib.sh"
scenario=$TEST_TMP/collect.yaml
{
	cat "$data/scenarios/small.yaml"
	cat <<-YAML
	collect:
	  perf: {steps: [fsmark, xfsrepair]}
	  stat: [cycles, page-faults, context-switches, "migrate:*", "tlb:tlb_flush", "nosuch:event"]
	  series: {interval: 50ms, counters: [pgfault, numastat.numa_hit, nosuch], steps: [xfsrepair]}
	  hist: [{event: "tlb:tlb_flush", keys: "keys=reason", steps: [xfsrepair]}, {event: "nosuch:event", keys: "keys=x", steps: [xfsrepair]}]
	YAML
} > "$scenario"
run_exit 0 "a run that collects" "$NUMALAB" run "$scenario" || finish
boot=$(basename "$(ls -d "$NUMALAB_STORE"/runs/1/boots/* | head -n 1)")
steps=$NUMALAB_STORE/runs/1/boots/$boot/steps

matches "events are counted" '^[1-9][0-9]*(\.0)?$' "$(sample perf.page-faults:xfsrepair "$NUMALAB_STORE/runs/1" "$boot")"
matches "a wildcard is every tracepoint" '^migrate:mm_migrate_pages [0-9]+%20' "$(cat "$steps/xfsrepair/stat")"
equal "an event that is not there is not supported" "nosuch:event not-supported" "$(grep nosuch "$steps/xfsrepair/stat")"
equal "and no sample" "" "$(sample perf.nosuch:event "$NUMALAB_STORE/runs/1" "$boot")"
equal "a guest without PMU has no cycles" "cycles not-supported" "$(grep ^cycles "$steps/xfsrepair/stat")"
matches "a series has a line for each look" '^clock_ns pgfault numastat.numa_hit nosuch
[0-9]+ [0-9]+ [0-9]+ -
[0-9]+ [0-9]+ [0-9]+ -' "$(tr '\n' '\n' < "$steps/xfsrepair/series")"
matches "its times go forward" '^[1-9][0-9]*$' "$(awk 'NR > 2 { if ($1 <= last) bad = 1 } NR > 1 { last = $1; n++ } END { print bad ? "back" : n }' "$steps/xfsrepair/series")"
matches "a histogram of a tracepoint" 'reason: +[0-9]+ .*hitcount: +[1-9]' "$(cat "$steps/xfsrepair/hist/tlb.tlb_flush")"
equal "of one that is not there" "not-supported" "$(cat "$steps/xfsrepair/hist/nosuch.event")"
matches "the profile says what was sampled" '^event cpu-clock$' "$(cat "$steps/xfsrepair/profile")"

# perf, asked about the same file.
run_exit 0 "perf's own file" "$NUMALAB" profile 1 --step fsmark --perf-data "$TEST_TMP/perf"
report() { perf report -i "$output" --kallsyms "${output%.data}.kallsyms" --symfs "$TEST_TMP/perf" --stdio --no-children "$@" 2>"$TEST_TMP/perf.err"; }
report -g none --percent-limit 1 > "$TEST_TMP/perf.txt" || not_ok "perf report" "$(cat "$TEST_TMP/perf.err")"
report -g graph,0.5,callee --percent-limit 0.5 > "$TEST_TMP/perf.graph"
run_exit 0 "the profile" "$NUMALAB" profile 1 --step fsmark --flat --percent-limit 1
shares() { grep -F '[k]' "$1" | sed -E 's/^ +([0-9.]+)% .*\[k\] ([^ ]+) *$/\1 \2/' | sort; }
shares "$TEST_TMP/perf.txt" > "$TEST_TMP/theirs"
shares "$TEST_TMP/.out" > "$TEST_TMP/ours"
matches "perf finds hot functions" '^([1-9]|[0-9]{2,})$' "$(wc -l < "$TEST_TMP/theirs")"
matches "the kernel's entry of page faults is named" '^# page faults enter by asm_exc_page_fault$' "$output"
matches "the clock is named, too" '^# exact clock \(QEMU .*: counts work' "$output"
equal "the same functions with the same shares as perf" "$(cat "$TEST_TMP/theirs")" "$(cat "$TEST_TMP/ours")"

# Functions of call chains with their shares and the column in which they stand. Addresses of user space are left out, for perf shows them as
# they are in a chain, and then equal shares stand in another order.
run_exit 0 "call chains" "$NUMALAB" profile 1 --step fsmark
graph() { python3 -c '
import re, sys
found = []
for line in open(sys.argv[1]):
    m = re.match(r"^[ |]*(?:-+([0-9.]+)%--|---)?([A-Za-z_][\w.@]*)\s*$", line)
    if m: found.append("%d %s %s" % (m.start(2), m.group(1) or "", m.group(2)))
print("\n".join(sorted(found)))' "$1"; }
graph "$TEST_TMP/perf.graph" > "$TEST_TMP/theirs"
graph "$TEST_TMP/.out" > "$TEST_TMP/ours"
matches "perf shows call chains" '^[1-9][0-9]+$' "$(wc -l < "$TEST_TMP/theirs")"
equal "the same call chains as perf" "" "$(diff "$TEST_TMP/theirs" "$TEST_TMP/ours" | head -n 20)"
run_exit 0 "folded stacks" "$NUMALAB" profile 1 --step fsmark --folded
equal "have every sample" "$(sed -nE '1s/.* ([0-9]+) samples .*/\1/p' <("$NUMALAB" profile 1 --step fsmark))" \
	"$(awk '{ n += $NF } END { print n }' "$TEST_TMP/.out")"

run_exit 0 "a profile is the same when it is taken again" "$NUMALAB" verify 1 --offline
# 384 MiB on two nodes, of which some 60 are the kernel's.
run_exit 0 "sampled where nodes are nearly full" "$NUMALAB" run "$data/scenarios/full.yaml"
series=$(ls "$NUMALAB_STORE"/runs/2/boots/*/steps/numatouch/series)
matches "there was little memory left" '^[0-9]$' "$(awk 'NR > 1 { mib = int($2 / 256); if (!n++ || mib < least) least = mib } END { print least }' "$series")"
run_exit 0 "what there is of its profile" "$NUMALAB" profile 2 --flat
matches "is marked as cut" '^# boot .* was cut at collect: perf: max-size' "$output"

run_exit 2 "two kernels are wanted for a difference" "$NUMALAB" profile --diff 1
matches "and said" 'wanted two kernels' "$errors"
run_exit 2 "a step that was not sampled" "$NUMALAB" profile 1 --step mkfs
matches "those that were are named" "step 'mkfs' was not sampled; these were: fsmark, xfsrepair" "$errors"
finish
