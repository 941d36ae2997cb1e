#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# make install: what is installed works without the tree, also below another prefix than it was built for.
set -uo pipefail
: "${NUMALAB:?}" "${TEST_TMP:?}" "${TEST_TREE:?}"
failures=0
ok() { echo "ok $1"; }
bad() { echo "not ok $1: $2"; failures=$((failures + 1)); }

dest=$TEST_TMP/dest
build=$(basename "$(dirname "$NUMALAB")")
if ! make -C "$TEST_TREE" install B="$build" DESTDIR="$dest" PREFIX=/opt/lab NUMALAB_DEPS_DONE=1 >"$TEST_TMP/log" 2>&1; then
	bad "make install" "$(tail -n 3 "$TEST_TMP/log" | tr '\n' ' ')"
	exit 1
fi
ok "make install"
cd / || exit 1
installed=$dest/opt/lab/bin/numalab
for what in topologies:topology scenarios:scenario; do
	folder=${what%:*} verb=${what#*:}
	want=$(cd "$TEST_TREE/$folder" && for f in *.yaml; do echo "${f%.yaml}"; done | sort)
	found=$("$installed" "$verb" list | awk 'NR > 1 { print $1 }' | sort)
	if [ "$want" = "$found" ]; then ok "installed $folder"; else bad "installed $folder" "$found"; fi
done
# In whole: a grep that stops reading would fail the doctor that is still writing.
doctor=$("$installed" doctor --json)
if grep -q "$dest/opt/lab/libexec/numalab/numalab-agent" <<<"$doctor"; then ok "installed agent"
else bad "installed agent" "doctor does not find it"; fi
verbs=$("$installed" help | sed -nE 's/^  ([a-z]+) .*/\1/p')
for v in $verbs; do
	[ -s "$dest/opt/lab/share/man/man1/numalab-$v.1" ] || bad "installed man pages" "no numalab-$v.1"
done
for f in man/man1/numalab.1 man/man5/numalab-scenario.5 bash-completion/completions/numalab; do
	if [ -s "$dest/opt/lab/share/$f" ]; then ok "installed $f"; else bad "installed $f" "not there"; fi
done
[ "$failures" = 0 ]
