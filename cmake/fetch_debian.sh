#!/bin/sh
# fetch_debian.sh source PACKAGE FOLDER - unpacks Debian's source package PACKAGE into FOLDER.
# fetch_debian.sh packages ARCHITECTURE FOLDER PACKAGE... - unpacks binary packages of another
#     architecture into FOLDER, as if it were /; nothing is installed. A package whose name differs
#     between releases is given as "one|other": the first that this release has.
#
# Reads the machine's own list of Debian archives, asks them, and checks what comes with the
# archive's signature, as apt-get always does. All that apt-get writes stays in FOLDER's
# neighbour FOLDER.apt, which is removed: the system's own lists are neither read nor changed.
# FOLDER appears when it is complete. Needs apt-get and dpkg-dev; no root.
set -eu

kind=$1
case $kind in
  source) package=$2 folder=$3 type=deb-src architecture="" ;;
  packages) architecture=$2 folder=$3 type=deb && shift 3 ;;
  *) exit 2 ;;
esac
apt=$folder.apt

rm -rf "$apt"
mkdir -p "$apt/sources" "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/unpack"
apt=$(cd "$apt" && pwd)
trap 'rm -rf "$apt"' EXIT

# Debian's own archives and their mirrors; a third party's archive has no place here.
archive='debian[.]org|/debian(-security)?/?([ \t\n]|$)'

# One-line entries: "deb [options] URI suite component...".
find /etc/apt/sources.list /etc/apt/sources.list.d -name '*.list' -exec cat {} + 2>/dev/null |
  awk -v archive="$archive" -v type="$type" \
    '$1 == "deb" && $0 ~ archive { sub(/deb/, type); print }' >"$apt/sources/debian.list"

# Stanzas: "Types: deb", "URIs: ...", each ended by an empty line.
find /etc/apt/sources.list.d -name '*.sources' -exec sh -c 'cat "$1"; echo' sh {} \; 2>/dev/null |
  sed '/^#/d' |
  awk -v archive="$archive" -v type="$type" 'BEGIN { RS = ""; ORS = "\n\n" }
    $0 ~ archive && $0 !~ /(^|\n)Enabled:[ \t]*no/ {
      if (sub(/(^|\n)Types:[^\n]*/, "\nTypes: " type)) { sub(/^\n/, ""); print }
    }' >"$apt/sources/debian.sources"

if [ ! -s "$apt/sources/debian.list" ] && [ ! -s "$apt/sources/debian.sources" ]; then
  echo "fetch_debian.sh: /etc/apt names no Debian archive" >&2
  exit 1
fi

# Of the machine's own configuration of apt, another architecture must not be mixed with its own.
if [ -n "$architecture" ]; then
  printf '#clear APT::Architectures;\nAPT::Architecture "%s";\nAPT::Architectures { "%s"; };\n' \
    "$architecture" "$architecture" >"$apt/apt.conf"
else
  : >"$apt/apt.conf"
fi

# private_apt TOOL ARGUMENT...: apt-get or apt-cache, with lists and settings of its own.
private_apt() {
  tool=$1
  shift
  APT_CONFIG="$apt/apt.conf" "$tool" -qq -o Dir::Etc::SourceList=/dev/null \
    -o Dir::Etc::SourceParts="$apt/sources" -o Dir::State::Lists="$apt/lists" \
    -o Dir::Cache="$apt/cache" -o APT::Sandbox::User= -o Acquire::Languages=none \
    -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 "$@"
}

# first_there NAME...: the first that the archive has.
first_there() {
  for name in "$@"; do
    # A name that others only provide has no candidate.
    if private_apt apt-cache policy "$name" | grep -q 'Candidate: [^(]'; then
      echo "$name"
      return
    fi
  done
  echo "fetch_debian.sh: the archive has none of: $*" >&2
  return 1
}

private_apt apt-get update
rm -rf "$folder"
if [ "$kind" = source ]; then
  (cd "$apt/unpack" && private_apt apt-get source "$package")
  mv "$(find "$apt/unpack" -mindepth 1 -maxdepth 1 -type d)" "$folder"
else
  for package in "$@"; do
    # shellcheck disable=SC2046 # Names of packages.
    name=$(first_there $(echo "$package" | tr '|' ' '))
    (cd "$apt/cache/archives" && private_apt apt-get download "$name")
  done
  for file in "$apt"/cache/archives/*.deb; do
    dpkg-deb -x "$file" "$apt/unpack"
  done
  mv "$apt/unpack" "$folder"
fi
# Of now, and not of the release: who compares it with a build sees that it is new.
touch "$folder"
