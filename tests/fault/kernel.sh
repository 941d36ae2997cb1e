# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels that do not boot: each ends in its deadline, as KERNEL, with what it said last.
. "$TEST_TREE/tests/fault/common"
base

# A kernel of four instructions, entered by PVH as a real one is. $1: what it does.
tiny_kernel() {
	cat > "$TEST_TMP/tiny.S" <<S
	.section .note.Xen, "a", @note
	.long 4, 4, 18		# XEN_ELFNOTE_PHYS32_ENTRY
	.asciz "Xen"
	.long entry
	.text
	.code32
	.globl entry
entry:	cli
	$1
1:	${2:-hlt}
	jmp 1b
S
	gcc -m32 -nostdlib -static -no-pie -Wl,--build-id=none,-Ttext=0x100000,-e,entry -o "$TEST_TMP/tiny" "$TEST_TMP/tiny.S"
}

job "$TEST_TMP/panic" 'cmdline_extra="rdinit=/nothing root=/dev/nothing"'
boot_fails 5 "a kernel that panics at once" "$TEST_TMP/panic" first-output \
	'^panic before its agent started: Kernel panic - not syncing: VFS: Unable to mount root fs' 'Kernel panic - not syncing'

tiny_kernel "" hlt || { not_ok "a kernel that never prints" "cannot assemble it"; finish; }
job "$TEST_TMP/silent" "kernel_path=\"$TEST_TMP/tiny\"" deadlines.first_output_ns=3e9
boot_fails 5 "a kernel that never prints" "$TEST_TMP/silent" start '^the kernel printed nothing within 3s'
tiny_kernel "" nop
job "$TEST_TMP/spin" "kernel_path=\"$TEST_TMP/tiny\"" deadlines.first_output_ns=3e9
boot_fails 5 "a kernel that spins" "$TEST_TMP/spin" start '^the kernel printed nothing within 3s'

# Prints garbage on both ports, for ever.
tiny_kernel "mov \$0x3f8, %edx" "inc %eax; out %al, %dx; xor \$0x100, %edx"
job "$TEST_TMP/garbage" "kernel_path=\"$TEST_TMP/tiny\"" deadlines.agent_ns=1e9
boot_fails 5 "a kernel that writes garbage to every port" "$TEST_TMP/garbage" first-output '^the agent did not start within 11s'

# Resets before it has said anything.
tiny_kernel "mov \$6, %al; mov \$0xcf9, %edx; out %al, %dx"
job "$TEST_TMP/reset" "kernel_path=\"$TEST_TMP/tiny\""
boot_fails 5 "a kernel that resets at once" "$TEST_TMP/reset" start '^the guest reset or powered off before its agent started; the console is empty'

printf 'not a kernel\n' > "$TEST_TMP/text"
job "$TEST_TMP/no-kernel" "kernel_path=\"$TEST_TMP/text\""
run_exit 3 "a file that is no kernel" "$NUMALAB" boot "$TEST_TMP/no-kernel"
no_guests "a file that is no kernel"

# /init is a program that does nothing: a second archive behind the first, as the kernel allows.
printf '.globl _start\n_start: mov $34, %%eax\nsyscall\njmp _start\n' > "$TEST_TMP/init.S" # pause()
gcc -nostdlib -static -no-pie -o "$TEST_TMP/init" "$TEST_TMP/init.S"
python3 - "$base/job.json" "$TEST_TMP" <<'P'
import json, os, sys
job, tmp = json.load(open(sys.argv[1])), sys.argv[2]
initrd = os.path.join(os.path.dirname(sys.argv[1]), job["initrd_path"])
data = open(tmp + "/init", "rb").read()
def entry(name, mode, body):
    name = name.encode() + b"\0"
    head = b"070701" + b"".join(b"%08x" % v for v in (1, mode, 0, 0, 1, 0, len(body), 0, 0, 0, 0, len(name), 0)) + name
    return head + b"\0" * (-len(head) % 4) + body + b"\0" * (-len(body) % 4)
archive = open(initrd, "rb").read()
archive += b"\0" * (-len(archive) % 4) + entry("init", 0o100755, data) + entry("TRAILER!!!", 0, b"")
open(tmp + "/initrd", "wb").write(archive)
P
job "$TEST_TMP/no-agent" "initrd_path=\"$TEST_TMP/initrd\"" deadlines.agent_ns=1e9
boot_fails 5 "an agent that never starts" "$TEST_TMP/no-agent" first-output '^the agent did not start within 11s; the console.s last line: ' .
finish
