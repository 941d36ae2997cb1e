#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs what numalab needs and lacks, with apt. Does nothing, and needs no root, when all is there.
set -euo pipefail

base=(gcc make pkg-config git ca-certificates binutils xz-utils kmod python3 procps gnupg dpkg-dev
      libglib2.0-dev libjson-glib-dev libfyaml-dev libxml2-dev libxml2-utils libarchive-dev libkmod-dev
      libelf-dev libsqlite3-dev libgsl-dev zlib1g-dev check
      erofs-utils mmdebstrap mandoc linux-perf)
# QEMU before 8.1 live-locks under the exact clock; libvirt must know that QEMU.
# libguestfs comes with udev, which must fit the libudev1 that libvirt brings.
virt=(qemu-system-x86 qemu-utils libvirt-dev libvirt0 libvirt-daemon-driver-qemu libguestfs-dev)
declare -A min=([qemu-system-x86]=8.1 [libvirt-dev]=10.0 [libvirt0]=10.0 [libvirt-daemon-driver-qemu]=10.0)

lacks() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null || true)" != installed ]; }
older() { dpkg --compare-versions "$(dpkg-query -W -f '${Version}' "$1" 2>/dev/null | sed 's/^[0-9]*://')" lt "$2"; }

want=() ; want_virt=()
for p in "${base[@]}"; do if lacks "$p"; then want+=("$p"); fi; done
for p in "${virt[@]}"; do
	if lacks "$p" || { [ -n "${min[$p]:-}" ] && older "$p" "${min[$p]}"; }; then want_virt+=("$p"); fi
done
# A machine without a kernel of its own (a container) has none, and libguestfs' supermin fails without it.
modules=/lib/modules
[ ${#want[@]} -gt 0 ] || [ ${#want_virt[@]} -gt 0 ] || [ ! -d "$modules" ] || exit 0

if [ "$(id -u)" != 0 ]; then
	echo "make deps: missing: ${want[*]} ${want_virt[*]} $([ -d "$modules" ] || echo "$modules")" >&2
	echo "make deps: installing them needs root; run 'sudo make deps' and then this command again" >&2
	exit 2
fi
mkdir -p "$modules"
[ ${#want[@]} -gt 0 ] || [ ${#want_virt[@]} -gt 0 ] || exit 0
command -v apt-get >/dev/null || { echo "make deps: no apt-get here; install by hand: ${want[*]} ${want_virt[*]}" >&2; exit 2; }
# shellcheck disable=SC1091
. /etc/os-release
export DEBIAN_FRONTEND=noninteractive
target=()
if [ ${#want_virt[@]} -gt 0 ] && [ "${VERSION_CODENAME:-}" = bookworm ]; then
	target=(-t bookworm-backports)
	if ! apt-cache policy 2>/dev/null | grep -q 'n=bookworm-backports'; then
		mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' 2>/dev/null | head -n 1)
		echo "make deps: adding bookworm-backports in /etc/apt/sources.list.d/numalab-backports.sources"
		printf 'Types: deb\nURIs: %s\nSuites: bookworm-backports\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n' \
			"${mirror:-http://deb.debian.org/debian}" > /etc/apt/sources.list.d/numalab-backports.sources
	fi
fi
echo "make deps: installing ${want[*]} ${want_virt[*]}"
apt-get update -q
[ ${#want[@]} -eq 0 ] || apt-get install -yq --no-install-recommends "${want[@]}"
[ ${#want_virt[@]} -eq 0 ] || apt-get install -yq --no-install-recommends "${target[@]}" "${want_virt[@]}"
