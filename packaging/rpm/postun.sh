# Removal ($1 is 0): castore's report goes. A record of something that could not be undone stays.
if [ "$1" -eq 0 ]; then
    rm -f /var/lib/castore/report.json
    rmdir /var/lib/castore 2>/dev/null || :
fi
exit 0
