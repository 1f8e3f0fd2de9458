# shellcheck shell=sh
# package.sh - makes the packages. './dev package' reads this file, and has defined what it calls:
# say, die, need_packages, need_commands, set_up, fetch_sources, build.
#
#   ./dev package [all|tar|deb|npm] [x64|arm64]
#
# What is made appears in build/packages at once when all of it is ready; until then, and when
# something fails, nothing there changes. The same sources and the same Debian packages give the same
# bytes: names are sorted, owners are 0, modes are fixed, and all times are that of the last commit.

usage="usage: ./dev package [all|tar|deb|npm] [x64|arm64]"
kinds="tar deb npm"
arches="x64 arm64"
for argument in "$@"; do
  case $argument in
    all) ;;
    tar | deb | npm) kinds=$argument ;;
    x64 | arm64) arches=$argument ;;
    *) die "$usage" ;;
  esac
done

# To cross-build, and what that needs of Debian's arm64 packages.
CROSS_PACKAGES="g++-aarch64-linux-gnu qemu-user-static"
ARM64_LIBRARIES="libboost1.74-dev|libboost1.83-dev libabsl-dev libxxhash-dev libstemmer-dev libutf8proc-dev libarchive-dev
  zlib1g-dev libre2-dev libsodium-dev libyaml-dev libzstd-dev libsqlite3-dev nlohmann-json3-dev libtomlplusplus-dev
  libpq-dev libpq5"
MAINTAINER="bmad-mem maintainers <maintainers@bmad-mem.dev>"
# Where a release is to be found. The formula for Homebrew names it.
RELEASE_URL=${BMAD_RELEASE_URL:-https://bmad-mem.dev/releases}

# Made by './dev encoder'. Packages of it are made where it is there.
weights=build/release/encoder.bmw

packages=build/packages
work=$packages.new
stage=$work/stage
made=$work/made

# What is being done, for the one sentence that is said when it fails. After it, nothing more is.
doing=""
finish() {
  status=$?
  if [ $status -ne 0 ] && [ -n "$doing" ]; then
    for place in build "$work" "${TMPDIR:-/tmp}"; do
      if [ "$(df -Pk "$place" 2>/dev/null | awk 'NR == 2 { print $4 }')" -lt 1024 ] 2>/dev/null; then
        doing="${doing%%:*}: no space is left in $place. Make some and try again"
      fi
    done
    printf 'dev: could not %s; nothing in %s was changed\n' "$doing" "$packages" >&2
  fi
  rm -rf "$work" 2>/dev/null || true
}
trap finish EXIT
trap 'doing=""; exit 130' INT TERM HUP

fail() {
  doing=""
  die "$*"
}

preset_of() {
  case $1 in
    x64) echo release ;;
    arm64) echo release-arm64 ;;
  esac
}

fetch_arm64_libraries() {
  sysroot=build/deps/sysroot-arm64
  [ "$(cat $sysroot/packages 2>/dev/null)" != "$ARM64_LIBRARIES" ] || return 0
  say "fetching Debian's arm64 libraries"
  # shellcheck disable=SC2086 # A list of words.
  cmake/fetch_debian.sh packages arm64 $sysroot $ARM64_LIBRARIES >$sysroot.log 2>&1 ||
    fail "Debian's arm64 libraries can't be fetched ($sysroot.log says why);" \
      "connect to a Debian archive and try again, or make the others: ./dev package x64"
  echo "$ARM64_LIBRARIES" >$sysroot/packages
}

debian_of() {
  case $1 in
    x64) echo amd64 ;;
    arm64) echo arm64 ;;
  esac
}

# check_binary ARCHITECTURE PROGRAM: what is packed must be what this script promises, whoever
# configured the build folder.
check_binary() {
  preset=$(preset_of "$1")
  grep -qs 'CMAKE_CXX_COMPILER_ID "GNU"' "build/$preset"/CMakeFiles/*/CMakeCXXCompiler.cmake ||
    fail "build/$preset was not made with g++, and packages are;" \
      "remove build/$preset and try again without CXX"
  # Not by a pipe: its status would be that of its end.
  readelf -hl "build/$preset/$2" >"$work/elf"
  case $1 in
    x64) machine=X86-64 ;;
    arm64) machine=AArch64 ;;
  esac
  grep -q "Machine:.*$machine" "$work/elf" ||
    fail "build/$preset/$2 is not for $1; remove build/$preset and try again"
  if [ "$2" = bmad-mem ] && grep -q INTERP "$work/elf"; then
    fail "build/$preset/$2 needs shared libraries, and packages must not;" \
      "remove build/$preset and see what 'cmake --preset $preset' says is missing"
  fi
}

# Debian's record of who wrote the libraries in the static program, and on what terms.
third_party_licenses() {
  cat <<'END'
The program bmad-mem contains the libraries below. What follows is, for each, the file "copyright" of
the Debian package that it was built from, and then the licences that these files refer to by name.

The GNU C library is under the LGPL: bmad-mem is free software, and its sources and build files let
anybody link it again with another version.
END
  docs=/usr/share/doc
  for library in simdjson fmtlib libxxhash-dev libstemmer-dev libutf8proc-dev libarchive-dev \
    zlib1g-dev libre2-dev libsodium-dev libyaml-dev libzstd-dev libsqlite3-dev nlohmann-json3-dev libtomlplusplus-dev \
    libc6-dev libstdc++-12-dev; do
    file=$docs/$library/copyright
    [ ! -e "build/deps/$library/debian/copyright" ] || file=build/deps/$library/debian/copyright
    [ -e "$file" ] || fail "the licence of $library is not in $file; packages are made on Debian 12"
    printf '\n==== %s\n\n' "$library"
    cat "$file"
  done
  # Boost's file is 2 MB of names for 160 libraries; what is used of them has one licence.
  printf '\n==== Boost: Asio, Beast and what they use\n\n'
  awk '/^License:/ { copying = $0 == "License: BSL-1.0" && !done; text = 0; next }
    copying && /^[^ ]/ { copying = 0 }
    copying && /^ Boost Software License/ { text = 1; done = 1 }
    copying && text { print }' "$docs/libboost1.74-dev/copyright"
  for name in LGPL-2.1 GPL-3; do
    printf '\n==== /usr/share/common-licenses/%s\n\n' "$name"
    cat "/usr/share/common-licenses/$name"
  done
}

# The tree of files that the tarball has, and the platform package of npm a part of.
stage_tool() {
  tree=$stage/bmad-mem-$version-linux-$1
  cmake --install "build/$(preset_of "$1")" --component tool --prefix "$tree" >"$work/install.log"
  mkdir -p "$tree/share/doc/bmad-mem"
  install -m 644 README.md LICENSE "$work/THIRD-PARTY-LICENSES" "$tree/share/doc/bmad-mem"
}

# pack_tar NAME: the folder $stage/NAME.
pack_tar() {
  tar --create --file="$work/$1.tar" --directory="$stage" --format=gnu --sort=name \
    --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner "$1"
  gzip -n9 "$work/$1.tar"
  mv "$work/$1.tar.gz" "$made"
}

# write_changelog FOLDER TEXT: as Debian's policy wants it, of the package that FOLDER is named after.
write_changelog() {
  printf '%s (%s) unstable; urgency=medium\n\n  * %s\n\n -- %s  %s\n' "${1##*/}" "$version" "$2" \
    "$MAINTAINER" "$(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -n9 >"$1/changelog.gz"
}

# pack_deb FOLDER: with DEBIAN/control in it.
pack_deb() {
  (cd "$1" && find usr -type f | LC_ALL=C sort | xargs md5sum >DEBIAN/md5sums)
  dpkg-deb --root-owner-group -Zxz --build "$1" "$made" >"$work/dpkg-deb.log"
}

make_tar() {
  say "tar: $1"
  name=bmad-mem-$version-linux-$1
  pack_tar "$name"
}

make_deb() {
  say "deb: $1"
  BMAD_BUILD_FOLDER=$PWD/build/$(preset_of "$1") BMAD_ARCHITECTURE=$(debian_of "$1") BMAD_VERSION=$version \
    BMAD_LICENSES=$PWD/$work/THIRD-PARTY-LICENSES \
    cpack --config packaging/deb/CPackConfig.cmake -B "$work/deb" >"$work/cpack.log" 2>&1 ||
    { cat "$work/cpack.log" >&2 && false; }
  mv "$work/deb"/*.deb "$made"
}

# pack FOLDER: as npm packs it, without asking anybody on the network.
pack() {
  npm_config_cache=$PWD/$work/npm-cache npm_config_update_notifier=false npm_config_offline=true \
    npm pack --loglevel=error --pack-destination "$made" "./$1" >"$work/npm.log"
}

make_npm() {
  say "npm: $1"
  folder=$stage/npm-$1
  mkdir -p "$folder/bin"
  install -m 755 "$stage/bmad-mem-$version-linux-$1/bin/bmad-mem" "$folder/bin"
  install -m 644 LICENSE "$work/THIRD-PARTY-LICENSES" "$folder"
  cat >"$folder/package.json" <<END
{
  "name": "@bmad-mem/linux-$1",
  "version": "$version",
  "description": "The program bmad-mem for linux-$1",
  "homepage": "https://bmad-mem.dev",
  "license": "Apache-2.0",
  "os": ["linux"],
  "cpu": ["$1"],
  "preferUnplugged": true
}
END
  echo "The program bmad-mem for linux-$1. Install the package bmad-mem." >"$folder/README.md"
  pack "$folder"
}

make_npm_launcher() {
  say "npm: the launcher"
  folder=$stage/npm
  mkdir -p "$folder/bin"
  install -m 644 LICENSE packaging/npm/README.md packaging/npm/index.* "$folder"
  install -m 755 packaging/npm/bin/bmad-mem "$folder/bin"
  sed "s/@VERSION@/$version/" packaging/npm/package.json.in >"$folder/package.json"
  pack "$folder"
}

# The program for hubs is linked with libpq, a shared library, which the machine has to have.
# make_hub_KIND takes what this puts into $stage/hub-ARCHITECTURE.
stage_hub() {
  tree=$stage/hub-$1
  cmake --install "build/$(preset_of "$1")" --component hub --prefix "$tree" >"$work/install.log"
  mkdir -p "$tree/share/man/man1" "$tree/share/doc/bmad-mem-hub"
  echo ".so man1/bmad-mem.1" >"$tree/share/man/man1/bmad-mem-hub.1"
  install -m 644 "$work/THIRD-PARTY-LICENSES" "$tree/share/doc/bmad-mem-hub"
}

make_hub_tar() {
  say "tar: the program for hubs, $1"
  name=bmad-mem-hub-$version-linux-$1
  cp -r "$stage/hub-$1" "$stage/$name"
  install -m 644 LICENSE "$stage/$name/share/doc/bmad-mem-hub"
  pack_tar "$name"
}

make_hub_deb() {
  say "deb: the program for hubs, $1"
  root=$stage/hub-deb-$1
  doc=$root/usr/share/doc/bmad-mem-hub
  mkdir -p "$root/DEBIAN" "$work/shlibs/debian"
  cp -r "$stage/hub-$1" "$root/usr"
  gzip -n9 "$doc/THIRD-PARTY-LICENSES" "$root/usr/share/man/man1/bmad-mem-hub.1"
  sed 's,doc/bmad-mem/,doc/bmad-mem-hub/,' packaging/deb/copyright >"$doc/copyright"
  write_changelog "$doc" "The program for hubs of bmad-mem $version."
  mkdir -p "$root/usr/share/lintian/overrides"
  echo "bmad-mem-hub: embedded-library * [usr/bin/bmad-mem-hub]" \
    >"$root/usr/share/lintian/overrides/bmad-mem-hub"
  printf 'Source: bmad-mem\n\nPackage: bmad-mem-hub\nArchitecture: any\n' >"$work/shlibs/debian/control"
  # This machine's Debian knows its own libraries. The same functions of them are called elsewhere.
  needed=$(cd "$work/shlibs" && dpkg-shlibdeps -O "$OLDPWD/build/release/bmad-mem-hub" 2>/dev/null |
    sed -n 's/^shlibs:Depends=//p')
  cat >"$root/DEBIAN/control" <<END
Package: bmad-mem-hub
Version: $version
Architecture: $(debian_of "$1")
Maintainer: $MAINTAINER
Installed-Size: $(($(find "$root/usr" -type f -exec cat {} + | wc -c) / 1024 + 1))
Depends: bmad-mem (= $version), $needed
Section: utils
Priority: optional
Homepage: https://bmad-mem.dev
Description: shares memories of bmad-mem between machines
 The program that bmad-mem starts for sync, push, pull and hub. It connects to a
 PostgreSQL database, which keeps the feed that the machines share.
END
  pack_deb "$root"
}

make_hub_npm() {
  say "npm: the program for hubs, $1"
  folder=$stage/npm-hub-$1
  mkdir -p "$folder/bin"
  install -m 755 "$stage/hub-$1/bin/bmad-mem-hub" "$folder/bin"
  install -m 644 LICENSE "$work/THIRD-PARTY-LICENSES" "$folder"
  cat >"$folder/package.json" <<END
{
  "name": "@bmad-mem/hub-linux-$1",
  "version": "$version",
  "description": "The program bmad-mem-hub for linux-$1, which needs libpq 5",
  "homepage": "https://bmad-mem.dev",
  "license": "Apache-2.0",
  "os": ["linux"],
  "cpu": ["$1"],
  "preferUnplugged": true
}
END
  echo "The program bmad-mem-hub for linux-$1. Install it beside the package bmad-mem." \
    >"$folder/README.md"
  pack "$folder"
}

# The model of the encoder, which is the same for all machines: its file, its licence, its documents.
# make_encoder_KIND takes what this puts into $stage/encoder.
stage_encoder() {
  tree=$stage/encoder
  mkdir -p "$tree/share/bmad-mem" "$tree/share/doc/bmad-mem-encoder"
  install -m 644 "$weights" "$tree/share/bmad-mem/encoder.bmw"
  install -m 644 packaging/encoder/copyright "$tree/share/doc/bmad-mem-encoder"
}

make_encoder_tar() {
  say "tar: the encoder"
  name=bmad-mem-encoder-$version
  cp -r "$stage/encoder" "$stage/$name"
  install -m 644 LICENSE "$stage/$name/share/doc/bmad-mem-encoder"
  pack_tar "$name"
}

make_encoder_deb() {
  say "deb: the encoder"
  root=$stage/encoder-deb
  mkdir -p "$root/DEBIAN"
  cp -r "$stage/encoder" "$root/usr"
  write_changelog "$root/usr/share/doc/bmad-mem-encoder" "The model of bmad-mem $version."
  cat >"$root/DEBIAN/control" <<END
Package: bmad-mem-encoder
Version: $version
Architecture: all
Maintainer: $MAINTAINER
Installed-Size: $(($(find "$root/usr" -type f -exec cat {} + | wc -c) / 1024 + 1))
Enhances: bmad-mem
Section: utils
Priority: optional
Homepage: https://bmad-mem.dev
Description: finds entries of bmad-mem that use other words
 The model by which bmad-mem compares texts by their meaning. It runs inside
 bmad-mem, without a server and without a network.
END
  pack_deb "$root"
}

make_encoder_npm() {
  say "npm: the encoder"
  folder=$stage/npm-encoder
  mkdir -p "$folder"
  install -m 644 "$weights" "$folder/encoder.bmw"
  install -m 644 LICENSE packaging/encoder/copyright "$folder"
  cat >"$folder/package.json" <<END
{
  "name": "bmad-mem-encoder",
  "version": "$version",
  "description": "The model by which bmad-mem compares texts by their meaning",
  "homepage": "https://bmad-mem.dev",
  "license": "Apache-2.0",
  "files": ["encoder.bmw", "copyright"],
  "preferUnplugged": true
}
END
  echo "The model by which bmad-mem compares texts. Install it beside the package bmad-mem." \
    >"$folder/README.md"
  pack "$folder"
}

# The formula for Homebrew, once both tarballs are there.
make_formula() {
  script="s,@VERSION@,$version,g;s,@URL@,$RELEASE_URL/$version,g"
  for arch in x64 arm64; do
    tarball=$made/bmad-mem-$version-linux-$arch.tar.gz
    [ -e "$tarball" ] || return 0
    script="$script;s/@SHA256_$arch@/$(sha256sum <"$tarball" | cut -d ' ' -f 1)/"
  done
  sed "$script" packaging/homebrew/bmad-mem.rb.in >"$made/bmad-mem.rb"
}

has() {
  case " $1 " in *" $2 "*) return 0 ;; *) return 1 ;; esac
}

[ "$(uname -sm)" = "Linux x86_64" ] || die "packages are made on x86_64 Linux, and this is $(uname -sm)"
umask 022
set_up
[ -e /usr/share/common-licenses/GPL-3 ] || die "packages are made on Debian 12, with its libraries"
if has "$arches" arm64; then
  # shellcheck disable=SC2086 # A list of words.
  need_packages $CROSS_PACKAGES
  for wanted in aarch64-linux-gnu-g++ qemu-aarch64-static; do
    command -v $wanted >/dev/null 2>&1 ||
      die "missing: $wanted; install $CROSS_PACKAGES, or make the others: ./dev package x64"
  done
fi
if has "$kinds" npm; then
  # shellcheck disable=SC2086,SC2154 # A list of words, which dev has.
  command -v npm >/dev/null 2>&1 || need_packages $NODE_PACKAGES
  command -v npm >/dev/null 2>&1 ||
    die "missing: npm; install nodejs and npm, or make the others: ./dev package tar"
fi
if [ -z "${SOURCE_DATE_EPOCH-}" ]; then
  SOURCE_DATE_EPOCH=$(git -c safe.directory="$PWD" log -1 --format=%ct 2>/dev/null ||
    stat -c %Y CHANGELOG.md)
fi
export SOURCE_DATE_EPOCH
version=$(sed -n 's/^project(bmad_mem VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)

rm -rf "${work:?}"/*
doing="write to build"
mkdir -p build/deps "$stage" "$made"
if has "$arches" arm64; then
  fetch_arm64_libraries
fi
for arch in $arches; do
  doing="build the release for $arch"
  build "$(preset_of "$arch")" bmad-mem bmad_mem bmad_mem_generated bmad-mem-hub
  check_binary "$arch" bmad-mem
  check_binary "$arch" bmad-mem-hub
done
if has "$kinds" deb && ! has "$arches" x64; then
  doing="build the program for hubs, whose libraries are looked up"
  build release bmad-mem-hub
fi
doing="collect the licences"
third_party_licenses >"$work/THIRD-PARTY-LICENSES"
for arch in $arches; do
  doing="collect the files for $arch"
  stage_tool "$arch"
  for kind in $kinds; do
    doing="make the $kind package for $arch"
    "make_$kind" "$arch"
  done
  stage_hub "$arch"
  for kind in $kinds; do
    doing="make the $kind package of the program for hubs, $arch"
    "make_hub_$kind" "$arch"
  done
done
doing="make the packages"
if has "$kinds" npm; then
  make_npm_launcher
fi
if [ -e "$weights" ]; then
  stage_encoder
  for kind in $kinds; do
    doing="make the $kind package of the encoder"
    "make_encoder_$kind"
  done
  doing="make the packages"
else
  say "no package bmad-mem-encoder: $weights is not there, which ./dev encoder makes"
fi
install -m 755 packaging/install.sh "$made"
install -m 644 packaging/Dockerfile "$made"

# What is in build/packages and of this version stays, where it was not made anew.
for file in "$packages"/*"$version"*; do
  if [ -e "$file" ] && [ ! -e "$made/${file##*/}" ]; then
    cp -p "$file" "$made"
  fi
done
make_formula
(cd "$made" && LC_ALL=C sha256sum -- *) >"$work/SHA256SUMS"
mv "$work/SHA256SUMS" "$made"
if [ -e "$packages" ]; then
  mv "$packages" "$work/old"
fi
mv "$made" "$packages"
say "$packages:"
cat "$packages/SHA256SUMS"
