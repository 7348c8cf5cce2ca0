// SPDX-License-Identifier: MIT
/** @file Timeline of a recording: lanes, a table of the rows, and the call stack of the selected one. */
#ifndef UPMU_IDE_TIMELINE_VIEW_H
#define UPMU_IDE_TIMELINE_VIEW_H

#include <QComboBox>
#include <QJsonArray>
#include <QLabel>
#include <QWidget>

#include "session.h"
#include "lanes.h"
#include "site_tree.h"

namespace upmu
{

class TimelineView : public QWidget
{
    Q_OBJECT

  public:
    explicit TimelineView(QWidget *parent = nullptr);

    /** Threads and length of the run; asks for the rows of all of it. */
    void setReport(const Report &report);
    void setRows(const QJsonArray &rows, qint64 total);
    void clear();
    Lanes *lanes() const
    {
        return m_lanes;
    }

  signals:
    void rowsWanted(const TimelineFilter &filter);
    void siteActivated(const Site &site);

  private:
    void ask();
    void addRow(const QJsonObject &row);
    void showRow(int number);
    int laneOf(const QJsonObject &thread);

    QComboBox *m_types, *m_threads, *m_locks;
    QLabel *m_count;
    Lanes *m_lanes;
    SiteTree *m_table, *m_stack;
    QJsonArray m_rows;
    QVector<Lane> m_all;
    QVector<qint64> m_tids;
    qint64 m_start = 0;
    double m_length = 0, m_begin = 0, m_end = 0;
};

} // namespace upmu

#endif
