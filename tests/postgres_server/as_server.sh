#!/bin/sh
# as_server.sh COMMAND [ARGUMENT]... - runs COMMAND as one who may start a PostgreSQL server: not as root.
#
# The unpacked server is below build/. Where a folder above it is closed to others, as /root is, nothing there
# could be started: so the command sees, instead of what that folder holds, the server alone.
[ "$(id -u)" = 0 ] || exec "$@"
SERVER=$(cd "$(dirname "$0")/../.." && pwd)/build/deps/postgresql
as_nobody() { setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"; }
if [ ! -e "$SERVER" ] || as_nobody test -x "$SERVER"; then
  exec setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"
fi
closed=$SERVER
while ! as_nobody test -x "$(dirname "$closed")"; do
  closed=$(dirname "$closed")
done
place=$(mktemp -d) || exit
trap 'rmdir "$place"' EXIT
# shellcheck disable=SC2016 # The inner shell's.
unshare --mount sh -ec '
  mount --bind "$2" "$3"
  mount -t tmpfs -o mode=755 tmpfs "$1"
  mkdir -p "$2"
  mount --bind "$3" "$2"
  shift 3
  exec setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"
' sh "$closed" "$SERVER" "$place" "$@"
