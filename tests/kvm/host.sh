# SPDX-License-Identifier: GPL-2.0-or-later
# Clock kvm: the state of the host is recorded and judged. Needs root and KVM.
. "$TEST_TREE/tests/lib.sh"
ksm=/sys/kernel/mm/ksm/run
before=$(cat $ksm)
trap 'echo $before > $ksm' EXIT
scenario=$TEST_TMP/host.yaml
cat > "$scenario" <<'YAML'
name: host
topology: {kind: vnuma, nodes: [{cpus: 0, memory: 192MiB}]}
image: xfs
kernels: [debian:bookworm]
clock: kvm
boots: 1
steps:
  - run: {name: look, argv: ["true"]}
YAML

echo 1 > $ksm
run_exit 3 "a host with KSM, strictly" "$NUMALAB" run "$scenario" --offline --strict
matches "the rule, and how to keep it" '^  KSM: running, wanted stopped \(echo 2 > /sys/kernel/mm/ksm/run\)$' "$errors"
equal "no run was made" "" "$(ls "$NUMALAB_STORE/runs" 2>/dev/null)"
matches "doctor shows it" 'KSM +running +stopped' "$("$NUMALAB" doctor)"
run_exit 0 "a host with KSM" "$NUMALAB" run "$scenario" --offline || finish
equal "it is told once" 1 "$(grep -c 'host: KSM: running, wanted stopped' <<<"$errors")"

state=$(cat "$NUMALAB_STORE"/runs/1/boots/*/host.json)
recorded() { sed -nE "s/^ *\"$1\" *: *\"?([^\",]*)\"?,?$/\1/p" <<<"$state"; }
equal "recorded: kernel" "$(uname -r)" "$(recorded kernel_release)"
equal "recorded: KSM" 1 "$(recorded ksm)"
equal "recorded: other guests" 0 "$(recorded other_guests)"
equal "recorded: huge pages" "$(sed 's/.*\[\(.*\)\].*/\1/' /sys/kernel/mm/transparent_hugepage/enabled)" "$(recorded thp)"
governors=$(cat /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor 2>/dev/null | sort -u | xargs)
equal "recorded: governors, or that there are none" "${governors:-null}" "$(recorded governors)"

echo 0 > $ksm
run_exit 0 "a host without KSM" "$NUMALAB" run "$scenario" --offline --fresh
equal "it is not told" 0 "$(grep -c KSM <<<"$errors")"
finish
