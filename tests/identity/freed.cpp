/* SPDX-License-Identifier: MIT */
// Locks without a recorded acquisition, whose memory is freed by a function that does nothing else with them.
#include <mutex>

struct Node {
    std::mutex mutex;
    int value = 0;
};

__attribute__((noinline)) static void work(Node *node)
{
    std::lock_guard<std::mutex> guard(node->mutex);
    node->value++;
}

__attribute__((noinline)) static void destroy_it(Node *node)
{
    delete node;
}

int main()
{
    for (int i = 0; i < 2; i++) {
        auto *node = new Node;
        work(node);
        destroy_it(node);
    }
    return 0;
}
