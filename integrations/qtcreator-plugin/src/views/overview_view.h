// SPDX-License-Identifier: MIT
/** @file Overview of a recording: findings, threads, locks with their waiters and holders; of samples, functions. */
#ifndef UPMU_IDE_OVERVIEW_VIEW_H
#define UPMU_IDE_OVERVIEW_VIEW_H

#include <QHash>
#include <QLabel>
#include <QWidget>

#include "session.h"
#include "site_tree.h"

namespace upmu
{

class OverviewView : public QWidget
{
    Q_OBJECT

  public:
    explicit OverviewView(QWidget *parent = nullptr);
    void setReport(const Report &report);
    void clear();

  signals:
    void siteActivated(const Site &site);

  private:
    void setFindings(const QJsonArray &findings);
    void setThreads(const QJsonArray &threads);
    void setLocks(const QJsonArray &locks);
    void addLock(const QJsonObject &lock);
    QString lockName(const QJsonObject &lock) const;
    void setFunctions(const QJsonArray &functions);

    QLabel *m_totals;
    QWidget *m_tables;
    SiteTree *m_findings, *m_threads, *m_locks, *m_functions;
    QHash<double, QString> m_names; /**< of threads, by id */
};

} // namespace upmu

#endif
