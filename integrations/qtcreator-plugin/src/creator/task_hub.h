// SPDX-License-Identifier: MIT
/** @file List of issues of Qt Creator. */
#ifndef UPMU_CREATOR_TASK_HUB_H
#define UPMU_CREATOR_TASK_HUB_H

#include <QVector>

#include "issues.h"

namespace upmu
{

/** Replace the issues of our category. @return false: this Qt Creator has another interface, nothing was changed. */
bool taskHubSetIssues(const QVector<Issue> &issues);

} // namespace upmu

#endif
