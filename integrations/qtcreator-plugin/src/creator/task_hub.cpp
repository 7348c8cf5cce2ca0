// SPDX-License-Identifier: MIT
/*
 * List of issues of Qt Creator, by the symbols of Qt Creator 6 to 9; other versions have other signatures, and get a .tasks file.
 *
 * Utils::FilePath and ProjectExplorer::Task are opaque: made by Qt Creator's own functions in memory that is larger than they
 * are, and passed by address, as the C++ ABI passes a class with a destructor. Their destructors are not exported, so that the
 * memory that they point to (some hundred bytes per issue) is kept.
 */
#include "task_hub.h"

#include <QIcon>

#include "texts.h"
#include "symbol.h"

namespace upmu
{

namespace
{

// A class of Qt Creator that has a destructor: the ABI passes and returns it by address.
struct Opaque {
    alignas(16) unsigned char bytes[1024];
    Opaque()
    {
    }
    Opaque(const Opaque &) = delete;
    ~Opaque()
    {
    }
};

// Utils::Id: one word.
struct Id {
    quintptr number;
};

enum { TASK_ERROR = 1, TASK_WARNING = 2 };
const char projectExplorer[] = "libProjectExplorer", utils[] = "libUtils";

struct TaskHub {
    Id (*idFromString)(const QString &);
    void (*filePath)(Opaque *result, const QString &);
    void (*makeTask)(Opaque *task, int type, const QString &description, const Opaque &file, int line, Id category,
                     const QIcon &icon, char options);
    void (*addCategory)(Id category, const QString &name, bool visible, int priority);
    void (*addTask)(Opaque *task);
    void (*clearTasks)(Id category);
    void (*requestPopup)();
};

template <typename Function> bool find(Function *function, const char *library, const char *name)
{
    *function = creatorFunction<Function>(library, name);
    return *function != nullptr;
}

bool findAll(TaskHub *hub)
{
    return find(&hub->idFromString, utils, "_ZN5Utils2Id10fromStringERK7QString") &&
           find(&hub->filePath, utils, "_ZN5Utils8FilePath10fromStringERK7QString") &&
           find(&hub->makeTask, projectExplorer,
                "_ZN15ProjectExplorer4TaskC1ENS0_8TaskTypeERK7QStringRKN5Utils8FilePathEiNS5_2IdERK5QIconc") &&
           find(&hub->addCategory, projectExplorer,
                "_ZN15ProjectExplorer7TaskHub11addCategoryEN5Utils2IdERK7QStringbi") &&
           find(&hub->addTask, projectExplorer, "_ZN15ProjectExplorer7TaskHub7addTaskENS_4TaskE") &&
           find(&hub->clearTasks, projectExplorer, "_ZN15ProjectExplorer7TaskHub10clearTasksEN5Utils2IdE") &&
           find(&hub->requestPopup, projectExplorer, "_ZN15ProjectExplorer7TaskHub12requestPopupEv");
}

} // namespace

bool taskHubSetIssues(const QVector<Issue> &issues)
{
    static TaskHub hub;
    static const bool isFound = findAll(&hub);
    static bool hasCategory = false;
    if (!isFound)
        return false;
    const Id category = hub.idFromString(QStringLiteral("Upmu.Concurrency"));
    if (!hasCategory)
        hub.addCategory(category, text(Text::Menu), true, 0);
    hasCategory = true;
    hub.clearTasks(category);
    const QIcon none;
    enum { ADD_TEXT_MARK = 1 << 0, FLASH = 1 << 1 };
    for (const Issue &issue : issues) {
        Opaque file, task;
        hub.filePath(&file, issue.site.isLine() ? issue.site.file : QString());
        const QStringList lines = QStringList{issue.summary} + issue.details;
        hub.makeTask(&task, issue.kind == Issue::Error ? TASK_ERROR : TASK_WARNING, lines.join(QLatin1Char('\n')), file,
                     issue.site.isLine() ? issue.site.line : -1, category, none, ADD_TEXT_MARK | FLASH);
        hub.addTask(&task);
    }
    if (!issues.isEmpty())
        hub.requestPopup();
    return true;
}

} // namespace upmu
