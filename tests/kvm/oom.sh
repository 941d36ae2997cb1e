# SPDX-License-Identifier: GPL-2.0-or-later
# Clock kvm, out of memory: whose fault it is. The host's killer that takes QEMU is INFRA, the guest's own that takes a step is the
# step's failure, on a host short of memory, too. Needs what async-pf.sh needs. The hog is the agent: a program of the image would have
# its own pages taken, and read again, for minutes before the guest gives up.
. "$TEST_TREE/tests/lib.sh"
boot_of() { ls -d "$NUMALAB_STORE/runs/$1"/boots/* | head -n 1; }
result() { sed -nE "s/^ *\"$2\" *: *\"([^\"]*)\",?$/\1/p" "$(boot_of "$1")/result.json"; }

export NUMALAB_STORE=/dev/shm/numalab-test-$$
mountpoint -q /dev/shm || { not_ok "a tmpfs" "/dev/shm is none"; finish; }
trap 'rm -rf "$NUMALAB_STORE"' EXIT
scenario=$TEST_TMP/oom.yaml
cat > "$scenario" <<'YAML'
name: oom
topology: {kind: vnuma, nodes: [{cpus: 0, memory: 384MiB}]}
image: xfs
kernels: [debian:bookworm]
clock: kvm
boots: 1
host-pressure: {memory-high: 160MiB}
steps:
  - numa_touch: {name: hog, threads: 1, size: 380MiB, duration: 60s}
YAML

# The guest boots within memory-max, which is for memory and swap together; its step does not get all that the guest has.
run_exit 3 "the host kills QEMU" "$NUMALAB" run "$scenario" --offline --set 'host-pressure={memory-max: 240MiB}'
equal "the host: outcome" infra "$(result 1 outcome)"
equal "the host: stage" hog "$(result 1 stage)"
matches "the host: the reason is named" "^the host killed QEMU in step hog: out of memory \(host-pressure's memory-max\)" "$(result 1 message)"
matches "the host: told on stderr" "the host killed QEMU in step hog: out of memory" "$errors"

run_exit 4 "the guest kills its step" "$NUMALAB" run "$scenario" --offline
equal "the guest: outcome" step "$(result 2 outcome)"
equal "the guest: stage" hog "$(result 2 stage)"
matches "the guest: message" "step hog: .*the guest ran out of memory \([0-9]+ OOM kills\)" "$(result 2 message)"

equal "no control group is left" "" "$(ls -d /sys/fs/cgroup/numalab-* 2>/dev/null)"
finish
