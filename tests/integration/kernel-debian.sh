#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's kernels of all suites, really fetched (once: they stay in the cache of the tests), and what is in them.
# Requires the network.
set -uo pipefail
: "${NUMALAB:?}" "${TEST_TMP:?}" "${NUMALAB_CACHE:?}"
cd "$TEST_TMP" || exit 1
failures=0
ok() { echo "ok $1"; }
bad() { echo "not ok $1: $2"; failures=$((failures + 1)); }

# What apt and dpkg know on this host, and its kernels.
host_state() {
	find /var/lib/apt /var/cache/apt /var/lib/dpkg /boot /lib/modules /etc/apt -printf '%p %s %T@\n' 2>/dev/null | sort
}
field() { sed -nE "s/.*\"$1\" : \"?([^\",]*)\"?,?\$/\1/p" out; }

host_state > host.before
declare -A upstream=([bullseye]=5.10 [bookworm]=6.1 [bookworm-backports]=6.12 [trixie]=6.12 [sid]='[0-9]+\.[0-9]+')
for suite in bullseye bookworm bookworm-backports trixie sid; do
	name="debian:$suite"
	"$NUMALAB" kernel add "$name" >added 2>err || { bad "$name" "$(tail -n 1 err)"; continue; }
	"$NUMALAB" kernel show --json "$name" >out 2>err || { bad "$name" "$(tail -n 1 err)"; continue; }
	release=$(field release)
	modules=$(field modules_path)
	why=
	[[ $release =~ ^${upstream[$suite]}[.].*-amd64$ ]] || why="release '$release'"
	[[ $(field version) =~ ^${upstream[$suite]}[.] ]] || why+=" version '$(field version)'"
	[[ $(field build_id) =~ ^[0-9a-f]{40}$ ]] || why+=" build id '$(field build_id)'"
	[ "$(field pvh)" = true ] || why+=" no PVH"
	[ "$(head -c 4 "$(field boot_path)" | od -An -tx1 | tr -d ' \n')" = 7f454c46 ] || why+=" no ELF file"
	grep -q '^CONFIG_NUMA_BALANCING=y' "$(field config_path)" || why+=" no config"
	for m in nfit nd_pmem erofs overlay xfs; do
		grep -qE "/$m\\.ko[.a-z]*:" "$modules/modules.dep" || why+=" no module $m"
	done
	if [ -z "$why" ]; then ok "$name: $release"; else bad "$name" "$why"; fi
done

"$NUMALAB" kernel add --offline debian:bookworm >out 2>err
if grep -q 'in the cache' out; then ok "again, without the network"; else bad "again, without the network" "$(cat err)"; fi

host_state > host.after
if cmp -s host.before host.after; then ok "the host's apt, dpkg and kernels are as before"
else bad "the host's apt, dpkg and kernels are as before" "$(diff host.before host.after | head -n 5)"; fi

# Two at once into an empty cache: one fetches, both get it.
export NUMALAB_CACHE=$TEST_TMP/cache
package=debian:bookworm/linux-image-cloud-amd64
for i in 1 2; do "$NUMALAB" kernel add $package >"out.$i" 2>"err.$i" & done
wait
digests=$(awk '{ print $3 }' out.1 out.2 | sort -u | grep -c .)
if [ "$digests" = 1 ] && [ "$(cat out.1 out.2 | wc -l)" = 2 ] && [ "$(cat out.1 out.2 | grep -c fetched)" = 1 ]; then
	ok "two at once: one fetches"
else
	bad "two at once: one fetches" "$(cat out.1 out.2 err.1 err.2 | tail -n 4)"
fi

# Without network at all. (Not by a user namespace: apt changes its user, which one cannot in there.)
if unshare -n true 2>/dev/null; then
	NUMALAB_CACHE=$TEST_TMP/other unshare -n "$NUMALAB" kernel add debian:bookworm >out 2>err
	rc=$?
	if [ "$rc" = 3 ] && tail -n 1 err | grep -q 'cannot fetch the package index of bookworm: .*resol'; then ok "no network: exit 3"
	else bad "no network: exit 3" "exit $rc: $(tail -n 1 err)"; fi
else
	echo "skip no network: needs root"
fi

# As a user who is not root.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	mkdir user && chown 65534:65534 user && chmod 755 "$TEST_TMP"
	# A copy: the tree may be in a directory that only root can enter.
	mkdir bin && cp "$NUMALAB" bin/numalab
	HOME=$TEST_TMP/user NUMALAB_CACHE=$TEST_TMP/user/cache setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$TEST_TMP/bin/numalab" kernel add $package >out 2>err
	if grep -q fetched out; then ok "not as root"; else bad "not as root" "$(tail -n 2 err)"; fi
fi

# A cache on a full disk: says so, leaves nothing, and works once there is room.
if unshare -m true 2>/dev/null; then
	mkdir small
	export package
	unshare -m bash -c 'mount -t tmpfs -o size=70m none small && chmod 755 small || exit
		export NUMALAB_CACHE=$PWD/small/c
		"$NUMALAB" kernel add "$package" >out 2>err; echo "exit $?" >rc
		find small/c/kernel -mindepth 1 ! -name "*.lock" >left
		mount -o remount,size=400m small
		"$NUMALAB" kernel add "$package" >out 2>err.more; echo "exit $?" >rc.more'
	if [ "$(cat rc)" = "exit 3" ] && tail -n 1 err | grep -q "the file system of the cache .* is full: " && ! [ -s left ]; then
		ok "a full disk"
	else
		bad "a full disk" "$(cat rc): $(tail -n 1 err) left: $(cat left)"
	fi
	if [ "$(cat rc.more)" = "exit 0" ]; then ok "room again"; else bad "room again" "$(tail -n 1 err.more)"; fi
else
	echo "skip a full disk: needs root"
	echo "skip room again: needs root"
fi

[ "$failures" = 0 ]
