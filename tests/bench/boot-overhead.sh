# SPDX-License-Identifier: GPL-2.0-or-later
# Whole-process time of `numalab boot` against QEMU started by hand with the same arguments: 5 pairs, the order
# alternating, ratio of each pair, the median must be 1.05 or less. Then the parts of a boot up to the agent's first record.
. "$TEST_TREE/tests/lib.sh"
pairs=${PAIRS:-5}
run_exit 0 "a run to take the boot from" "$NUMALAB" run "$data/scenarios/small.yaml" || finish
run=$(ls -d "$NUMALAB_STORE"/runs/* | sort -V | tail -n 1)
boot=$(ls -d "$run"/boots/* | head -n 1)

# QEMU's own arguments without libvirt's channels (monitor, secret, sandbox); files go to $1.
by_hand() {
	python3 - "$boot/qemu.args" "$boot" "$1" <<'P'
import sys
args = open(sys.argv[1]).read().split("\n")
out, skip = [], False
drop = ("-mon", "-sandbox", "-msg", "-pidfile", "-add-fd")
alone = ("-S", "-no-shutdown", "-daemonize")
files = {"/dev/fdset/0": "/console.log", "/dev/fdset/1": "/progress.log"}
i = 0
while i < len(args):
    a = args[i]
    n = args[i + 1] if i + 1 < len(args) else ""
    if a in drop or (a == "-object" and "secret" in n) or (a == "-chardev" and "charmonitor" in n):
        i += 2; continue
    if a in alone:
        i += 1; continue
    for fd, name in files.items():
        a = a.replace(fd, sys.argv[3] + name)
    if a:
        out.append(a.replace(sys.argv[2], sys.argv[3]))
    i += 1
print("\0".join(out), end="")
P
}
fresh() { # a new directory with the job alone, as a boot wants it
	rm -rf "$TEST_TMP/$1"; mkdir "$TEST_TMP/$1"; cp "$boot/job.json" "$TEST_TMP/$1/"
}
hand() {
	fresh hand; local dir=$TEST_TMP/hand bytes
	bytes=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["results_bytes"])' "$boot/job.json")
	truncate -s "$bytes" "$dir/results.img"
	bytes=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["scratch_bytes"])' "$boot/job.json")
	truncate -s "$bytes" "$dir/scratch.img"
	by_hand "$dir" | xargs -0 sh -c 'exec "$@"' _ > "$TEST_TMP/hand.log" 2>&1 || { cat "$TEST_TMP/hand.log"; return 1; }
}
lab() { fresh lab; "$NUMALAB" boot "$TEST_TMP/lab" > /dev/null; }
ms() { local began; began=$(date +%s%N); "$@" || return 1; echo $((($(date +%s%N) - began) / 1000000)); }

lab >/dev/null && hand || { not_ok "warm-up" "could not boot"; finish; }
ratios=()
for p in $(seq "$pairs"); do
	if [ $((p % 2)) = 0 ]; then h=$(ms hand) && l=$(ms lab); else l=$(ms lab) && h=$(ms hand); fi || { not_ok "pair $p"; finish; }
	ratios+=("$(awk -v l="$l" -v h="$h" 'BEGIN { printf "%.3f", l / h }')")
	echo "pair $p: numalab boot $l ms, QEMU by hand $h ms, ratio ${ratios[-1]}"
done
median=$(printf '%s\n' "${ratios[@]}" | sort -n | sed -n "$(((pairs + 1) / 2))p")
echo "median ratio $median"
if awk -v m="$median" 'BEGIN { exit !(m <= 1.05) }'; then ok "numalab boot costs at most 5 % ($median)"; else not_ok "numalab boot costs at most 5 %" "$median"; fi

# Time to the agent's first record, Debian 6.1, 4 CPUs, plain emulation.
run_exit 0 "clock tcg" "$NUMALAB" run "$data/scenarios/small.yaml" --set clock=tcg || finish
run=$(ls -d "$NUMALAB_STORE"/runs/* | sort -V | tail -n 1)
python3 - "$(ls -d "$run"/boots/* | head -n 1)/result.json" <<'P' && ok "parts of a boot printed" || not_ok "parts of a boot"
import json, sys
r = json.load(open(sys.argv[1]))
s = r["stage_us"]
if isinstance(s, dict): s = list(s.values())
names = ["domain defined and started", "firmware and kernel to first output", "kernel to the agent's start", "agent and steps", "power-off"]
before = 0
for name, us in zip(names, s):
    print(f"{(us - before) / 1e6:8.3f} s  {name}")
    before = us
print(f"start to the agent's first record: {s[2] / 1e6:.3f} s")
P
finish
