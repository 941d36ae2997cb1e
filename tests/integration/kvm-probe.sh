# SPDX-License-Identifier: GPL-2.0-or-later
# The probe of KVM says "works" where KVM works: in a guest under TCG, which emulates AMD's SVM, with kvm_amd loaded.
. "$TEST_TREE/tests/lib.sh"
command -v gcc >/dev/null || { echo "skip KVM probe in a nested host: no gcc"; exit 0; }
show() { "$NUMALAB" kernel show debian:bookworm --json | sed -nE "s/^ *\"$1\" : \"(.*)\".*/\1/p" | head -n 1; }
kernel=$(show boot_path)
modules=$(show modules_path)
if [ -z "$kernel" ]; then run_exit 0 "kernel debian:bookworm" "$NUMALAB" kernel add debian:bookworm || finish; kernel=$(show boot_path); modules=$(show modules_path); fi

# A root of the command, its libraries and the modules; its init loads them and asks three times.
root=$TEST_TMP/root
mkdir -p "$root"/{dev,proc,tmp,modules}
cp "$NUMALAB" "$root/numalab"
ldd "$NUMALAB" | grep -o '/[^ ]*' | while read -r lib; do install -D -m 755 "$lib" "$root$lib"; done
# modules.dep has what must be there first at the end of the line. The cache may hold them compressed; apt can read that.
n=0
while read -r m; do
	n=$((n + 1))
	case $m in
	*.ko) cp "$modules/$m" "$root/modules/$n.ko" ;;
	*) /usr/lib/apt/apt-helper cat-file "$modules/$m" >"$root/modules/$n.ko" ;;
	esac
done < <(sed -n '/^[^:]*\/kvm-amd\.ko[^:]*:/s/://p' "$modules/modules.dep" | tr ' ' '\n' | tac)
cat >"$TEST_TMP/init.c" <<'E'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	char path[32];
	int console;

	mount("dev", "/dev", "devtmpfs", 0, NULL);
	mount("proc", "/proc", "proc", 0, NULL);
	console = open("/dev/console", O_RDWR);
	for (int fd = 0; fd < 3; fd++)
		dup2(console, fd);
	for (int i = 1; sprintf(path, "/modules/%d.ko", i), access(path, F_OK) == 0; i++)
		if (syscall(SYS_finit_module, open(path, O_RDONLY), "", 0))
			perror(path);
	for (int i = 0; i < 3; i++) {
		if (!fork()) {
			execl("/numalab", "numalab", "doctor", "--kvm-probe", "/dev/kvm", NULL);
			_exit(1);
		}
		wait(NULL);
	}
	reboot(RB_POWER_OFF);
}
E
gcc -O1 -static -o "$root/init" "$TEST_TMP/init.c" || { not_ok "init" "does not compile"; finish; }
python3 - "$root" "$TEST_TMP/initrd" <<'P'
# cpio, newc
import os, sys
root, out = sys.argv[1], open(sys.argv[2], "wb")
def put(name, mode, data):
    out.write(b"070701" + b"".join(b"%08x" % v for v in (put.ino, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)))
    out.write(name.encode() + b"\0"); out.write(b"\0" * (-out.tell() % 4))
    out.write(data); out.write(b"\0" * (-out.tell() % 4)); put.ino += 1
put.ino = 1
for d, dirs, files in os.walk(root):
    for n in dirs: put(os.path.relpath(os.path.join(d, n), root), 0o40755, b"")
    for n in files: put(os.path.relpath(os.path.join(d, n), root), 0o100755, open(os.path.join(d, n), "rb").read())
put("TRAILER!!!", 0, b"")
P
timeout 300 qemu-system-x86_64 -nodefaults -accel tcg,thread=multi -cpu max -m 1G -smp 1 -display none -no-reboot \
	-serial file:"$TEST_TMP/console" -kernel "$kernel" -initrd "$TEST_TMP/initrd" \
	-append "console=ttyS0 quiet panic=-1 rdinit=/init" </dev/null
found=$(tr -d '\r' <"$TEST_TMP/console" | grep -a $'\t' | sort | uniq -c | sed 's/^ *//')
equal "the probe in a nested host, three times" "3 works	hlt	a guest in long mode ran to its end" "$found"
[ "$failed" = 0 ] || tail -n 20 "$TEST_TMP/console"
finish
