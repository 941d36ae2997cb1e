# SPDX-License-Identifier: GPL-2.0-or-later
# What the guest tests share: the image and the kernels, fetched and built once.
. "$TEST_TREE/tests/lib.sh"
run_exit 0 "image" "$NUMALAB" image build xfs
for k in bookworm bookworm-backports bullseye sid; do
	run_exit 0 "kernel debian:$k" "$NUMALAB" kernel add "debian:$k"
done
finish
