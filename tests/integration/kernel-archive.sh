#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels from a small signed Debian archive of our own, with the real apt: what the world's archives do seldom, and when
# they do it hurts. Needs no network.
set -uo pipefail
: "${NUMALAB:?}" "${TEST_TMP:?}"
chmod 755 "$TEST_TMP" # apt's methods run as another user
cd "$TEST_TMP" || exit 1
export NUMALAB_CACHE=$TEST_TMP/cache APT_CONFIG=$TEST_TMP/apt.conf GNUPGHOME=$TEST_TMP/gnupg
failures=0
ok() { echo "ok $1"; }
bad() { echo "not ok $1: $2"; failures=$((failures + 1)); }

for tool in gpg dpkg-deb dpkg-scanpackages as ld xz; do
	command -v "$tool" >/dev/null || { echo "skip kernel-archive: no $tool"; exit 0; }
done

# run NAME EXIT ARGUMENT...: output in out and err
run() {
	local name=$1 want=$2 rc
	shift 2
	"$NUMALAB" "$@" >out 2>err </dev/null
	rc=$?
	[ "$rc" = "$want" ] || { bad "$name" "exit $rc, wanted $want: $(tail -n 3 err | head -c 500)"; return 1; }
}
# says NAME EXIT TEXT ARGUMENT...: the last line of stderr has TEXT
says() {
	local name=$1 want=$2 text=$3
	shift 3
	run "$name" "$want" "$@" || return
	if tail -n 1 err | grep -qF -- "$text"; then ok "$name"; else bad "$name" "wanted '$text', found: $(tail -n 1 err | head -c 500)"; fi
}
# gives NAME TEXT ARGUMENT...: exit 0, and stdout has TEXT
gives() {
	local name=$1 text=$2
	shift 2
	run "$name" 0 "$@" || return
	if grep -qF -- "$text" out; then ok "$name"; else bad "$name" "wanted '$text', found: $(head -c 500 out)"; fi
}
# as if the index had been fetched two hours ago
age() { find "$NUMALAB_CACHE"/apt/*/fetched "$NUMALAB_CACHE"/kernel-spec/* -exec touch -d '2 hours ago' {} +; }

# ---- a kernel --------------------------------------------------------------------------------------
# kernel RELEASE FILE: a bzImage with a PVH vmlinux in it
kernel() {
	as --64 -o k.o - <<-ASM
		.section .note.id,"a",@note
		.balign 4
		.long 4, 20, 3
		.asciz "GNU"
		.fill 20, 1, 0xab
		.section .note.xen,"a",@note
		.balign 4
		.long 4, 4, 18
		.asciz "Xen"
		.long 0x1000000
		.text
		.globl _start
		_start: hlt
		.fill 3000, 1, 0x90
	ASM
	ld --build-id=none -o k.elf k.o
	xz --check=crc32 -c k.elf > k.xz
	le32 "$(stat -c %s k.elf)" >> k.xz
	{
		head -c $((0x1f1)) /dev/zero; printf '\001'; head -c $((0x202 - 0x1f2)) /dev/zero
		printf 'HdrS\017\002'; head -c $((0x20e - 0x208)) /dev/zero; printf '\000\001'
		head -c $((0x248 - 0x210)) /dev/zero; le32 0; le32 "$(stat -c %s k.xz)"
		head -c $((0x300 - 0x250)) /dev/zero; printf '%s (who@where) #1' "$1"
	} > k.setup
	truncate -s 1024 k.setup
	cat k.setup k.xz > "$2"
}
le32() { printf "$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24 & 255)))"; }

module() { # FILE
	printf '.section .modinfo,"a"\n.asciz "license=GPL"\n.text\nnop\n' | as --64 -o "$1" -
}

# deb NAME VERSION DEPENDS [DIRECTORY]: into the pool
deb() {
	local root=${4:-$(mktemp -d -p "$TEST_TMP")}
	mkdir -p "$root/DEBIAN" debian/pool
	printf 'Package: %s\nVersion: %s\nArchitecture: amd64\nMaintainer: T <t@example.org>\nDepends: %s\nDescription: x\n' \
		"$1" "$2" "$3" > "$root/DEBIAN/control"
	dpkg-deb -Znone --root-owner-group -b "$root" "debian/pool/$1_${2//:/%3a}_amd64.deb" >/dev/null
}

# whole RELEASE VERSION: a kernel in one package, and the metapackage
whole() {
	local d=$TEST_TMP/whole; rm -rf "$d"
	mkdir -p "$d/boot" "$d/lib/modules/$1/kernel"
	kernel "$1" "$d/boot/vmlinuz-$1"
	echo 'CONFIG_NUMA=y' > "$d/boot/config-$1"
	module "$d/lib/modules/$1/kernel/x.ko"
	deb "linux-image-$1" "$2" "kmod, linux-base (>= 4.3~)" "$d"
	deb linux-image-amd64 "$2" "linux-image-$1 (= $2)"
}

# split RELEASE VERSION: as Debian's 7.x
split() {
	local d=$TEST_TMP/split; rm -rf "$d"
	mkdir -p "$d/bin/usr/lib/modules/$1" "$d/mod/usr/lib/modules/$1/kernel" "$d/base/usr/lib/modules/$1"
	kernel "$1" "$d/bin/usr/lib/modules/$1/vmlinuz"
	echo 'CONFIG_NUMA=y' > "$d/base/usr/lib/modules/$1/config"
	module "$d/mod/usr/lib/modules/$1/kernel/x.ko"
	deb "linux-base-$1" "$2" "linux-base" "$d/base"
	deb "linux-binary-$1" "$2" "linux-base-$1 (= $2)" "$d/bin"
	deb "linux-modules-$1" "$2" "linux-base-$1 (= $2)" "$d/mod"
	deb "linux-image-$1" "$2" "linux-binary-$1 (= $2), linux-modules-$1 (= $2), linux-headers-9.9.9 | x"
	deb linux-image-amd64 "$2" "linux-base-amd64, linux-image-$1 (= $2)"
}

# publish SUITE [VALID-UNTIL]: index and sign what is in the pool
publish() {
	local d=debian/dists/$1
	rm -rf "$d"
	mkdir -p "$d/main/binary-amd64"
	(cd debian && dpkg-scanpackages -m pool) > "$d/main/binary-amd64/Packages" 2>/dev/null
	{
		printf 'Origin: Debian\nLabel: Debian\nSuite: %s\nCodename: %s\nArchitectures: amd64\nComponents: main\nDate: %s\n' \
			"$1" "$1" "$(date -Ru -d '-40 days')"
		[ -z "${2:-}" ] || printf 'Valid-Until: %s\n' "$2"
		printf 'SHA256:\n %s %s main/binary-amd64/Packages\n' "$(sha256sum < "$d/main/binary-amd64/Packages" | cut -d' ' -f1)" \
			"$(stat -c %s "$d/main/binary-amd64/Packages")"
	} > "$d/Release"
	gpg -q --batch --yes --local-user "${signer:-archive@example.org}" --clearsign -o "$d/InRelease" "$d/Release"
}

# ---- the host: its own apt configuration has this archive ------------------------------------------
mkdir -m 700 gnupg
for who in archive stranger; do
	gpg -q --batch --passphrase '' --quick-generate-key "$who@example.org" rsa2048 sign never 2>/dev/null ||
		{ bad "a key for the archive" "gpg failed"; exit 1; }
done
gpg -q --export archive@example.org > archive.gpg
mkdir -p host/lists/partial host/parts
cat > apt.conf <<-CONF
	Dir::Etc::sourcelist "$TEST_TMP/host.sources";
	Dir::Etc::sourceparts "$TEST_TMP/host/parts";
	Dir::Etc::preferences "$TEST_TMP/host.preferences";
	Dir::State::lists "$TEST_TMP/host/lists";
	APT::Default-Release "nothing";
	APT::Update::Post-Invoke { "touch $TEST_TMP/hook-ran"; };
	APT::Update::Pre-Invoke { "touch $TEST_TMP/hook-ran"; };
CONF
printf 'Types: deb\nURIs: file:%s/debian\nSuites: old\nComponents: main\nSigned-By: %s\n' "$TEST_TMP" "$TEST_TMP/archive.gpg" > host.sources
printf 'Package: *\nPin: release *\nPin-Priority: -1\n' > host.preferences

whole 6.1.0-1-amd64 6.1.10-1
publish made

# ---- what is wanted --------------------------------------------------------------------------------
gives "the suite's kernel, although it has no updates and no security suite" \
	"debian:made: 6.1.0-1-amd64" kernel add debian:made
gives "release, version and build id" '"version" : "6.1.10-1"' kernel show --json debian:made
grep -q '"build_id" : "abababababababababababababababababababab"' out || bad "build id" "$(grep build_id out)"
grep -q '"pvh" : true' out || bad "PVH" "$(grep pvh out)"
if [ -e hook-ran ]; then bad "the host's hooks do not run" "one ran"; else ok "the host's hooks do not run"; fi
gives "again: from the cache" "in the cache" kernel add debian:made
gives "offline: from the cache" "in the cache" kernel add --offline debian:made

whole 6.1.0-2-amd64 6.1.20-1
publish made
gives "a newer one, within the hour: still the same" "6.1.0-1-amd64" kernel add debian:made
age
gives "after an hour: the newer one" "debian:made: 6.1.0-2-amd64" kernel add debian:made
gives "offline: the newest that was fetched" "6.1.0-2-amd64" kernel add --offline debian:made
gives "a version that was written down" "6.1.0-1-amd64" kernel add debian:made/linux-image-amd64=6.1.10-1
gives "a package of one release" "6.1.0-1-amd64" kernel add debian:made/linux-image-6.1.0-1-amd64
gives "both are listed" "6.1.20-1" kernel list
grep -q "6.1.10-1" out || bad "both are listed" "$(cat out)"

split 7.2.1-amd64 7.2.1-1
publish split
gives "a kernel in several packages" "debian:split: 7.2.1-amd64" kernel add debian:split
gives "its modules and config" '"config_path" : "' kernel show --json debian:split
modules=$(sed -nE 's/.*"modules_path" : "(.*)".*/\1/p' out)
if [ -s "$modules/modules.dep" ] && [ -s "$modules/kernel/x.ko.zst" ]; then ok "its modules"; else bad "its modules" "$(ls -R "$modules")"; fi

publish expired "$(date -Ru -d '-10 days')"
gives "an index past its Valid-Until" "debian:expired: 7.2.1-amd64" kernel add debian:expired

# ---- what goes wrong -------------------------------------------------------------------------------
says "no such suite" 2 "there is no Debian suite 'mode' on the mirror" kernel add debian:mode
says "no such package" 2 "made has no package 'linux-image-amd46' (did you mean 'linux-image-amd64'?)" \
	kernel add debian:made/linux-image-amd46
says "no such version" 2 "made has no linux-image-amd64=6.1.11-1; it has: 6.1.20-1, 6.1.10-1" \
	kernel add debian:made/linux-image-amd64=6.1.11-1
says "offline, never fetched" 3 "debian:sid is not in the cache" kernel add --offline debian:sid

deb kmod 30-1 ""
deb linux-image-9.9.9-amd64 9.9.9-1 ""
publish odd
says "a package that is no kernel" 2 "kmod in odd is not a package of a kernel" kernel add debian:odd/kmod
says "a package with a kernel's name and no kernel" 3 "linux-image-9.9.9-amd64 holds no kernel" kernel add debian:odd/linux-image-9.9.9-amd64

signer=stranger@example.org publish foreign
says "an index signed by somebody else" 3 "cannot fetch the package index of foreign" kernel add debian:foreign

whole 6.1.0-3-amd64 6.1.30-1
publish damaged
printf 'x' | dd of=debian/pool/linux-image-6.1.0-3-amd64_6.1.30-1_amd64.deb bs=1 seek=300 conv=notrunc status=none
before=$(find "$NUMALAB_CACHE/kernel" -mindepth 1 -maxdepth 1 -type d | sort)
says "a package that is not the one that was signed" 3 "cannot download from damaged" \
	kernel add debian:damaged/linux-image-6.1.0-3-amd64
after=$(find "$NUMALAB_CACHE/kernel" -mindepth 1 -maxdepth 1 -type d | sort)
if [ "$before" = "$after" ]; then ok "nothing of it is left"; else bad "nothing of it is left" "$(diff <(echo "$before") <(echo "$after"))"; fi

sed -i 's,^URIs: .*,URIs: http://127.0.0.1:9/debian,' host.sources
age
says "the mirror does not answer" 3 "cannot fetch the package index of split" kernel add debian:split
gives "but offline there is the last one" "7.2.1-amd64" kernel add --offline debian:split

: > host.sources
says "a host without a Debian archive" 3 "the host's apt configuration has no Debian archive to take sid from" kernel add debian:sid

[ "$failures" = 0 ]
