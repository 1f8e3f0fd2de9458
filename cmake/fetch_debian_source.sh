#!/bin/sh
# fetch_debian_source.sh PACKAGE FOLDER - unpacks Debian's source package PACKAGE into FOLDER.
#
# Reads the machine's own list of Debian archives, asks them for sources, and checks what comes with
# the archive's signature, as apt-get always does. All that apt-get writes stays in FOLDER's
# neighbour FOLDER.apt, which is removed: the system's own lists are neither read nor changed.
# Needs apt-get and dpkg-dev; no root.
set -eu

package=$1
folder=$2
apt=$folder.apt

rm -rf "$apt"
mkdir -p "$apt/sources" "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/unpack"
apt=$(cd "$apt" && pwd)
trap 'rm -rf "$apt"' EXIT

# Debian's own archives and their mirrors; a third party's archive has no place here.
archive='debian[.]org|/debian(-security)?/?([ \t\n]|$)'

# One-line entries: "deb [options] URI suite component...".
find /etc/apt/sources.list /etc/apt/sources.list.d -name '*.list' -exec cat {} + 2>/dev/null |
  awk -v archive="$archive" '$1 == "deb" && $0 ~ archive { sub(/deb/, "deb-src"); print }' \
    >"$apt/sources/debian.list"

# Stanzas: "Types: deb", "URIs: ...", each ended by an empty line.
find /etc/apt/sources.list.d -name '*.sources' -exec sh -c 'cat "$1"; echo' sh {} \; 2>/dev/null |
  sed '/^#/d' |
  awk -v archive="$archive" 'BEGIN { RS = ""; ORS = "\n\n" }
    $0 ~ archive && $0 !~ /(^|\n)Enabled:[ \t]*no/ {
      if (sub(/(^|\n)Types:[^\n]*/, "\nTypes: deb-src")) { sub(/^\n/, ""); print }
    }' >"$apt/sources/debian.sources"

if [ ! -s "$apt/sources/debian.list" ] && [ ! -s "$apt/sources/debian.sources" ]; then
  echo "fetch_debian_source.sh: /etc/apt names no Debian archive" >&2
  exit 1
fi

apt_get() {
  apt-get -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$apt/sources" \
    -o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache" \
    -o APT::Sandbox::User= -o Acquire::Languages=none -o Acquire::Retries=1 \
    -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 "$@"
}

apt_get update
(cd "$apt/unpack" && apt_get source "$package")
unpacked=$(find "$apt/unpack" -mindepth 1 -maxdepth 1 -type d)
rm -rf "$folder"
mv "$unpacked" "$folder"
# Of now, and not of the release: who compares it with a build sees that it is new.
touch "$folder"
