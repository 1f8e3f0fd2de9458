#!/bin/sh
# install.sh - installs bmad-mem from the package beside it. It downloads nothing.
set -eu

help() {
  cat <<'END'
usage: install.sh [--prefix DIR] [PACKAGE]
       install.sh [--prefix DIR] --uninstall

Installs PACKAGE, a bmad-mem-VERSION-linux-ARCHITECTURE.tar.gz, or the one beside this script that fits
this machine. The file SHA256SUMS beside the package says what the package must be. DIR is ~/.local, or
/usr/local for root. --uninstall removes what was installed there, and nothing else.
END
}

die() {
  printf 'install.sh: %s\n' "$*" >&2
  exit 1
}

sha256() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum <"$1"
  else
    shasum -a 256 <"$1"
  fi | cut -d ' ' -f 1
}

# What was installed, a path relative to the prefix in each line; a folder that was made ends in "/".
list=share/doc/bmad-mem/installed-files

uninstall() {
  [ -f "$prefix/$list" ] || die "nothing that install.sh installed is in $prefix"
  [ -w "$prefix/$list" ] || die "$prefix belongs to somebody else; run this as its owner"
  # The list is the last of the files. Folders innermost first; one that others use stays.
  files=$(grep -v '/$' "$prefix/$list")
  folders=$(grep '/$' "$prefix/$list" | sort -r)
  printf '%s\n' "$files" | while IFS= read -r file; do
    rm -f "$prefix/$file"
  done
  printf '%s\n' "$folders" | while IFS= read -r folder; do
    [ -z "$folder" ] || rmdir "$prefix/$folder" 2>/dev/null || true
  done
  echo "bmad-mem was removed from $prefix"
}

# make_folder PATH: makes a folder below the prefix, and notes which ones were not there.
make_folder() {
  [ ! -d "$prefix/$1" ] || return 0
  case $1 in
    */*) make_folder "${1%/*}" ;;
  esac
  mkdir "$prefix/$1"
  echo "$1/" >>"$work/made"
}

install() {
  case $(uname -s) in
    Linux) ;;
    *) die "this is $(uname -s), and bmad-mem runs on Linux only so far" ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) machine=x64 elf=3e ;;
    aarch64 | arm64) machine=arm64 elf=b7 ;;
    *) die "this machine is $(uname -m), and there are packages for x64 and arm64 only" ;;
  esac

  if [ -z "$package" ]; then
    set -- "$here"/bmad-mem-[0-9]*-linux-"$machine".tar.gz
    [ -e "$1" ] || die "there is no package for $machine beside install.sh"
    [ $# -eq 1 ] || die "there are several packages beside install.sh; name one: $*"
    package=$1
  fi
  [ -f "$package" ] || die "there is no file $package"
  folder=$(dirname -- "$package")
  name=$(basename -- "$package")
  [ -f "$folder/SHA256SUMS" ] || die "SHA256SUMS is not beside $package, so it can't be checked"
  wanted=$(awk -v name="$name" '$2 == name || $2 == "*" name { print $1; exit }' "$folder/SHA256SUMS")
  [ -n "$wanted" ] || die "SHA256SUMS does not name $name, so it can't be checked"
  [ "$(sha256 "$package")" = "$wanted" ] ||
    die "$name is not what SHA256SUMS says; it is damaged or was changed, and is not installed"

  tar -xzf "$package" -C "$work" --no-same-owner 2>"$work/said" ||
    die "can't unpack $name: $(head -n 1 "$work/said")"
  tree=$(find "$work" -mindepth 1 -maxdepth 1 -type d)
  [ -f "$tree/bin/bmad-mem" ] || die "$name is no package of bmad-mem"
  [ "$(od -An -tx1 -j18 -N1 "$tree/bin/bmad-mem" | tr -d ' ')" = "$elf" ] ||
    die "$name is for another architecture, and this machine is $machine"

  (cd "$tree" && find . -type f | sed 's,^\./,,' | sort) >"$work/files"
  if [ -f "$prefix/$list" ]; then
    grep '/$' "$prefix/$list" >"$work/made" || true
    # What an older version had and this one has not.
    grep -v '/$' "$prefix/$list" | grep -vxF -f "$work/files" | grep -vxF "$list" |
      while IFS= read -r file; do
        rm -f "$prefix/$file"
      done
  else
    while IFS= read -r file; do
      [ ! -e "$prefix/$file" ] ||
        die "$prefix/$file is there already and not from install.sh; remove it first"
    done <"$work/files"
  fi
  while IFS= read -r file; do
    make_folder "${file%/*}"
  done <"$work/files"
  # The list comes first: whatever stops this, --uninstall finds all that is there.
  sort -u "$work/made" "$work/files" >"$work/list"
  echo "$list" >>"$work/list"
  mv -f "$work/list" "$prefix/$list"
  while IFS= read -r file; do
    mv -f "$tree/$file" "$prefix/$file"
  done <"$work/files"

  "$prefix/bin/bmad-mem" --version >/dev/null || die "$prefix/bin/bmad-mem does not run here"
  echo "bmad-mem is installed: $prefix/bin/bmad-mem"
  case :$PATH: in
    *":$prefix/bin:"*) ;;
    *) echo "$prefix/bin is not in your PATH yet" ;;
  esac
}

package="" prefix="" action=install
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help)
      help
      exit 0
      ;;
    --uninstall) action=uninstall ;;
    --prefix)
      [ $# -gt 1 ] || die "--prefix needs a folder"
      prefix=$2
      shift
      ;;
    --prefix=*) prefix=${1#*=} ;;
    -*) die "there is no option $1; see install.sh --help" ;;
    *)
      [ -z "$package" ] || die "one package at a time"
      package=$1
      ;;
  esac
  shift
done
here=$(cd "$(dirname -- "$0")" && pwd)
if [ -z "$prefix" ]; then
  if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=${HOME:?is not set; give --prefix}/.local; fi
fi
case $prefix in
  /*) ;;
  *) prefix=$PWD/$prefix ;;
esac

if [ $action = uninstall ]; then
  uninstall
  exit
fi

umask 022
new_prefix=""
[ -d "$prefix" ] || new_prefix=$prefix
mkdir -p "$prefix" 2>/dev/null || die "can't make the folder $prefix"
# Within the prefix, so that files are moved into their places and never half there.
work=$(mktemp -d "$prefix/.bmad-mem-install.XXXXXX" 2>/dev/null) ||
  die "can't write to $prefix; choose another folder with --prefix"
trap 'rm -rf "$work"; [ -z "$new_prefix" ] || rmdir "$new_prefix" 2>/dev/null || true' EXIT
: >"$work/made"
install
