// SPDX-License-Identifier: MIT
// Processes that can be attached to, by /proc.
#include "process_list.h"

#include <algorithm>

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>

#include <unistd.h>

namespace upmu
{

QVector<Process> processList()
{
    QVector<Process> processes;
    const QStringList names = QDir(QStringLiteral("/proc")).entryList(QDir::Dirs | QDir::NoDotAndDotDot);
    for (const QString &name : names) {
        bool isNumber;
        const qint64 pid = name.toLongLong(&isNumber);
        const QString folder = QStringLiteral("/proc/") + name;
        if (!isNumber || pid == QCoreApplication::applicationPid() || QFileInfo(folder).ownerId() != geteuid())
            continue;
        QFile file(folder + QStringLiteral("/cmdline"));
        if (!file.open(QIODevice::ReadOnly))
            continue;
        const QByteArray words = file.read(4096).replace('\0', ' ').trimmed();
        if (!words.isEmpty()) // a thread of the kernel has none
            processes.append({pid, QString::fromLocal8Bit(words)});
    }
    std::sort(processes.begin(), processes.end(), [](const Process &a, const Process &b) { return a.pid > b.pid; });
    return processes;
}

} // namespace upmu
