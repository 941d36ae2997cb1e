# SPDX-License-Identifier: GPL-2.0-or-later
# Clock kvm: a guest at its place on the host, and hosts that do not have it. Needs root and KVM.
. "$TEST_TREE/tests/lib.sh"
boot_of() { ls -d "$NUMALAB_STORE/runs/$1"/boots/* | head -n 1; }
result() { sed -nE "s/^ *\"$2\" *: *\"([^\"]*)\",?$/\1/p" "$(boot_of "$1")/result.json"; }
pool=/sys/devices/system/node/node0/hugepages/hugepages-2048kB
before=$(cat $pool/nr_hugepages)
trap 'echo $before > $pool/nr_hugepages' EXIT
last=$(sed 's/.*[-,]//' /sys/devices/system/cpu/online)
scenario=$TEST_TMP/pin.yaml
cat > "$scenario" <<YAML
name: pin
topology: {kind: vnuma, nodes: [{cpus: 0, memory: 192MiB}, {cpus: 1, memory: 192MiB}]}
image: xfs
kernels: [debian:bookworm]
clock: kvm
boots: 1
pin: {cpus: [$last, $last], emulator: 0, nodes: [0, 0], hugepages: 2MiB}
steps:
  - run: {name: look, argv: ["true"]}
YAML

echo 0 > $pool/nr_hugepages
run_exit 3 "too few huge pages" "$NUMALAB" run "$scenario" --offline
matches "how many, and how" "pin.yaml:7:[0-9]+: pin: wanted 192 free huge pages of 2MiB on node 0, found 0; 'echo 192 > $pool/nr_hugepages'" "$errors"
run_exit 3 "no such CPU" "$NUMALAB" run "$scenario" --offline --set 'pin={cpus: [0, 1000]}'
matches "it is named" 'wanted a CPU of this host that is online \([-0-9,]+\), found 1000' "$errors"
run_exit 3 "no such node" "$NUMALAB" run "$scenario" --offline --set 'pin={nodes: [0, 1000]}'
matches "it is named, too" 'wanted a node of this host that has memory \([-0-9,]+\), found 1000' "$errors"
run_exit 2 "too few CPUs" "$NUMALAB" run "$scenario" --offline --set 'pin={cpus: [0]}'

echo 192 > $pool/nr_hugepages
run_exit 0 "pinned" "$NUMALAB" run "$scenario" --offline || finish
equal "read back" "cpus=$last,$last emulator=0" "$(result 1 placement)"
matches "QEMU's memory is huge pages of that node" 'memory-backend-memfd.*"hugetlb":true.*"hugetlbsize":2097152.*"host-nodes":\[0\].*"policy":"bind"' \
	"$(grep memory-backend-memfd "$(boot_of 1)/qemu.args" | head -n 1)"
equal "the pages are free again" 192 "$(cat $pool/free_hugepages)"
matches "the PMU, and whether the TSC is invariant" '^pmu=on invtsc=(on|off)$' "$(result 1 cpu_features)"
matches "KVM features by QEMU's names, each once" '^(kvm-[a-z0-9-]+ )+kvmclock( kvmclock-[a-z-]+)*$' "$(result 1 kvm_features)"
run_exit 0 "not pinned, without PMU" "$NUMALAB" run "$scenario" --offline --set 'pin={emulator: 0}' --set pmu=off
matches "no PMU" '^pmu=off ' "$(result 2 cpu_features)"
run_exit 0 "compare" "$NUMALAB" compare 1 2 --judge none
matches "places are factors" 'runs 1 and 2 differ by: kvm.pin_cpus is "[0-9,]+" / absent' "$output"
finish
