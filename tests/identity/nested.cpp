/* SPDX-License-Identifier: MIT */
// Static locks behind members of the library without names of their own, in base classes, and in classes of those.
#include <pthread.h>
#include <array>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>

struct Shard {
    std::mutex mutex;
    int value = 0;
};
struct First {
    std::mutex lock;
};
struct Second {
    std::mutex lock;
};
struct Both : First, Second {
    std::mutex own;
};
struct Left : First {
};
struct Right : First {
};
struct Twice : Left, Right {
};
struct Virtual {
    std::mutex shared;
    virtual ~Virtual()
    {
    }
};
struct Middle : virtual Virtual {
    std::mutex own;
};
struct Last : Middle {
    std::mutex more; // in what is padding by the size of Middle, which includes Virtual
};

static std::array<std::mutex, 3> stripes;
static std::array<std::array<std::mutex, 2>, 3> grid;
static std::array<Shard, 3> shards;
static Shard plain[3];
static std::pair<std::mutex, std::mutex> pair;
static std::tuple<std::mutex, std::mutex> tuple;
static std::optional<Shard> optional;
static Both both[2];
static Twice twice;
static Last last;

static void use(std::mutex &mutex)
{
    mutex.lock();
    mutex.unlock();
}

int main()
{
    optional.emplace();
    for (std::mutex &stripe : stripes)
        use(stripe);
    for (auto &row : grid)
        for (std::mutex &cell : row)
            use(cell);
    for (Shard &shard : shards)
        use(shard.mutex);
    use(plain[0].mutex);
    use(plain[2].mutex);
    use(pair.first);
    use(pair.second);
    use(std::get<0>(tuple));
    use(std::get<1>(tuple));
    use(optional->mutex);
    for (Both &one : both) {
        use(one.First::lock);
        use(one.Second::lock);
        use(one.own);
    }
    use(twice.Left::lock);
    use(twice.Right::lock);
    use(last.shared);
    use(last.own);
    use(last.more);
    return 0;
}
