// SPDX-License-Identifier: MIT
// A lock held in a function whose full name takes lines: templates and an operator.
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace shop
{
template <typename Key, typename Value> class Ledger
{
  public:
    __attribute__((noinline, abi_tag("cxx11"))) void operator()(const Key &key, Value value)
    {
        std::lock_guard<std::mutex> guard(mutex);
        table[key] += value;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }

  private:
    std::mutex mutex;
    std::map<Key, Value> table;
};

Ledger<std::string, std::map<int, long>::key_type> ledger;

std::atomic<int> clerks;

void clerk()
{
    clerks++;
    while (clerks < 2) /* a thread that starts late would meet no other */
        std::this_thread::yield();
    for (int i = 0; i < 10; i++)
        ledger("item", i);
}
} // namespace shop

int main()
{
    std::thread other(shop::clerk);
    shop::clerk();
    other.join();
}
