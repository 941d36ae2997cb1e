# SPDX-License-Identifier: GPL-2.0-or-later
# What can be known before a boot is said before a boot: one line with file, line and column, exit 2, no QEMU.
. "$TEST_TREE/tests/lib.sh"
field() { "$NUMALAB" kernel show --json debian:bookworm | sed -nE "s/.*\"$1\" : \"?([^\",]*)\"?,?\$/\1/p" | head -n 1; }

# A kernel that is as Debian's, but for NUMA_EMU.
release=$(field release)
mkdir -p "$TEST_TMP/kernel/lib/modules"
cp "$(field boot_path)" "$TEST_TMP/kernel/vmlinux"
sed 's/^CONFIG_NUMA_EMU=y/# CONFIG_NUMA_EMU is not set/' "$(field config_path)" > "$TEST_TMP/kernel/config"
cp -r "$(field modules_path)" "$TEST_TMP/kernel/lib/modules/$release"
cat > "$TEST_TMP/fake.yaml" <<'Y'
topology: fake-4x1p-512M
image: xfs
kernels:
  - debian:bookworm
  - dir:kernel
clock: exact
boots: 1
steps:
  - run: {argv: ["true"]}
Y
export PATH=$TEST_TMP/bin:$PATH
mkdir "$TEST_TMP/bin"
# Only --version is allowed here; a guest would be seen.
real=$(command -v qemu-system-x86_64)
cat > "$TEST_TMP/bin/qemu-system-x86_64" <<Q
#!/bin/sh
case "\$*" in *--version*) exec $real --version ;; *) echo "\$*" >> $TEST_TMP/started ;; esac
Q
chmod +x "$TEST_TMP/bin/qemu-system-x86_64"
run_exit 2 "fake with a kernel without NUMA_EMU" "$NUMALAB" run --offline "$TEST_TMP/fake.yaml"
matches "names file, line, column and option" "^$TEST_TMP/fake.yaml:5:5: .*CONFIG_NUMA_EMU" "$errors"

sed -e 's/topology: .*/topology: vnuma-4x1p-512M/' -e '/dir:kernel/d' "$TEST_TMP/fake.yaml" > "$TEST_TMP/good.yaml"
sed 's/^image: xfs/image: nosuch/' "$TEST_TMP/good.yaml" > "$TEST_TMP/image.yaml"
run_exit 2 "no such image" "$NUMALAB" run --offline "$TEST_TMP/image.yaml"
matches "at its place" "^$TEST_TMP/image.yaml:2:8: " "$errors"
sed 's/^clock: exact/clock: exakt/' "$TEST_TMP/good.yaml" > "$TEST_TMP/clock.yaml"
run_exit 2 "no such clock" "$NUMALAB" run --offline "$TEST_TMP/clock.yaml"
matches "with a suggestion" "^$TEST_TMP/clock.yaml:5:8: .*did you mean 'exact'" "$errors"
{ cat "$TEST_TMP/good.yaml"; echo 'modules: [loop, zrma]'; } > "$TEST_TMP/module.yaml"
run_exit 2 "no such module" "$NUMALAB" run --offline "$TEST_TMP/module.yaml"
matches "at its place, with the kernel" "^$TEST_TMP/module.yaml:9:17: debian:bookworm \\($release\\) has no module 'zrma', built in or not \\(did you mean 'zram'\\?\\)$" "$errors"
{ cat "$TEST_TMP/good.yaml"; echo 'files: no-such'; } > "$TEST_TMP/files.yaml"
run_exit 2 "no such files" "$NUMALAB" run --offline "$TEST_TMP/files.yaml"
matches "at their place" "^$TEST_TMP/files.yaml:9:8: wanted a directory, found none .*: $TEST_TMP/no-such" "$errors"
mkdir "$TEST_TMP/no-such"
run_exit 2 "empty files" "$NUMALAB" run --offline "$TEST_TMP/files.yaml"
mkfifo "$TEST_TMP/no-such/pipe"
run_exit 2 "a pipe among the files" "$NUMALAB" run --offline "$TEST_TMP/files.yaml"
matches "is named" "^$TEST_TMP/files.yaml:9:8: .*found a pipe: $TEST_TMP/no-such/pipe" "$errors"
if [ -e "$TEST_TMP/started" ]; then not_ok "QEMU was never started" "$(head -n 3 "$TEST_TMP/started")"; else ok "QEMU was never started"; fi
finish
