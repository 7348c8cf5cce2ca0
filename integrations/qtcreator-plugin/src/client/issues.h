// SPDX-License-Identifier: MIT
/** @file Issues of an IDE: contended locks as warnings, deadlocks as errors with their stacks. */
#ifndef UPMU_IDE_ISSUES_H
#define UPMU_IDE_ISSUES_H

#include <QJsonArray>
#include <QStringList>
#include <QVector>

#include "session.h"
#include "site.h"

namespace upmu
{

struct Issue {
    enum Kind { Warning, Error };
    Kind kind = Warning;
    QString summary;
    QStringList details; /**< stacks, one line per frame */
    Site site;
};

/** An error for each thread of each deadlock, with what it holds and its stack as details. */
QVector<Issue> deadlockIssues(const QJsonArray &deadlocks);
/** Findings, then the locks with the longest waits, at most `most` of them, then inversions. Deadlocks are not among them. */
QVector<Issue> reportIssues(const Report &report, int most = 20);
/** As a line of a .tasks file, for an IDE whose list of issues cannot be filled otherwise. */
QString taskLine(const Issue &issue);

} // namespace upmu

#endif
