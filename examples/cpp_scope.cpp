/* SPDX-License-Identifier: MIT */
/*
 * Regions in C++: the scope form ends with the block, also when an exception leaves it.
 *
 *     UPMU_EVENTS=task-clock UPMU_REPORT=text ./cpp_scope
 */
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>

#include "upmu/region.h"

namespace
{

std::size_t count_words(const std::string &text, std::map<std::string, int> &words)
{
    UPMU_SCOPE("count words");
    std::size_t begin = 0;
    while (begin < text.size()) {
        std::size_t end = text.find(' ', begin);
        if (end == std::string::npos)
            end = text.size();
        if (end == begin)
            throw std::invalid_argument("two blanks in a row");
        ++words[text.substr(begin, end - begin)];
        begin = end + 1;
    }
    return words.size();
}

} // namespace

int main()
{
    std::map<std::string, int> words;
    bool refused = false;
    for (int i = 0; i < 1000; i++)
        count_words("the quick brown fox jumps over the lazy dog", words);
    try {
        count_words("not  allowed", words);
    } catch (const std::invalid_argument &) {
        refused = true; // and the region has ended with the block
    }
    std::printf("%zu words, the last text was %s\n", words.size(), refused ? "refused" : "accepted");
    return refused && words["the"] == 2000 ? 0 : 1;
}
