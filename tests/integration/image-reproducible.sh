#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The shipped recipe, built twice: in the cache of the tests, and in an empty one from another directory, with another TMPDIR, HOME, time zone,
# locale and umask. Needs a Debian mirror; root, or user namespaces and uidmap.
set -uo pipefail
bad=0
ok() { echo "ok $1"; }
not_ok() { echo "not ok $1: $2"; bad=1; }
check() { # NAME WHY COMMAND...
	local name=$1 why=$2
	shift 2
	if "$@"; then ok "$name"; else not_ok "$name" "$why"; fi
}
fresh=$TEST_TMP/cache
field() { "$NUMALAB" --cache "$1" image show --json xfs | sed -nE "s/^ *\"$2\" : \"?([^\",]*)\"?,?$/\1/p"; }

# ---- errors, before anything is built
cat > "$TEST_TMP/typo.yaml" <<'YAML'
suite: bookworm
packages:
  - busybox
  - xfsprgos
YAML
out=$("$NUMALAB" --cache "$NUMALAB_CACHE" image build "$TEST_TMP/typo.yaml" 2>&1); rc=$?
check image-missing-package "exit $rc: $out" \
	grep -qF "$TEST_TMP/typo.yaml:4:5: bookworm has no package 'xfsprgos' (did you mean 'xfsprogs'?)" <<<"$out"
check image-missing-package-exit "exit $rc" [ "$rc" = 2 ]
sed 's/bookworm/bokworm/; /xfsprgos/d' "$TEST_TMP/typo.yaml" > "$TEST_TMP/suite.yaml"
out=$("$NUMALAB" --cache "$NUMALAB_CACHE" image build "$TEST_TMP/suite.yaml" 2>&1); rc=$?
check image-missing-suite "exit $rc: $out" grep -qF "$TEST_TMP/suite.yaml:1:8: " <<<"$out"
check image-missing-suite-exit "exit $rc" [ "$rc" = 2 ]
out=$("$NUMALAB" --cache "$fresh" image build --offline xfs 2>&1); rc=$?
check image-offline-empty "exit $rc: $out" [ "$rc" = 3 ]

# ---- twice
"$NUMALAB" --cache "$NUMALAB_CACHE" image build xfs || { not_ok image-build "see above"; exit 1; }
mkdir -p "$TEST_TMP/tmp dir" "$TEST_TMP/home"
chmod 1777 "$TEST_TMP/tmp dir"
chmod 755 "$TEST_TMP"
(
	umask 077
	cd / && TMPDIR="$TEST_TMP/tmp dir" HOME="$TEST_TMP/home" TZ=Asia/Tokyo LC_ALL=C.UTF-8 LANG=de_DE.UTF-8 \
		"$NUMALAB" --cache "$fresh" image build xfs
) || { not_ok image-build-again "see above"; exit 1; }
one=$(field "$NUMALAB_CACHE" digest) two=$(field "$fresh" digest)
first=$(field "$NUMALAB_CACHE" path) second=$(field "$fresh" path)
check image-same-packages "$(diff "$(field "$NUMALAB_CACHE" packages)" "$(field "$fresh" packages)")" \
	cmp -s "$(field "$NUMALAB_CACHE" packages)" "$(field "$fresh" packages)"
check image-reproducible "$one and $two: $(cmp "$first" "$second" 2>&1)" [ -n "$one" -a "$one" = "$two" ]
check image-digest "the digest is not the file's" [ "$(sha256sum < "$second")" = "$two  -" ]
check image-size "$(stat -c %s "$second") is no multiple of 2 MiB" [ $(($(stat -c %s "$second") % (2 << 20))) = 0 ]
left=$(ls -A "$(dirname "$second")" "$TEST_TMP/tmp dir" "$TEST_TMP/home" | grep -vE ':$|^$|^(image.json|packages.txt|root.erofs)$')
check image-nothing-left "$left" [ -z "$left" ]

# ---- what is in it
root=$TEST_TMP/root
fsck.erofs --extract="$root" "$second" > "$TEST_TMP/fsck" 2>&1 || not_ok image-fsck "$(tail -n 1 "$TEST_TMP/fsck")"
for d in proc sys dev run tmp mnt; do [ -d "$root/$d" ] || not_ok image-directories "no /$d"; done
for p in sbin/mkfs.xfs sbin/xfs_repair bin/fs_mark bin/numactl bin/perf bin/busybox bin/sh; do
	[ -x "$root/usr/$p" ] || not_ok image-programs "no /usr/$p"
done
here=$(cd "$root" && find . \( -path ./etc/hostname -o -path ./etc/resolv.conf -o -path ./etc/machine-id -o -path './etc/shadow*' -o -path './var/log/*' \
	-o -path './var/cache/*' -o -path './etc/apt/sources.list*' -o -name __pycache__ -o -perm /6000 -o -newermt '2026-01-02' \) ! -path ./etc/apt/sources.list.d)
check image-no-host-state "$here" [ -z "$here" ]

# ---- cached
out=$("$NUMALAB" --cache "$fresh" image build --offline xfs 2>/dev/null)
check image-cached "$out" [ "$out" = "image xfs ${two:0:12} $(($(stat -c %s "$second") >> 20))MiB, cached" ]
exit $bad
