# SPDX-License-Identifier: GPL-2.0-or-later
# The exact clock: the same bytes again, on an idle and on a busy host, and from an empty cache. 8 CPUs on 4 nodes.
. "$TEST_TREE/tests/lib.sh"
scenario=$data/scenarios/small.yaml

run_exit 0 "8 CPUs on 4 nodes, 2 seeds" "$NUMALAB" run "$scenario" --offline --boots 2 --set topology=vnuma-4x2p-512M || finish
dir=$(ls -d "$NUMALAB_STORE"/runs/* | sort -V | tail -n 1)
one=$(sample real-xfsrepair "$dir" "$(ls "$dir/boots" | sed -n 1p)")
two=$(sample real-xfsrepair "$dir" "$(ls "$dir/boots" | sed -n 2p)")
if [ -n "$one" ] && [ "$one" != "$two" ]; then ok "two seeds, two samples"; else not_ok "two seeds, two samples" "$one and $two"; fi

busy=()
trap '[ ${#busy[@]} -eq 0 ] || kill "${busy[@]}" 2>/dev/null' EXIT
for _ in $(seq "$(nproc)"); do ( while :; do :; done ) & busy+=($!); done
run_exit 0 "verify, every core busy" "$NUMALAB" verify --offline latest
matches "verify says how many" '^run 1: 2 of 2 boots identical$' "$output"
kill "${busy[@]}"; wait "${busy[@]}" 2>/dev/null; busy=()

# Everything fetched and built again, by another copy of the tree, in another place.
mkdir "$TEST_TMP/elsewhere"
cp -r "$TEST_TREE"/{lab,topologies,images,scenarios} "$TEST_TMP/elsewhere/"
mkdir "$TEST_TMP/elsewhere/build"; cp "${NUMALAB%/*}"/numalab* "$TEST_TMP/elsewhere/build/"
boot=$(ls "$dir/boots" | head -n 1)
run_exit 0 "verify from an empty cache and another tree" "$TEST_TMP/elsewhere/build/numalab" --cache "$TEST_TMP/cache" verify latest "$boot"
matches "one boot, identical" '^run 1: 1 of 1 boots identical$' "$output"

# A difference is found and named, not merely counted.
printf x | dd of="$dir/boots/$boot/console.log" bs=1 seek=100 conv=notrunc status=none
python3 - "$dir/boots/$boot" <<'P'
import hashlib, json, sys
d = sys.argv[1]
r = json.load(open(d + "/result.json"))
r["digest"] = "0" * 64
json.dump(r, open(d + "/result.json", "w"))
P
run_exit 3 "a boot that differs" "$NUMALAB" verify --offline latest "$boot"
matches "the first difference is named" "^$boot differs: console.log" "$output"
finish
