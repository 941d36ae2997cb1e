# SPDX-License-Identifier: GPL-2.0-or-later
# Clock kvm: 4 nodes; asynchronous page faults as a factor, on a host short of memory; two runs at once. Needs root, KVM, tracefs,
# control groups, and swap that is not itself memory.
. "$TEST_TREE/tests/lib.sh"
scenario=$data/scenarios/kvm.yaml
both=$((1 << 4 | 1 << 14))
boot_of() { ls -d "$NUMALAB_STORE/runs/$1"/boots/* | head -n 1; }
# in_qemu RUN, in_guest RUN KEY, counted RUN METRIC
in_qemu() { sed -nE 's/^ *"async_pf" *: *"([^"]*)",?$/\1/p' "$(boot_of "$1")/result.json"; }
in_guest() { sed -nE "s/^$2 //p" "$(boot_of "$1")/verify"; }
counted() { sed -nE "s/^\{\"metric\": \"$2\", \"value\": ([0-9]+).*/\1/p" "$(boot_of "$1")/samples.json"; }
# Interrupts for that, since the guest's start
told() { awk '/^ *HYP:/ { for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i } END { print n + 0 }' "$(boot_of "$1")/steps/numatouch/after/interrupts"; }
enabled() { echo $(($(in_guest "$1" async_pf_msr) & 9)); }
bits() { echo $(($(in_guest "$1" kvm_features) & both)); }
above() { if [ "${3:-0}" -gt "$2" ]; then ok "$1: $3"; else not_ok "$1" "wanted more than $2, found '${3:-none}'"; fi; }

disk=$NUMALAB_STORE
export NUMALAB_STORE=/dev/shm/numalab-test-$$
mountpoint -q /dev/shm || { not_ok "a tmpfs" "/dev/shm is none"; finish; }
trap 'rm -rf "$NUMALAB_STORE"' EXIT

run_exit 0 "async-pf on, the host takes memory" "$NUMALAB" run "$scenario" --offline --set async-pf=on || finish
equal "the guest is one of KVM" KVMKVMKVM "$(in_guest 1 hypervisor)"
equal "4 nodes" 0-3 "$(in_guest 1 nodes_online)"
equal "on: QEMU" "kvm-asyncpf=on kvm-asyncpf-int=on" "$(in_qemu 1)"
equal "on: the guest's CPUID" "$both" "$(bits 1)"
equal "on: the guest has enabled them, by interrupt" 9 "$(enabled 1)"
above "on: asynchronous faults" 100 "$(counted 1 host.async_pf_not_present)"
# The guest's enabling is answered by one for each CPU. More only come for faults of its user space, which a host this slow may
# not see one of.
above "on: the guest was told" 3 "$(counted 1 host.async_pf_interrupts)"
above "on: the guest counted that, too" 3 "$(told 1)"

run_exit 0 "async-pf off, the host takes memory" "$NUMALAB" run "$scenario" --offline --set async-pf=off || finish
equal "off: QEMU" "kvm-asyncpf=off kvm-asyncpf-int=off" "$(in_qemu 2)"
equal "off: the guest's CPUID" 0 "$(bits 2)"
equal "off: the guest has not enabled them" 0 "$(in_guest 2 async_pf_msr)"
equal "off: the guest was not told once" 0 "$(counted 2 host.async_pf_interrupts)"
equal "off: nor did it count one" 0 "$(told 2)"

run_exit 0 "compare" "$NUMALAB" compare 1 2 --judge none
matches "the factor is named" 'runs 1 and 2 differ by: kvm.async_pf is "on" / "off"' "$output"
matches "the host's counts are rows" '^host\.async_pf_interrupts +' "$output"
run_exit 2 "no verify: nothing can be had again" "$NUMALAB" verify 1

# Two runs at once, without pressure.
calm=$TEST_TMP/calm.yaml
grep -v '^host-pressure' "$scenario" > "$calm"
"$NUMALAB" run "$calm" --offline --set async-pf=int-only > "$TEST_TMP/other" 2>&1 & other=$!
until [ -d "$NUMALAB_STORE/runs/3" ]; do kill -0 "$other" || break; sleep 0.1; done
run_exit 0 "a run" "$NUMALAB" run "$calm" --offline
wait "$other" && ok "another at the same time" || not_ok "another at the same time" "$(tail -n 5 "$TEST_TMP/other")"
equal "int-only: QEMU" "kvm-asyncpf=off kvm-asyncpf-int=on" "$(in_qemu 3)"
equal "int-only: the guest's CPUID" $((1 << 14)) "$(bits 3)"
equal "int-only: the guest has enabled them, by interrupt" 9 "$(enabled 3)"
run_exit 3 "a guest that does not use what it was to use" "$NUMALAB" run "$calm" --offline --set async-pf=on --set 'kernel-args=[no-kvmapf]'
matches "is told" 'asynchronous page faults \(MSR 0x4b564d02\): wanted 0x9 of 0x9, found 0' "$errors"

run_exit 3 "a store on a disk" "$NUMALAB" --store "$disk" run "$scenario" --offline
matches "is refused" 'host-pressure needs the store on a tmpfs' "$errors"
equal "no control group is left" "" "$(ls -d /sys/fs/cgroup/numalab-* 2>/dev/null)"
finish
