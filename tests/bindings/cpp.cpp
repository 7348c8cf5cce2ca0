// SPDX-License-Identifier: MIT
// The C++ header: scopes end however their block is left, errors are exceptions, values without a number have none.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <type_traits>

#include "upmu/sync.hpp"
#include "upmu/trace.hpp"
#include "upmu/upmu.hpp"

#define CHECK(condition)                                                                            \
    do {                                                                                            \
        if (!(condition)) {                                                                         \
            std::fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, upmu_error()); \
            std::exit(1);                                                                           \
        }                                                                                           \
    } while (0)

static_assert(!std::is_copy_constructible<upmu::region>::value && !std::is_move_constructible<upmu::region>::value,
              "the recorder keeps the address of a region");
static_assert(std::is_nothrow_move_constructible<upmu::set>::value && !std::is_copy_constructible<upmu::set>::value,
              "a set has one owner");
static_assert(sizeof(upmu::scope) == 2 * sizeof(void *), "a scope is two words");

static std::uint64_t instances(const char *name)
{
    upmu_region_stats stats{};
    stats.size = sizeof stats;
    CHECK(upmu_region_stats_read(name, UPMU_ALL_THREADS, &stats) == 0);
    CHECK(stats.open == 0);
    return stats.count;
}

static void scopes_end_with_their_block()
{
    upmu::region region(std::string("made at ") + "run time");
    std::string name = "named";

    for (int i = 0; i < 5; i++) {
        upmu::scope outer(region);
        if (i == 1)
            continue;
        upmu::scope inner(name.c_str());
        if (i == 3)
            break;
    }
    try {
        upmu::scope scope(region);
        throw 1;
    } catch (int) {
    }
    CHECK(instances("made at run time") == 5);
    CHECK(instances("named") == 3);
}

static void errors_are_exceptions()
{
    int code = 0;
    try {
        upmu::set set("no-such-event");
    } catch (const upmu::error &e) {
        code = e.code();
        CHECK(std::strstr(e.what(), "no-such-event"));
    }
    CHECK(code == UPMU_E_NAME);
}

static void values_have_a_count_or_a_reason()
{
    upmu::set first("task-clock,cycles");
    upmu::set set(std::move(first));
    upmu_value raw[2];

    set.start();
    for (volatile int i = 0; i < 1000000;)
        i = i + 1;
    set.stop();
    CHECK(set.size() == 2 && set.read(raw, 2) == 2 && set.alive());
    std::vector<upmu::value> values = set.read();
    for (std::size_t i = 0; i < values.size(); i++) {
        CHECK(!set.name(i).empty());
        CHECK(values[i].count().has_value() == set.reason(i).empty());
        CHECK(values[i].count().has_value() || values[i].raw().value == UPMU_NO_VALUE);
    }
    CHECK(set.name(2).empty());
}

static void commands_are_waited_for()
{
    char program[] = "sh", option[] = "-c", text[] = "exit 3";
    char *argv[] = {program, option, text, nullptr};
    upmu_set_opts opts{};
    opts.size = sizeof opts;
    opts.target = UPMU_TARGET_COMMAND;
    opts.argv = argv;
    upmu::set set("task-clock", opts);
    set.start();
    int status = set.wait();
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3 && !set.alive());
}

static void sessions_record(const char *folder)
{
    upmu_sync_opts opts{};
    opts.size = sizeof opts;
    opts.trace = folder;
    upmu::sync_session session(opts);
    upmu::sync_session same(folder);
    upmu::custom_lock<std::mutex> lock("the lock");
    std::lock_guard<upmu::custom_lock<std::mutex>> guard(lock);
    upmu::mark("inside");
}

static void traces_are_ranges(const char *folder)
{
    static const int kinds[] = {UPMU_TRACE_MARK};
    std::string text;
    std::size_t all = 0, marks = 0;
    upmu::trace first(folder);
    upmu::trace events(std::move(first));
    CHECK(events.size() == 1 && events.process(0).pid == getpid());
    for (const upmu_trace_event &e : events)
        all += e.kind != 0;
    CHECK(all > 3 && events.begin() == events.end());
    upmu::trace again(folder);
    auto opts = UPMU_INIT(upmu_trace_filter_opts);
    opts.kinds = kinds;
    opts.n_kinds = 1;
    again.filter(opts);
    for (const upmu_trace_event &e : again) {
        marks++;
        text = e.name;
        CHECK(std::strcmp(upmu::kind_name(e), "mark") == 0);
    }
    CHECK(marks == 1 && text == "inside");
    int code = 0;
    try {
        upmu::trace missing("/nowhere");
    } catch (const upmu::error &e) {
        code = e.code();
    }
    CHECK(code == UPMU_E_IO);
    try {
        (void)again.process(1);
    } catch (const upmu::error &e) {
        code = e.code();
    }
    CHECK(code == UPMU_E_END);
}

int main(int argc, char **argv)
{
    upmu_region_opts opts{};
    opts.size = sizeof opts;
    opts.report = "none";
    CHECK(argc == 2 && upmu_region_setup(&opts) == 0);
    scopes_end_with_their_block();
    errors_are_exceptions();
    values_have_a_count_or_a_reason();
    commands_are_waited_for();
    std::filesystem::remove_all(argv[1]);
    sessions_record(argv[1]);
    traces_are_ranges(argv[1]);
    std::puts("fine");
    return 0;
}
