# SPDX-License-Identifier: GPL-2.0-or-later
# The guest is the machine that was asked for, and numa=fake and -numa are two different machines.
. "$TEST_TREE/tests/lib.sh"
# A step that prints the machine as the guest sees it.
cat > "$TEST_TMP/look.yaml" <<'Y'
name: look
topology: vnuma-4x1p-512M
image: xfs
kernels: [debian:bookworm]
clock: tcg
boots: 1
steps:
  - run: {name: look, argv: [numactl, -H]}
Y
look() { # TOPOLOGY: what numactl -H says there, without the free memory
	"$NUMALAB" run --offline "$TEST_TMP/look.yaml" --set "topology=$1" > "$TEST_TMP/.out" 2> "$TEST_TMP/.err" ||
		{ tail -n 5 "$TEST_TMP/.err"; return 1; }
	local dir; dir=$(ls -d "$NUMALAB_STORE"/runs/* | sort -V | tail -n 1)
	grep -v ' free:' "$dir"/boots/*/steps/look/stdout
}
for t in vnuma-4x1p-512M vnuma-4x1p-512M-ring vnuma-3n-memoryless vnuma-3n-cpuless vnuma-8x1p-256M vnuma-2x2p-1G vnuma-1p-4n-512M vnuma-4x2p-512M; do
	found=$(look "$t") || { not_ok "$t boots" "$found"; continue; }
	# Sizes are the asked ones less what firmware and kernel keep: the agent checks them; here CPUs and distances.
	wanted=$("$NUMALAB" topology show "$t" | grep -v ' size:'); seen=$(grep -v ' size:' <<<"$found")
	equal "$t: nodes, CPUs, distances" "$(tr -s ' \n' ' ' <<<"$wanted")" "$(tr -s ' \n' ' ' <<<"$seen")"
done
found=$(look fake-4x1p-512M) || not_ok "fake boots" "$found"
equal "fake: every node lists every CPU" 4 "$(grep -c 'cpus: 0 1 2 3$' <<<"$found")"
equal "fake: all distances are 10" "10 10 10 10" "$(sed -n 's/^ *0: *//p' <<<"$found" | tr -s ' ' | sed 's/ $//')"
finish
