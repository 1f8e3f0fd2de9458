#!/bin/sh
# bare_roots.sh [--keep] [--demo] [NAME[:USER]...] - does what a new user of a bare machine does: installs git, clones,
# runs ./dev demo and ./dev test, and as root the install lines of the pages. './dev machines' calls it.
#
#   NAME  debian-12 or debian-13: a root that debootstrap makes of that release (the default: both)
#   USER  root, or user: one with sudo that asks for no password (the default: both)
#   --demo  ends after ./dev demo
#
# The root gets the host's Debian mirror, its configuration of apt, proxies and own certificates; no
# package, no ccache and no ../shared. What is cloned is HEAD. All of it is in build/machines:
#
#   NAME.base        as debootstrap left it; made once
#   NAME-USER        the root of the last run; removed when all went well, unless --keep
#   NAME-USER.log    what the run printed; NAME-USER.tests: each test and how it ended
#
# Exit status 1 when anything failed, or could not run: needs root, debootstrap, unshare and a network.
set -eu

HERE=$(cd "$(dirname "$0")" && pwd)
SOURCE=$(cd "$HERE/../.." && pwd)
PLACE=$SOURCE/build/machines
CLONE=/home/dev/bmad-mem

say() { printf '== %s\n' "$*"; }

die() {
  printf 'machines: %s\n' "$*" >&2
  exit 1
}

suite_of() {
  case $1 in
    debian-12) echo bookworm ;;
    debian-13) echo trixie ;;
    *) die "there is no machine '$1'; there are debian-12 and debian-13" ;;
  esac
}

# The first Debian mirror that the host's apt names, or Debian's own.
mirror() {
  uri=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    sed -n 's#^\(https\{0,1\}://.*/debian\)/*$#\1#p' | head -n 1)
  echo "${uri:-http://deb.debian.org/debian}"
}

# What apt of the host was told about proxies, certificates and dates.
apt_settings() {
  apt-config dump | grep -E '^Acquire::(http|https|Check|Retries|ForceIPv)' || true
  [ -z "${http_proxy-}" ] || printf 'Acquire::http::Proxy "%s";\n' "$http_proxy"
}

# make_base NAME: debootstrap, once; its keyring decides what is Debian.
make_base() {
  base=$PLACE/$1.base
  [ ! -e "$base" ] || return 0
  say "$1: debootstrap $(suite_of "$1") $(mirror)"
  rm -rf "$base.new"
  apt_settings >"$PLACE/$1.apt"
  APT_CONFIG=$PLACE/$1.apt debootstrap --variant=minbase "$(suite_of "$1")" "$base.new" "$(mirror)" \
    >"$PLACE/$1.debootstrap.log" 2>&1 || die "debootstrap failed, see $PLACE/$1.debootstrap.log"
  cp "$PLACE/$1.apt" "$base.new/etc/apt/apt.conf.d/00host"
  cp -L /etc/resolv.conf "$base.new/etc/resolv.conf"
  mkdir -p "$base.new/usr/local/share/ca-certificates"
  find /usr/local/share/ca-certificates -name '*.crt' \
    -exec cp {} "$base.new/usr/local/share/ca-certificates/" \; 2>/dev/null || true
  mv "$base.new" "$base"
}

# in_root ROOT COMMAND: as root of the root, in namespaces of its own: mounts and processes end with it.
in_root() {
  # shellcheck disable=SC2016 # The inner shell's.
  unshare --mount --pid --fork --kill-child sh -ec '
    mount --make-rprivate /
    mount --bind "$1" "$1"
    mount -t proc proc "$1/proc"
    mount -t sysfs -o ro sysfs "$1/sys"
    mount --rbind /dev "$1/dev"
    mkdir -p "$1/mnt/source" "$1/var/cache/compiled"
    mount --bind -o ro "$2" "$1/mnt/source"
    mount --bind "$3" "$1/var/cache/compiled"
    shift 3
    root=$1
    shift
    exec chroot "$root" env -i "$@"
  ' sh "$1" "$SOURCE" "$PLACE/compiled" "$1" \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    CCACHE_DIR=/var/cache/compiled DEBIAN_FRONTEND=noninteractive \
    ${http_proxy:+"http_proxy=$http_proxy"} ${https_proxy:+"https_proxy=$https_proxy"} \
    ${no_proxy:+"no_proxy=$no_proxy"} NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt \
    sh -ec "$2"
}

# What a new user types. "as_user COMMAND" runs it as the one of this run, with a login's environment.
steps() {
  cat <<END
apt-get -qq update
apt-get -qq -y --no-install-recommends install git ca-certificates >/dev/null
useradd --create-home --home-dir /home/dev --shell /bin/sh dev
chmod -R a+rwX /var/cache/compiled
if [ $1 = user ]; then
  apt-get -qq -y --no-install-recommends install sudo >/dev/null
  echo 'dev ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/dev
  as_user() { setpriv --reuid dev --regid dev --init-groups env HOME=/home/dev USER=dev sh -ec "\$1"; }
else
  as_user() { sh -ec "\$1"; }
fi
as_user 'git config --global safe.directory /mnt/source/.git && git clone -q /mnt/source $CLONE'
say() { printf '== %s\n' "\$*"; }
timed() {
  say "\$1"
  begun=\$(date +%s)
  as_user "cd $CLONE && \$1 </dev/null" || { say "\$1: failed"; exit 1; }
  say "\$1: \$((\$(date +%s) - begun)) s"
}
timed './dev demo'
[ -z "$demo" ] || exit 0
timed './dev test'
# Some of the pages' lines install for all users, and remove.
[ $1 = user ] || timed 'python3 -B tests/package/install_lines.py --run-lines'
END
}

# tests_of LOG: each test with how it ended, and how many of its cases were left out.
tests_of() {
  awk '/^[0-9]+\/[0-9]+ Test(ing)?: / { name = $NF; left = "" }
    /skipped=[0-9]+/ { match($0, /skipped=[0-9]+/); left = " " substr($0, RSTART, RLENGTH) }
    /^Test (Passed|Failed|Skipped|Not Run)/ { sub(/[.]$/, "", $2); print name, $2 left }' "$1" | sort
}

# run NAME USER
run() {
  make_base "$1"
  root=$PLACE/$1-$2
  log=$root.log
  say "$1 as $2: see ${log#"$SOURCE/"}"
  rm -rf "$root"
  cp -a "$PLACE/$1.base" "$root"
  status=0
  in_root "$root" "$(steps "$2")" >"$log" 2>&1 || status=$?
  results=$root$CLONE/build/Testing/Temporary/LastTest.log
  [ ! -e "$results" ] || tests_of "$results" >"$root.tests"
  grep -E '^== [.]/dev|tests passed|Failed|Skipped' "$log" || true
  if [ "$status" -ne 0 ]; then
    tail -n 20 "$log"
    say "$1 as $2: failed with $status; its root is kept in ${root#"$SOURCE/"}"
    return 1
  fi
  [ -n "$keep" ] || rm -rf "$root"
}

# compare NAME OTHER: what a run of OTHER left out that one of NAME did not.
compare() {
  for user in root user; do
    first=$PLACE/$1-$user.tests
    second=$PLACE/$2-$user.tests
    [ -e "$first" ] && [ -e "$second" ] || continue
    differ=$(diff "$first" "$second" | grep '^[<>]' || true)
    [ -z "$differ" ] || {
      say "as $user, $1 (<) and $2 (>) do not run the same tests:"
      printf '%s\n' "$differ"
      return 1
    }
  done
}

keep="" demo=""
while :; do
  case ${1-} in
    --keep) keep=yes ;;
    --demo) demo=yes ;;
    -*) die "there is no option '$1'; there are --keep and --demo" ;;
    *) break ;;
  esac
  shift
done
[ $# -gt 0 ] || set -- debian-12 debian-13
[ "$(id -u)" = 0 ] || die "this needs root, to make roots and mounts"
for command in debootstrap unshare setpriv apt-get git; do
  command -v "$command" >/dev/null || die "there is no $command; install debootstrap, util-linux and git"
done
for wanted in "$@"; do
  suite_of "${wanted%:*}" >/dev/null
done
mkdir -p "$PLACE/compiled"
failed=""
for wanted in "$@"; do
  case $wanted in
    *:root | *:user) users=${wanted#*:} ;;
    *:*) die "there is no user '${wanted#*:}'; there are root and user" ;;
    *) users="root user" ;;
  esac
  for user in $users; do
    # The first run of a machine compiles all; a second takes what the first compiled.
    run "${wanted%:*}" "$user" || failed="$failed ${wanted%:*}:$user"
  done
  rm -rf "$PLACE/compiled" && mkdir -p "$PLACE/compiled"
done
compare debian-12 debian-13 || failed="$failed differ"
[ -z "$failed" ] || die "failed:$failed"
say "all machines passed"
