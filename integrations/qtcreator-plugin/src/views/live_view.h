// SPDX-License-Identifier: MIT
/** @file Live window: threads, locks and counters of the program that is recorded, each second. */
#ifndef UPMU_IDE_LIVE_VIEW_H
#define UPMU_IDE_LIVE_VIEW_H

#include <QHash>
#include <QJsonObject>
#include <QLabel>
#include <QWidget>

#include "site_tree.h"

namespace upmu
{

class LiveView : public QWidget
{
    Q_OBJECT

  public:
    explicit LiveView(QWidget *parent = nullptr);

    /** Show the document of `upmu top --json`. */
    void setUpdate(const QJsonObject &top);
    void clear();
    int updates() const
    {
        return m_updates;
    }

  signals:
    void siteActivated(const Site &site);
    void deadlockClicked();

  private:
    void setThreads(const QJsonArray &threads, double seconds);
    void setLocks(const QJsonArray &locks, double seconds);
    void setCounters(const QJsonArray &counters, double seconds);
    void setDeadlocks(const QJsonArray &deadlocks);
    void setStopped(const QJsonObject &top);

    QLabel *m_deadlock, *m_stopped;
    SiteTree *m_threads, *m_locks, *m_counters;
    QHash<QString, double> m_totals;
    int m_updates = 0;
};

} // namespace upmu

#endif
