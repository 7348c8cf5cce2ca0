// SPDX-License-Identifier: MIT
/**
 * @file
 * libupmu for C++17: regions, scopes, counter sets and lock recording as value types.
 *
 * Header only, over the C headers; link with libupmu (and with libupmu_sync for upmu::sync_session). Errors are exceptions of
 * type upmu::error, except in regions and scopes, which never throw: misuse is counted there as in C.
 */
#ifndef UPMU_HPP
#define UPMU_HPP

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "upmu/region.h"
#include "upmu/upmu.h"

namespace upmu
{

/** A failed call: what() is upmu_error(), code() an enum upmu_code. */
class error : public std::runtime_error
{
  public:
    explicit error(int code) : std::runtime_error(upmu_error()), code_(code)
    {
    }
    int code() const noexcept
    {
        return code_;
    }

  private:
    int code_;
};

/** Returns `result` if it is not negative. @throws error */
inline int check(int result)
{
    if (result < 0)
        throw error(result);
    return result;
}

/** A region with a name made at run time. Neither copied nor moved: the recorder keeps its address. */
class region
{
  public:
    explicit region(std::string name) : name_(std::move(name)), handle_(UPMU_REGION(name_.c_str()))
    {
    }
    region(const region &) = delete;
    region &operator=(const region &) = delete;

    void enter() noexcept
    {
        (void)upmu_region_enter(&handle_);
    }
    void leave() noexcept
    {
        (void)upmu_region_leave(&handle_);
    }
    const std::string &name() const noexcept
    {
        return name_;
    }

  private:
    std::string name_;
    upmu_region_t handle_;
};

/** A region from here to the end of the block; ends by exceptions, too. The region or the string must outlive it. */
class scope
{
  public:
    explicit scope(region &r) noexcept : region_(&r), name_(nullptr)
    {
        region_->enter();
    }
    /** @param name a string that stays as it is until the scope ends; each use looks the name up. */
    explicit scope(const char *name) noexcept : region_(nullptr), name_(name)
    {
        (void)upmu_region_begin(name_);
    }
    ~scope()
    {
        if (region_)
            region_->leave();
        else
            (void)upmu_region_end(name_);
    }
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;

  private:
    region *region_;
    const char *name_;
};

/** A mark on the timeline of the calling thread. */
inline void mark(const char *text) noexcept
{
    (void)upmu_mark(text);
}

/** One count with its status. */
class value
{
  public:
    value() : raw_()
    {
    }
    explicit value(const upmu_value &raw) noexcept : raw_(raw)
    {
    }

    /** The count; empty where there is no number. */
    std::optional<std::uint64_t> count() const noexcept
    {
        if (raw_.status != UPMU_EXACT && raw_.status != UPMU_SCALED)
            return std::nullopt;
        return raw_.value;
    }
    bool exact() const noexcept
    {
        return raw_.status == UPMU_EXACT;
    }
    /** enum upmu_status */
    int status() const noexcept
    {
        return raw_.status;
    }
    /** enum upmu_code behind a missing number, else 0 */
    int cause() const noexcept
    {
        return raw_.cause;
    }
    const char *status_name() const noexcept
    {
        return upmu_status_name(raw_.status);
    }
    const upmu_value &raw() const noexcept
    {
        return raw_;
    }

  private:
    upmu_value raw_;
};

/** A list of events counted for one target (struct upmu_set). Movable; used by one thread at a time. */
class set
{
  public:
    /** Opens counters of the calling thread, stopped and at zero. @throws error */
    explicit set(const std::string &events) : set(events, nullptr)
    {
    }
    /** Opens counters of the target in `opts`. @throws error */
    set(const std::string &events, const upmu_set_opts &opts) : set(events, &opts)
    {
    }
    set(set &&other) noexcept : set_(std::exchange(other.set_, nullptr))
    {
    }
    set &operator=(set &&other) noexcept
    {
        std::swap(set_, other.set_);
        return *this;
    }
    ~set()
    {
        upmu_set_close(set_);
    }

    /** @throws error */
    void start()
    {
        check(upmu_set_start(set_));
    }
    /** @throws error */
    void stop()
    {
        check(upmu_set_stop(set_));
    }
    /** @throws error */
    void reset()
    {
        check(upmu_set_reset(set_));
    }
    /** The values of all events, in the order of their names. @throws error */
    std::vector<value> read()
    {
        std::vector<value> values;
        std::vector<upmu_value> raw(size());
        check(upmu_set_read(set_, raw.data(), raw.size()));
        values.reserve(raw.size());
        for (const upmu_value &v : raw)
            values.emplace_back(v);
        return values;
    }
    /** Reads into memory of the caller, without allocation. @return number of events @throws error */
    std::size_t read(upmu_value *values, std::size_t n)
    {
        return static_cast<std::size_t>(check(upmu_set_read(set_, values, n)));
    }

    std::size_t size() const noexcept
    {
        return upmu_set_event_count(set_);
    }
    /** Name of event `i` as counted; "" if there is none. */
    std::string name(std::size_t i) const
    {
        const char *name = upmu_set_name(set_, i);
        return name ? name : "";
    }
    /** Why event `i` has no number, with the remedy; "" if it has one. */
    std::string reason(std::size_t i) const
    {
        const char *reason = upmu_set_reason(set_, i);
        return reason ? reason : "";
    }
    /** Whether the target is still there. @throws error */
    bool alive()
    {
        return check(upmu_set_alive(set_)) == 1;
    }
    /** Waits for the command to end. @return its status as waitpid(2) has it @throws error */
    int wait()
    {
        int status = 0;
        check(upmu_set_wait(set_, &status));
        return status;
    }
    upmu_set *get() const noexcept
    {
        return set_;
    }

  private:
    set(const std::string &events, const upmu_set_opts *opts) : set_(nullptr)
    {
        check(upmu_set_open(&set_, events.c_str(), opts));
    }

    upmu_set *set_;
};

} // namespace upmu

#endif
