#!/usr/bin/env bash
# The shape of libupmu_sync.so: what it exports, with which versions, how little thread-local storage it takes, and what it
# must not be linked with.
set -euo pipefail
bin=$1 lib=$2
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

nm -D --defined-only --with-symbol-versions "$preload" | awk '$2 == "T" || $2 == "D" || $2 == "B" { print $3 }' >"$scratch/names"
# Condition variables have libc's two versions where it has two; no other interposed name may have one.
# Locks of Qt have Qt's versions, those of Abseil none.
sed -E '/^_Z.*@Qt_[56]$/d; /^_ZN4absl/d; s/^(pthread_cond_[a-z]+)@@?GLIBC_2\.(0|2\.5|3\.2)$/\1/' "$scratch/names" | sort -u >"$scratch/plain"
mv "$scratch/plain" "$scratch/names"
calls='(u?sleep|(clock_)?nanosleep|p?poll|p?select|epoll_p?wait2?|sig(wait|waitinfo|timedwait|suspend|queue|action|nal)|pause|t?g?kill|readv?|recv(from|m?msg)?|accept4?|writev?|f(data)?sync|p(read|write)v?(64)?|p(read|write)v(64v)?2|(vm)?splice|tee|sendfile(64)?|copy_file_range|sync_file_range|msync|send(to|m?msg)?|connect|wait([34]|pid|id)?|system|p(open|close)|posix_spawnp?|__(p?poll|p?read|pread64|recv|recvfrom)_chk)'
! grep -v -E "^$calls\$" "$scratch/names" | grep -v -E '^(pthread|sem|mtx|cnd|thrd)_|^(call_once|__cxa_guard_(acquire|release|abort)|syscall|prctl|sigprocmask|dl_iterate_phdr|pipe2|dlclose|free|munmap)$|^upmu_(sync|lock)_[a-z_]+@@UPMU_0\.2$|^upmu_sync_[a-z_]+_@@UPMU_PRIVATE_' || fail "these must not be exported"
for name in pthread_mutex_{init,destroy,lock,trylock,timedlock,clocklock,unlock} \
    pthread_cond_{init,destroy,wait,timedwait,clockwait,signal,broadcast} \
    sem_{init,destroy,wait,trywait,timedwait,clockwait,post} \
    pthread_{create,join,tryjoin_np,timedjoin_np,clockjoin_np,detach,setname_np}; do
    grep -qx "$name" "$scratch/names" || fail "$name is not taken over"
done
tls=$((16#$(readelf -lW "$preload" | awk '$1 == "TLS" { sub("0x", "", $6); print $6 }')))
[ "$tls" -gt 0 ] && [ "$tls" -le 64 ] || fail "$tls bytes of thread-local storage, at most 64 are allowed"
grep -q 'SONAME.*\[libupmu_sync.so.0\]' < <(readelf -d "$preload") || fail "no SONAME"
grep -q 'NEEDED.*\[libupmu.so.0\]' < <(readelf -d "$preload") || fail "libupmu.so.0 is not needed"
! grep -q unwind < <(readelf -d "$preload" | grep NEEDED) || fail "libunwind must not be linked"
echo "libupmu_sync.so.0: $(wc -l <"$scratch/names") names, $tls bytes of thread-local storage"
