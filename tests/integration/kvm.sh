# SPDX-License-Identifier: GPL-2.0-or-later
# The tests of clock kvm (tests/kvm/): here, where KVM runs guests and the host has what they need; else in a nested host.
. "$TEST_TREE/tests/lib.sh"

if [ "$(id -u)" = 0 ] && [ "$(wc -l < /proc/swaps)" -gt 1 ] && [ -d /sys/kernel/tracing/events/kvm ] && "$NUMALAB" doctor --kvm-probe /dev/kvm | grep -q ^works; then
	for script in "$TEST_TREE"/tests/kvm/*.sh; do bash "$script" || failed=1; done
	finish
fi

# A tree for the guest: what was built, the tests, and a cache with one kernel and one image.
files=$TEST_TMP/files
json() { sed -nE "s/^ *\"$1\" *: *\"([^\"]*)\",?$/\1/p" | head -n 1; }
kernel=$("$NUMALAB" kernel show --json debian:bookworm | json boot_path)
image=$("$NUMALAB" image show --json xfs | json path)
if [ -z "$kernel" ] || [ -z "$image" ]; then not_ok "kernel and image" "not in the cache $NUMALAB_CACHE"; finish; fi
mkdir -p "$files"/{build,tests,cache/kernel,cache/images}
cp "${NUMALAB%/*}"/numalab{,-agent,-emulator,-tlbclock.so} "$files/build/"
cp -r "$TEST_TREE"/{images,lab,scenarios,topologies} "$files/"
cp -r "$TEST_TREE"/tests/{data,kvm,lib.sh,nested} "$files/tests/"
cp "$NUMALAB_CACHE/CACHEDIR.TAG" "$files/cache/"
cp -r "$NUMALAB_CACHE"/{kernel-spec,image-recipe} "$files/cache/"
cp -r "${kernel%/*}" "$files/cache/kernel/"
cp -r "${image%/*}" "$files/cache/images/"

run_exit 0 "a nested host" "$NUMALAB" run "$TEST_TREE/tests/nested/host.yaml" --set "files=$files"
boot=$(ls -d "$NUMALAB_STORE"/runs/1/boots/* | head -n 1)
[ "$failed" = 0 ] || { echo "$errors"; tail -n 20 "$boot/console.log"; tail -n 40 "$boot/steps/tests/stderr"; } | sed 's/^/    /'
cat "$boot/steps/tests/stdout"
grep -q '^ok ' "$boot/steps/tests/stdout" || not_ok "tests in the nested host" "none ran"
grep -q '^not ok ' "$boot/steps/tests/stdout" && failed=1
finish
