# Removal ($1 is 0), not upgrade: gives the store back as it was before `castore tune apply`. Never the reason why a
# package cannot be removed.
if [ "$1" -eq 0 ] && [ -x /usr/bin/castore ]; then
    /usr/bin/castore tune undo --quiet || echo "castore: \`castore tune undo\` failed, and the package goes all the same" >&2
fi
exit 0
