# SPDX-License-Identifier: GPL-2.0-or-later
# --connect: the guests of a libvirt daemon. Starts one where there is none.
. "$TEST_TREE/tests/lib.sh"
scenario=$TEST_TMP/calm.yaml
grep -v '^host-pressure' "$data/scenarios/kvm.yaml" > "$scenario"
uri=qemu:///system
guests() { pgrep -f 'guest=numalab-[0-9]+-' | wc -l; }
started=()
if [ ! -S /run/libvirt/libvirt-sock ]; then
	command -v libvirtd >/dev/null && command -v virtlogd >/dev/null || { echo "skip --connect: there is no libvirtd"; finish; }
	run_exit 3 "no daemon" "$NUMALAB" run "$scenario" --offline --connect "$uri"
	matches "is told" 'qemu:///system: .*libvirt-sock' "$errors"
	mkdir -p /run/libvirt
	virtlogd & started+=($!)
	libvirtd & started+=($!)
	trap 'end_processes "${started[@]}"' EXIT
	within 60 test -S /run/libvirt/libvirt-sock || not_ok "a libvirtd" "it does not answer"
fi
run_exit 2 "another driver" "$NUMALAB" run "$scenario" --offline --connect xen:///system
matches "is refused" 'wanted qemu:///system, qemu:///session or a host of yours' "$errors"

run_exit 0 "a guest of the daemon" "$NUMALAB" run "$scenario" --offline --connect "$uri"
boot=$(ls -d "$NUMALAB_STORE"/runs/1/boots/* | head -n 1)
matches "under a name of its own" '<name>numalab-[0-9]+-6' "$(cat "$boot/domain.xml")"
equal "the guest sees the UUID as ever" 1 "$(grep -c '^6e756d61-6c61-4200-8000-000000000001$' "$boot/qemu.args")"
equal "and is gone" 0 "$(guests)"

# Whoever kills the run kills the guest.
"$NUMALAB" run "$scenario" --offline --fresh --connect "$uri" > "$TEST_TMP/log" 2>&1 & run=$!
until [ "$(guests)" = 1 ]; do kill -0 "$run" || break; sleep 0.1; done
guest=$(pgrep -f 'guest=numalab-[0-9]+-' | head -n 1)
kill -KILL "$run"; wait "$run" 2>/dev/null
matches "a guest ran" '^[0-9]+$' "$guest"
is_gone() { ! kill -0 "$guest" 2>/dev/null; }
check "and went with its run" within 60 is_gone
finish
