// SPDX-License-Identifier: MIT
/** @file What the analyzer needs of the IDE that it is in. */
#ifndef UPMU_IDE_HOST_H
#define UPMU_IDE_HOST_H

#include <QString>
#include <QVector>

#include "issues.h"
#include "site.h"

namespace upmu
{

/** Program of the open project, as far as the IDE has one. */
struct ProjectProgram {
    QString program, directory, buildDirectory;
};

class Host
{
  public:
    virtual ~Host() = default;
    /** Show a line in the editor. @return false if the IDE cannot. */
    virtual bool openSite(const Site &site) = 0;
    virtual ProjectProgram projectProgram() = 0;
    /** Replace the analyzer's issues by these. */
    virtual void setIssues(const QVector<Issue> &issues) = 0;
};

} // namespace upmu

#endif
