#!/usr/bin/env bash
# Fetches what `make bench` measures aibox beside, into AIBOX_BENCH, and does
# nothing when all is there: bench-setup.sh
#
# Nothing is installed and no service starts: packages are unpacked, from where
# this machine's apt gets its own. What cannot be had is named in the folder's
# file "missing", and the bench says so in its rows.
#
#   tools/    diod, squid, tinyproxy, modprobe, and the libraries that the machine lacks
#   virtme/   virtme-ng of the image's Debian
#   debian/   disk.ext4, cloud/boot/{vmlinuz,initrd}: a VM of this machine's Debian with
#             systemd and its kernel for clouds; stock/{boot,lib/modules}: its
#             other kernel, which has what 9p of QEMU needs
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/sbin:/sbin
bench=${AIBOX_BENCH:-${XDG_CACHE_HOME:-$HOME/.cache}/aibox/bench}
stamp=$(sha256sum "$0" | cut -c1-16)

say() { echo "bench-setup: $*" >&2; }

# peer NAME FUNCTION fills the folder NAME, which appears when it is whole.
peer() {
  local name=$1 fill=$2
  [ ! -e "$bench/$name" ] || return 0
  say "fetching $name"
  rm -rf "$bench/.new"
  mkdir -p "$bench/.new"
  if ! (set -e; "$fill" "$bench/.new") >"$bench/$name.log" 2>&1; then
    say "$name cannot be had: $(tail -n 1 "$bench/$name.log")"
    echo "$name" >>"$bench/missing"
    return 0
  fi
  chmod -R a+rX "$bench/.new"
  mv "$bench/.new" "$bench/$name"
}

# download DIR PACKAGE… fetches packages and what they need beside what is installed.
download() {
  local into=$1
  shift
  mkdir -p "$into/partial"
  apt-get install --download-only --reinstall --no-install-recommends --yes -q \
    -o Dir::Cache::archives="$into" -o Debug::NoLocking=1 "$@"
}

tools() {
  local debs
  debs=$(mktemp -d)
  download "$debs" diod squid tinyproxy kmod || { apt-get update -q && download "$debs" diod squid tinyproxy kmod; }
  for deb in "$debs"/*.deb; do dpkg-deb -x "$deb" "$1"; done
  rm -rf "$debs"
  cp "$(find "$1" -type f -name kmod -path '*bin/*')" "$1/usr/bin/modprobe" # for virtme-ng
}

virtme() {
  go run ./image/cmd/fetch-packages --into "$1" virtme-ng python3-argcomplete python3-requests python3-urllib3 \
    python3-certifi python3-idna python3-chardet python3-charset-normalizer busybox-static
}

# The same sources as the machine's apt, or mmdebstrap's own on another system.
sources() {
  apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' 2>/dev/null | sort -u
}

debian() {
  local lines suite
  lines=$(sources)
  suite=$(awk '{ print $3; exit }' <<<"$lines")
  local -a from=("${suite%%-*}")
  if [ -n "$lines" ]; then from+=(/dev/stdout -); else from=(bookworm /dev/stdout); fi
  mmdebstrap --variant=minbase --format=tar \
    --include=systemd-sysv,udev,dbus,kmod,iproute2,login,initramfs-tools,linux-image-cloud-amd64,linux-image-amd64,openssh-server,ifupdown,isc-dhcp-client,zstd \
    --customize-hook='echo bench >"$1/etc/hostname"' \
    --customize-hook='printf "/dev/vda / ext4 defaults 0 1\n" >"$1/etc/fstab"' \
    "${from[@]}" <<<"$lines" >"$1/root.tar"
  mkdir -p "$1/root" "$1/cloud/boot" "$1/stock/boot" "$1/stock/lib/modules"
  fakeroot sh -euc '
    tar -C "$1/root" -xf "$1/root.tar"
    for version in $(ls "$1/root/lib/modules"); do
      kind=stock
      case $version in *cloud*) kind=cloud ;; esac
      mv "$1/root/boot/vmlinuz-$version" "$1/$kind/boot/vmlinuz"
      [ $kind = stock ] || mv "$1/root/boot/initrd.img-$version" "$1/$kind/boot/initrd"
      [ $kind = cloud ] || mv "$1/root/lib/modules/$version" "$1/stock/lib/modules/"
    done
    cd "$1"/stock/lib/modules/*/kernel # what a VM has no hardware for
    rm -rf sound drivers/gpu drivers/media drivers/net/ethernet drivers/net/wireless drivers/infiniband
    cd /
    truncate -s 3G "$1/disk.ext4"
    mke2fs -q -t ext4 -E root_owner=0:0 -d "$1/root" "$1/disk.ext4"
    chmod 0644 "$1"/*/boot/*' sh "$1"
  chmod -R u+rwX "$1/root"
  rm -rf "$1/root" "$1/root.tar"
}

mkdir -p "$bench"
if [ "$(cat "$bench/stamp" 2>/dev/null)" != "$stamp" ]; then
  rm -rf "$bench/tools" "$bench/virtme" "$bench/debian" "$bench/missing"
fi
rm -f "$bench/missing"
peer tools tools
peer virtme virtme
peer debian debian
echo "$stamp" >"$bench/stamp"
