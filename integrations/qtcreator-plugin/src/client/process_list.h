// SPDX-License-Identifier: MIT
/** @file Processes that can be attached to. */
#ifndef UPMU_IDE_PROCESS_LIST_H
#define UPMU_IDE_PROCESS_LIST_H

#include <QString>
#include <QVector>

namespace upmu
{

struct Process {
    qint64 pid;
    QString command;
};

/** Processes of this user that are programs, newest first; without the IDE itself. */
QVector<Process> processList();

} // namespace upmu

#endif
