# SPDX-License-Identifier: GPL-2.0-or-later
# boot: disk: a Debian system on a disk, kernels installed into it by dpkg; what is left when a guest dies, or whoever makes a disk.
. "$TEST_TREE/tests/lib.sh"
scenario=$data/scenarios/disk.yaml
boots() { ls -d "$NUMALAB_STORE/runs/$1"/boots/*; }
# value FILE KEY: of the agent's records
value() { sed -nE "s/^$2 //p" "$1"; }
disks() { find "$NUMALAB_CACHE/disk" -mindepth 1 -maxdepth 1 -type d 2>/dev/null | sort; }
# until_says FILE REGEX PID: wait until a line is there, or the process is gone
until_says() { until grep -Eq "$2" "$1"; do kill -0 "$3" 2>/dev/null || return 1; sleep 0.1; done; return 0; }

run_exit 0 "two kernels in a Debian system" "$NUMALAB" run "$scenario" --compare || finish
matches "the table" '^Amean +real-xfsrepair +[0-9.]+' "$output"
matches "what making the disk took, part by part" 'disk xfs [0-9a-f]{6} (cached|made \(packages .*copy .*bootloader)' "$errors"
equal "and each kernel" 2 "$(grep -Ec 'kernel .* (in disk xfs cached|installed into disk xfs \(.*unpack .*configure)' <<<"$errors")"
for boot in $(boots 1); do
	release=$(value "$boot/verify" release)
	equal "$release: systemd is up" systemd "$(value "$boot/start" init)"
	matches "$release: by GRUB, arguments and all" "BOOT_IMAGE=/boot/vmlinuz-${release//+/\\+}%20root=UUID=[0-9a-f-]+%20ro.*panic=-1" "$(value "$boot/start" cmdline)"
	equal "$release: 4 nodes" 0-3 "$(value "$boot/verify" nodes_online)"
	equal "$release: the disk of a boot is gone after it" "" "$(ls "$boot" | grep qcow2)"
done
equal "each part of a boot is shown" 2 "$("$NUMALAB" show 1 | grep -Ec '^6\.[0-9.]+-s1( +[0-9.]+ s){5}$')"

# Nothing is made twice; the root file system may be written, but not for the next boot.
run_exit 0 "again, with a step that writes" "$NUMALAB" run "$scenario" --offline --fresh --set 'kernels=[debian:bookworm]' --set "steps=[run: {name: write, argv: [sh, -c, 'ls /root; dpkg -s linux-image-\$(uname -r) | sed -n \"s/^Status: //p\"; echo x > /root/x; sync']}]"
matches "from the cache" 'disk xfs [0-9a-f]{6} cached' "$errors"
equal "dpkg knows the kernel, nobody wrote before" "install ok installed" "$(cat "$(boots 2)/steps/write/stdout")"
run_exit 0 "and once more" "$NUMALAB" run "$scenario" --offline --fresh --set 'kernels=[debian:bookworm]' --set 'steps=[run: {name: look, argv: [sh, -c, "ls /root; blockdev --getsize64 /dev/scratch2 /dev/scratch3 >&2; ls -d /mnt/scratch3 >&2"]}]' --set 'disk={bootloader: none, more-scratch: [4MiB, 500TiB]}'
equal "each boot has the disk as it was" "" "$(cat "$(boots 3)/steps/look/stdout")"
equal "more scratch disks, one of 500 TiB" "4194304 549755813888000 /mnt/scratch3" "$(xargs < "$(boots 3)/steps/look/stderr")"
matches "without a boot loader" 'root=UUID=[0-9a-f-]+ ro' "$(cat "$(boots 3)/domain.xml")"

# The same scenario without a disk.
run_exit 0 "direct" "$NUMALAB" run "$scenario" --offline --set boot=direct
run_exit 0 "compare" "$NUMALAB" compare 1 4 --judge none
matches "the disk is named as what differs" 'runs 1 and 4 differ by: disk is' "$output"

# A guest that dies in the middle.
cat > "$TEST_TMP/panic.yaml" <<'Y'
topology: {kind: vnuma, nodes: [{cpus: 0, memory: 1GiB}]}
image: xfs
kernels: [debian:bookworm]
clock: tcg
boot: disk
boots: 1
steps:
  - run: {name: whole, argv: [echo, all of it]}
  - run: {name: half, argv: [sh, -c, 'for i in 1 2 3; do echo line $i; sleep 1; done; echo c > /proc/sysrq-trigger']}
Y
run_exit 5 "a guest that panics in a step" "$NUMALAB" run --offline "$TEST_TMP/panic.yaml"
boot=$(boots 5)
equal "the step before is whole" "all of it" "$(cat "$boot/steps/whole/stdout")"
matches "what the step had said is read from the disk" '^line 1
line 2' "$(tar -xOzf "$boot/steps.tar.gz" ./half.stdout)"
matches "and so is the journal" 'journal/[0-9a-f]+/system' "$(tar -tzf "$boot/log.tar.gz")"

# Somebody's image, and a kernel that is no package.
image=$TEST_TMP/own.qcow2 tree=$TEST_TMP/tree
entry=$("$NUMALAB" kernel show --json debian:bookworm | sed -nE 's/^ *"boot_path" *: *"(.*)\/vmlinux",?$/\1/p')
mkdir "$tree"; ln -s "$entry"/{vmlinux,config} "$tree/"; ln -s "$entry"/modules/* "$tree/modules"
qemu-img convert -O qcow2 "$(disks | head -n 1)/disk.qcow2" "$image"
before=$(sha256sum < "$image")
sed -e "s|^image: .*|image: disk:own.qcow2|" -e "s|^kernels: .*|kernels: ['dir:tree']|" -e '/name: half/d' "$TEST_TMP/panic.yaml" > "$TEST_TMP/own.yaml"
run_exit 2 "GRUB cannot start a vmlinux" "$NUMALAB" run --offline "$TEST_TMP/own.yaml"
matches "that is said where the kernel is written" 'own.yaml:3:.*bootloader: none' "$errors"
run_exit 0 "somebody's image, and a kernel of a tree" "$NUMALAB" run --offline "$TEST_TMP/own.yaml" --set disk.bootloader=none
equal "systemd is up" systemd "$(value "$(boots 6)/start" init)"
equal "the image was not written" "$before" "$(sha256sum < "$image")"
head -c 5000000 /dev/urandom > "$image"
run_exit 2 "an image without a system" "$NUMALAB" run --offline "$TEST_TMP/own.yaml" --set disk.bootloader=none
matches "is called that" 'own.yaml:2:.*wanted one operating system in the disk image, found 0' "$errors"

# Killed while a disk is made: nothing half made is left or used, and nothing goes on running.
printf 'suite: bookworm\npackages: [busybox]\n' > "$TEST_TMP/small.yaml"
sed -e 's|^image: .*|image: ./small.yaml|' "$TEST_TMP/panic.yaml" > "$TEST_TMP/killed.yaml"
there=$(disks)
# As root libguestfs has its sockets in /tmp. Only whoever is killed with SIGKILL leaves them.
sockets() { find /tmp -maxdepth 1 -name 'libguestfs*' 2>/dev/null | sort; }
sockets_before=$(sockets)
"$NUMALAB" run "$TEST_TMP/killed.yaml" > "$TEST_TMP/log" 2>&1 & pid=$!
until_says "$TEST_TMP/log" 'copying the system' "$pid" || not_ok "a disk is being made" "$(tail -n 3 "$TEST_TMP/log")"
guest=$(pgrep -f "qemu-system.*$NUMALAB_CACHE/guestfs" | head -n 1)
kill -KILL "$pid"; wait "$pid" 2>/dev/null
matches "libguestfs's guest ran" '^[0-9]+$' "$guest"
tail --pid="$guest" -f /dev/null
ok "and ended by itself"
comm -13 <(echo "$sockets_before") <(sockets) | xargs -r rm -r
equal "no disk is there" "$there" "$(disks | grep -v '\.new$')"
"$NUMALAB" run "$TEST_TMP/killed.yaml" > "$TEST_TMP/log" 2>&1 & pid=$!
until_says "$TEST_TMP/log" 'disk small [0-9a-f]{6} made' "$pid" && ok "the next run makes it" || not_ok "the next run makes it" "$(tail -n 3 "$TEST_TMP/log")"
kill -INT "$pid"; wait "$pid"
equal "Ctrl-C in what comes next" 130 "$?"
equal "leaves no sockets" "$sockets_before" "$(sockets)"
if [ "$(id -u)" = 0 ]; then
	mkdir "$TEST_TMP/cache"; ln -s "$NUMALAB_CACHE"/* "$TEST_TMP/cache/"
	rm "$TEST_TMP/cache/disk-kernel"; mkdir "$TEST_TMP/cache/disk-kernel"
	mount -t tmpfs -o size=20m numalab-test-disk "$TEST_TMP/cache/disk-kernel"
	run_exit 3 "a full disk" "$NUMALAB" --cache "$TEST_TMP/cache" run "$TEST_TMP/killed.yaml"
	matches "it is called a full disk" 'No space left on device' "$errors"
	equal "nothing is left" "" "$(find "$TEST_TMP/cache/disk-kernel" -mindepth 1 ! -name '*.lock')"
	umount "$TEST_TMP/cache/disk-kernel"
else
	echo "skip a full disk: mounting a tmpfs needs root"
fi
finish
