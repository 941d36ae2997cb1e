# SPDX-License-Identifier: GPL-2.0-or-later
# What a scenario brings along: kernel modules, and files of the host.
. "$TEST_TREE/tests/lib.sh"
mkdir -p "$TEST_TMP/files/bin"
echo "hello from outside" > "$TEST_TMP/files/hello"
printf '#!/bin/sh\necho "ran $0"\n' > "$TEST_TMP/files/bin/tool"; chmod 755 "$TEST_TMP/files/bin/tool"
ln -s bin/tool "$TEST_TMP/files/link"
cat > "$TEST_TMP/files.yaml" <<'Y'
topology: vnuma-4x1p-512M
image: xfs
kernels: [debian:bookworm]
clock: tcg
boots: 1
modules: [kvm-amd, loop]
files: files
steps:
  - run: [cat, /files/hello]
  - run: {argv: [/files/link], name: link}
  - run: {argv: [stat, -c, '%n %u:%g %Y %a', /files/hello, /files/bin/tool], name: stat}
  - run: {argv: [sh, -c, 'touch /files/new 2>&1; rm /files/hello 2>&1; :'], name: write}
  - run: {argv: [cat, /proc/modules], name: modules}
Y
# said STEP [RUN]: what a step of a run's only boot wrote
said() { cat "$NUMALAB_STORE/runs/${2:-1}"/boots/*/steps/"$1"/stdout; }

run_exit 0 "a run with files and modules" "$NUMALAB" run --offline "$TEST_TMP/files.yaml" || finish
matches "the files are packed" 'files [0-9a-f]{6} packed' "$errors"
equal "a file is read" "hello from outside" "$(said cat)"
equal "a link is a link, and runs" "ran /files/link" "$(said link)"
equal "all is root's, of 1970, with its mode" "/files/hello 0:0 0 644
/files/bin/tool 0:0 0 755" "$(said stat)"
equal "nothing can be written or removed" 2 "$(said write | grep -c 'Read-only file system')"
equal "the modules are there, the last one first" "loop kvm_amd" "$(said modules | awk '$1 == "loop" || $1 == "kvm_amd" { print $1 }' | xargs)"
matches "and what they need" '^kvm ' "$(said modules)"
matches "a run says which files it had" '^/files +[0-9a-f]{12}$' "$("$NUMALAB" show 1)"

# The same files in another place, of another day, by --set from here.
cp -r "$TEST_TMP/files" "$TEST_TMP/copy"
cd "$TEST_TMP" || exit 1
run_exit 0 "a second run" "$NUMALAB" run --offline "$TEST_TMP/files.yaml" --set files=copy
matches "nothing is packed again" 'files [0-9a-f]{6} cached' "$errors"
equal "it read the same" "$(said cat)" "$(said cat 2)"

# Under the exact clock they are inputs as the others are.
sed -e 's/^clock: .*/clock: exact/' -e '/name: /d' "$TEST_TMP/files.yaml" > "$TEST_TMP/exact.yaml"
run_exit 0 "a run with clock exact" "$NUMALAB" run --offline "$TEST_TMP/exact.yaml"
cd / || exit 1
run_exit 0 "verify finds the files from anywhere" "$NUMALAB" verify --offline latest
matches "and the boot is identical" '1 of 1 boots identical' "$output"
echo "hello again" > "$TEST_TMP/files/hello"
run_exit 3 "verify with other files" "$NUMALAB" verify --offline latest
matches "says that they are others" 'the files are not what the run had' "$errors"

# A disk that is full while packing leaves nothing half made.
if [ "$(id -u)" = 0 ]; then
	head -c 4000000 /dev/urandom > "$TEST_TMP/files/big"
	mkdir "$TEST_TMP/cache"; ln -s "$NUMALAB_CACHE"/* "$TEST_TMP/cache/"
	rm "$TEST_TMP/cache/files"; mkdir "$TEST_TMP/cache/files"
	mount -t tmpfs -o size=1m numalab-test-files "$TEST_TMP/cache/files"
	run_exit 3 "a full disk" "$NUMALAB" --cache "$TEST_TMP/cache" run --offline "$TEST_TMP/files.yaml"
	matches "it is called a full disk" 'No space left on device' "$errors"
	equal "nothing is left" "" "$(find "$TEST_TMP/cache/files" -mindepth 1 ! -name '*.lock')"
	umount "$TEST_TMP/cache/files"
else
	echo "skip a full disk: mounting a tmpfs needs root"
fi
finish
