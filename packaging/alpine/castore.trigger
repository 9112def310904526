#!/bin/sh
# Alpine's trigger: checked by reading only. In the APKBUILD:
#
#   install -Dm644 packaging/hook.conf "$pkgdir"/etc/castore/hook.conf
#   triggers="$pkgname.trigger=/usr/share/ca-certificates:/usr/local/share/ca-certificates:/etc/ssl/certs"
#
# /etc/ssl/certs is watched since apk may run this before the trigger of ca-certificates; what that writes is no
# package's file, so on such a run the report is one update old. A run by hand (`castore hook`) mends that.
#
# A trigger that fails makes apk end with an error although everything is installed: hence status 0, always. castore
# that cannot write leaves the store as it was. Standard input is apk's, and is not read.

[ -x /usr/bin/castore ] || exit 0

status=0
/usr/bin/castore hook </dev/null || status=$?
if [ "$status" -ne 0 ]; then
    echo "castore hook: status $status; the CA store is as it was" >&2
fi
exit 0
