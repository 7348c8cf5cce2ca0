// SPDX-License-Identifier: MIT
/** @file Lock recording for C++17: upmu::sync_session and upmu::custom_lock. Link with libupmu_sync. */
#ifndef UPMU_SYNC_HPP
#define UPMU_SYNC_HPP

#include <string>

#include "upmu/sync.h"
#include "upmu/upmu.hpp"

namespace upmu
{

/** Records lock events of all threads while it lives. Sessions nest. */
class sync_session
{
  public:
    /** Default options. @throws error */
    sync_session()
    {
        check(upmu_sync_begin(nullptr));
    }
    /** @throws error */
    explicit sync_session(const upmu_sync_opts &opts)
    {
        check(upmu_sync_begin(&opts));
    }
    /** Records into the directory `trace`; further options are their defaults. @throws error */
    explicit sync_session(const std::string &trace, upmu_sync_mode mode = UPMU_SYNC_HOLDERS)
    {
        upmu_sync_opts opts{};
        opts.size = sizeof opts;
        opts.mode = mode;
        opts.trace = trace.c_str();
        check(upmu_sync_begin(&opts));
    }
    ~sync_session()
    {
        (void)upmu_sync_end();
    }
    sync_session(const sync_session &) = delete;
    sync_session &operator=(const sync_session &) = delete;
};

/** A Lockable of the program's own, announced to the recorder: lock(), try_lock() and unlock() are those of `Lock`. */
template <class Lock> class custom_lock
{
  public:
    explicit custom_lock(const char *name = nullptr)
    {
        upmu_lock_announce(this, name);
    }
    ~custom_lock()
    {
        upmu_lock_retired(this);
    }
    custom_lock(const custom_lock &) = delete;
    custom_lock &operator=(const custom_lock &) = delete;

    void lock()
    {
        if (!lock_.try_lock()) {
            upmu_lock_will_acquire(this);
            lock_.lock();
        }
        upmu_lock_acquired(this);
    }
    bool try_lock()
    {
        if (!lock_.try_lock())
            return false;
        upmu_lock_tried(this);
        return true;
    }
    void unlock()
    {
        upmu_lock_released(this);
        lock_.unlock();
    }

  private:
    Lock lock_;
};

} // namespace upmu

#endif
