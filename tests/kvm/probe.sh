# SPDX-License-Identifier: GPL-2.0-or-later
# The probe of KVM says "works" where KVM works, every time; doctor offers the clock.
. "$TEST_TREE/tests/lib.sh"
for i in 1 2 3; do
	equal "probe $i" "works	hlt	a guest in long mode ran to its end" "$("$NUMALAB" doctor --kvm-probe /dev/kvm)"
done
matches "doctor offers the clock" '^  kvm +yes +/dev/kvm works' "$("$NUMALAB" doctor)"
finish
