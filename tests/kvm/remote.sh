# SPDX-License-Identifier: GPL-2.0-or-later
# --connect: another host. Here it is this one, over ssh and TCP, with a libvirtd that sees neither the store nor the cache.
. "$TEST_TREE/tests/lib.sh"
for program in libvirtd virtlogd virsh ssh-keygen unshare ip /usr/sbin/sshd; do
	command -v "$program" >/dev/null || { echo "skip remote: there is no $program"; finish; }
done
[ ! -S /run/libvirt/libvirt-sock ] || { echo "skip remote: this host has a libvirtd of its own"; finish; }
scenario=$TEST_TMP/calm.yaml
grep -v '^host-pressure' "$data/scenarios/kvm.yaml" > "$scenario"
keys=$TEST_TMP/keys port=2222 images=/var/lib/libvirt/images started=()
uri="qemu+ssh://root@127.0.0.1:$port/system?keyfile=$keys/key&no_verify=1"
# Without ssh's arithmetic, which takes minutes for an image in a nested host.
plain=qemu+tcp://127.0.0.1/system
guests() { pgrep -f 'guest=numalab-[0-9a-f]{8}-' | wc -l; }
volumes() { find "$images" -name 'numalab-*' -printf '%f\n' | sort; }
run_remote() { "$NUMALAB" run "$scenario" --offline --fresh --connect "$@"; }

ip link set lo up
mkdir -p "$keys" /run/sshd /run/libvirt "$images"
ssh-keygen -q -t ed25519 -N '' -f "$keys/key" && ssh-keygen -q -t ed25519 -N '' -f "$keys/host"
printf '%s\n' "Port $port" "ListenAddress 127.0.0.1" "HostKey $keys/host" "AuthorizedKeysFile $keys/key.pub" "StrictModes no" \
	"PidFile none" "UsePAM no" "PermitRootLogin prohibit-password" > "$keys/config"
printf '%s\n' 'listen_tls = 0' 'listen_tcp = 1' 'listen_addr = "127.0.0.1"' 'auth_tcp = "none"' > /run/libvirt/plain.conf
run_exit 3 "a host that does not answer" run_remote "$uri"
matches "what ssh needs is told" 'without asking for anything' "$errors"
/usr/sbin/sshd -D -f "$keys/config" & started+=($!)
virtlogd & started+=($!)
# shellcheck disable=SC2016
unshare -m bash -c 'for hidden in /files /mnt/scratch "$NUMALAB_STORE" "$NUMALAB_CACHE"; do
	[ ! -d "$hidden" ] || mount -t tmpfs none "$hidden"; done; exec libvirtd --listen --config /run/libvirt/plain.conf' & started+=($!)
trap 'end_processes "${started[@]}"; rm -f /run/libvirt/plain.conf' EXIT
within 60 virsh -c "$uri&no_tty=1" version || not_ok "a libvirtd behind ssh" "it does not answer"

run_exit 2 "a host without the pool" run_remote "$uri"
matches "how to make it is told" 'no active storage pool .default.*virsh pool-define-as default dir' "$errors"
virsh -q -c qemu:///system pool-define-as default dir --target "$images" && virsh -q -c qemu:///system pool-start default
run_exit 2 "pressure on another host" run_remote "$plain" --set 'host-pressure={memory-high: 160MiB}'
matches "is refused" 'host-pressure: numalab cannot set limits on another host' "$errors"
run_exit 3 "--strict" run_remote "$plain" --strict
matches "takes no host that cannot be seen" 'cannot be seen from here' "$errors"

run_exit 0 "a guest on another host" run_remote "$plain" --set 'pin={cpus: [0, 0, 0, 0]}'
run=$(ls -d "$NUMALAB_STORE"/runs/* | tail -n 1); boot=$(ls -d "$run"/boots/* | head -n 1)
equal "ran there" "$images" "$(grep -o "$images" "$boot/qemu.args" | head -n 1)"
matches "at its place, as that host says" '"placement" : "cpus=0,0,0,0"' "$(cat "$boot/result.json")"
matches "its first and its last words came" 'Linux version .*Power down' "$(tr '\n' ' ' < "$boot/console.log")"
equal "no guest is left there" 0 "$(guests)"
equal "nothing but what other boots will read" "" "$(volumes | grep numalab-boot)"
kept=$(volumes)
matches "kernel, initrd and image are kept" 'numalab-image-.*numalab-initrd-.*numalab-kernel-' "$(tr '\n' ' ' <<<"$kept")"

# A client died in mid-upload two days ago, another in mid-boot.
for name in image-00000000000000000000000000000000-1 boot-00000001-results.img; do touch -d '2 days ago' "$images/numalab-$name"; done
run_exit 0 "again" run_remote "$plain" --set 'pin={cpus: [0, 0, 0, 0]}'
equal "nothing is sent twice, and what dead clients left is gone" "$kept" "$(volumes)"

finish
