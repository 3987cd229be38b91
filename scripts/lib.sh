# SPDX-License-Identifier: GPL-2.0-or-later
#
# What every shell script here needs: messages, and where things are.
# Sourced, never run.  Sets TOP (this repository), BUILD (absolute)
# and what else ./configure keeps.

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# What ./configure was asked for, unless make or the user says otherwise
configured() {
    [ ! -f "$TOP/config.mak" ] ||
        sed -n "s/^$1 *[?:]*= *//p" "$TOP/config.mak"
}
BUILD=${BUILD-$(configured BUILD)}
BUILD=${BUILD:-build}
QEMU_SOURCE=${QEMU_SOURCE-$(configured QEMU_SOURCE)}
QEMU_VERSION=${QEMU_VERSION-$(configured QEMU_VERSION)}
QEMU_CONFIGURE=${QEMU_CONFIGURE-$(configured QEMU_CONFIGURE)}
case $BUILD in
/*) ;;
*) BUILD=$TOP/$BUILD ;;
esac
JOBS=$(nproc)

say() {
    printf '9p: %s\n' "$*" >&2
}

die() {
    printf '%s: error: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# run_logged LOG COMMAND...: the output goes to LOG, and to the terminal only
# if the command fails
run_logged() {
    local log=$1
    shift
    mkdir -p "$(dirname "$log")"
    if ! "$@" > "$log" 2>&1 < /dev/null; then
        tail -n 40 "$log" >&2
        die "'$1' failed; all of its output is in $log"
    fi
}
