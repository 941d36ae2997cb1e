# SPDX-License-Identifier: GPL-2.0-or-later
# The exact clock: the same bytes again, from an empty cache, with 8 CPUs, and with every core of the host kept busy.
. "$TEST_TREE/tests/lib.sh"
scenario=$data/scenarios/small.yaml

run_exit 0 "4 CPUs on 4 nodes, 2 seeds" "$NUMALAB" run "$scenario" --offline --boots 2 || finish
dir=$(ls -d "$NUMALAB_STORE"/runs/* | sort -V | tail -n 1)
one=$(sample real-xfsrepair "$dir" "$(ls "$dir/boots" | sed -n 1p)")
two=$(sample real-xfsrepair "$dir" "$(ls "$dir/boots" | sed -n 2p)")
if [ -n "$one" ] && [ "$one" != "$two" ]; then ok "two seeds, two samples"; else not_ok "two seeds, two samples" "$one and $two"; fi

run_exit 0 "verify" "$NUMALAB" verify --offline latest
matches "verify says how many" '^run 1: 2 of 2 boots identical$' "$output"

# Everything fetched and built again, by another copy of the tree, in another place.
mkdir "$TEST_TMP/elsewhere"
cp -r "$TEST_TREE"/{lab,topologies,images,scenarios} "$TEST_TMP/elsewhere/"
mkdir "$TEST_TMP/elsewhere/build"; cp "${NUMALAB%/*}"/numalab* "$TEST_TMP/elsewhere/build/"
boot=$(ls "$dir/boots" | head -n 1)
run_exit 0 "verify from an empty cache and another tree" "$TEST_TMP/elsewhere/build/numalab" --cache "$TEST_TMP/cache" verify latest "$boot"
matches "one boot, identical" '^run 1: 1 of 1 boots identical$' "$output"

# 8 CPUs on 4 nodes, long enough for TLBs to change their sizes; the host is idle at first, then every core is busy.
run_exit 0 "8 CPUs on 4 nodes" "$NUMALAB" run "$data/scenarios/study-xfs-8.yaml" --offline || finish
busy_start
run_exit 0 "verify on a busy host" "$NUMALAB" verify --offline --repeat 2 latest
busy_stop
matches "8 CPUs, busy: identical" '^run 2: 2 of 2 boots identical$' "$output"

# A difference is found and named, not merely counted.
printf x | dd of="$dir/boots/$boot/console.log" bs=1 seek=100 conv=notrunc status=none
python3 - "$dir/boots/$boot" <<'P'
import hashlib, json, sys
d = sys.argv[1]
r = json.load(open(d + "/result.json"))
r["digest"] = "0" * 64
json.dump(r, open(d + "/result.json", "w"))
P
run_exit 3 "a boot that differs" "$NUMALAB" verify --offline 1 "$boot"
matches "the first difference is named" "^$boot differs: console.log" "$output"
finish
