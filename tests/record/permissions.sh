# SPDX-License-Identifier: MIT
# Programs that gain rights are refused, and recordings are their owner's. Needs root, to give such rights away.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "only root can make setuid programs of another user"
command -v setpriv >/dev/null || skip "setpriv is not installed"
[ "$(sed -n 's/^NoNewPrivs:[[:space:]]*//p' /proc/self/status)" = 0 ] || skip "no program can gain rights here"
as_nobody() {
    setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}
chmod 755 "$work"
mkdir -m 777 open
as_nobody "$UPMU" --version >/dev/null 2>&1 || skip "another user cannot execute $UPMU"

cp /bin/true setuid
cp /bin/true setgid
chmod 4755 setuid
chmod 2755 setgid
# Mounted nosuid, the bits mean nothing, and the programs can be recorded.
if grep -qw nosuid < <(findmnt -n -o OPTIONS -T "$work"); then skip "$work is mounted nosuid"; fi
for kind in setuid setgid; do
    expect 1 as_nobody "$UPMU" record -o open/t "./$kind"
    has err "it is a $kind program"
    # root gains nothing by them.
    expect 0 "$UPMU" record -o "$kind.trace" "./$kind"
done
cp /bin/true capable
if setcap cap_net_raw+ep capable 2>/dev/null; then
    expect 1 as_nobody "$UPMU" record -o open/t ./capable
    has err "file capabilities"
else
    echo "no file capabilities can be set here: that part is left out"
fi
[ ! -e open/t ] || fail "a directory for nothing"

# Another user's recording.
begin -o mine
expect 1 as_nobody "$UPMU" ctl "$pid" stop
has err "another user"
chmod -R a+rX mine
expect 1 as_nobody "$UPMU" ctl mine stop
has err "only the owner of the process"
"$UPMU" ctl "$pid" status >status
grep -q 'mode holders' status || fail "another user changed it: $(cat status)"

# A link in the place of the control file is not followed; nor is another's file believed.
control=$(echo mine/*/.control)
mv "$control" real && ln -s "$work/real" "$control"
expect 1 "$UPMU" ctl mine stop
rm "$control" && cp real "$control" && chown 65534 "$control"
expect 1 "$UPMU" ctl mine stop
has err "another user"
finish_worker
finish
