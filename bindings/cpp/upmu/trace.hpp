// SPDX-License-Identifier: MIT
/** @file Recordings for C++17: upmu::trace, a range of events. Link with libupmu_analysis. */
#ifndef UPMU_TRACE_HPP
#define UPMU_TRACE_HPP

#include <cstddef>
#include <iterator>
#include <string>
#include <utility>

#include "upmu/trace.h"
#include "upmu/upmu.hpp"

namespace upmu
{

/** The events of a recording in the order of time, to be read once: `for (const upmu_trace_event &e : trace)`. Movable. */
class trace
{
  public:
    /** An event of the trace is valid until the next increment. Incrementing throws error where the recording is damaged; the next
     *  begin() continues after the damage. */
    class iterator
    {
      public:
        using iterator_category = std::input_iterator_tag;
        using value_type = upmu_trace_event;
        using difference_type = std::ptrdiff_t;
        using pointer = const upmu_trace_event *;
        using reference = const upmu_trace_event &;

        iterator() noexcept : trace_(nullptr), event_(nullptr)
        {
        }
        explicit iterator(upmu_trace *t) : trace_(t), event_(nullptr)
        {
            ++*this;
        }
        reference operator*() const noexcept
        {
            return *event_;
        }
        pointer operator->() const noexcept
        {
            return event_;
        }
        iterator &operator++()
        {
            check(upmu_trace_next(trace_, &event_));
            return *this;
        }
        void operator++(int)
        {
            ++*this;
        }
        friend bool operator==(const iterator &a, const iterator &b) noexcept
        {
            return a.event_ == b.event_;
        }
        friend bool operator!=(const iterator &a, const iterator &b) noexcept
        {
            return !(a == b);
        }

      private:
        upmu_trace *trace_;
        const upmu_trace_event *event_;
    };

    /** Opens a recording, or the directory of one process in it. @throws error */
    explicit trace(const std::string &dir) : trace_(nullptr)
    {
        check(upmu_trace_open(&trace_, dir.c_str()));
    }
    trace(trace &&other) noexcept : trace_(std::exchange(other.trace_, nullptr))
    {
    }
    trace &operator=(trace &&other) noexcept
    {
        std::swap(trace_, other.trace_);
        return *this;
    }
    ~trace()
    {
        upmu_trace_close(trace_);
    }

    /** The next event. @throws error */
    iterator begin()
    {
        return iterator(trace_);
    }
    iterator end() const noexcept
    {
        return iterator();
    }
    /** Limits the events from here on. @throws error */
    void filter(const upmu_trace_filter_opts &opts)
    {
        check(upmu_trace_filter(trace_, &opts));
    }

    /** Number of processes. */
    std::size_t size() const noexcept
    {
        return upmu_trace_process_count(trace_);
    }
    /** Description of process `i`; its strings live as long as the trace. @throws error */
    upmu_trace_process process(std::size_t i) const
    {
        auto out = UPMU_INIT(upmu_trace_process);
        check(upmu_trace_process_at(trace_, i, &out));
        return out;
    }
    upmu_trace *get() const noexcept
    {
        return trace_;
    }

  private:
    upmu_trace *trace_;
};

/** The name of the kind of an event: "lock-block". */
inline const char *kind_name(const upmu_trace_event &event) noexcept
{
    return upmu_trace_kind_name(event.kind);
}

} // namespace upmu

#endif
