/* SPDX-License-Identifier: MIT */
/* A program of 3 MB with deeply inlined C++ functions whose addresses bench_symbols looks up; never run. */
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace
{
template <int N> struct key {
    std::string name;
    int weight;
    bool operator<(const key &other) const
    {
        return weight + N < other.weight || name < other.name;
    }
};

template <int N> struct store {
    std::map<key<N>, std::vector<std::string>> ordered;
    std::unordered_map<std::string, std::shared_ptr<key<N>>> by_name;
    std::set<key<N>> seen;

    void put(const std::string &name, int weight)
    {
        key<N> k{name + std::to_string(N), weight};
        ordered[k].push_back(name);
        by_name.emplace(name, std::make_shared<key<N>>(k));
        seen.insert(k);
    }

    size_t sum() const
    {
        std::vector<key<N>> all(seen.begin(), seen.end());
        std::sort(all.begin(), all.end(), [](const key<N> &a, const key<N> &b) { return b < a; });
        std::function<size_t(size_t, const key<N> &)> add = [](size_t n, const key<N> &k) {
            return n + k.name.size() + (size_t)k.weight;
        };
        return std::accumulate(all.begin(), all.end(), by_name.size() + ordered.size(), add);
    }
};

template <int N> size_t fill(int argc, char **argv)
{
    store<N> s;
    for (int i = 0; i < argc; i++)
        s.put(argv[i], i + N);
    size_t sum = s.sum();
    if constexpr (N > 0)
        sum += fill<N - 1>(argc, argv);
    return sum;
}
} // namespace

int main(int argc, char **argv)
{
    return fill<SUBJECT_TYPES>(argc, argv) == 0;
}
