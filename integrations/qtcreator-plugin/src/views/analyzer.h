// SPDX-License-Identifier: MIT
/** @file The analyzer: actions, session and views, for any IDE that is a Host. */
#ifndef UPMU_IDE_ANALYZER_H
#define UPMU_IDE_ANALYZER_H

#include <QAction>
#include <QLabel>
#include <QMenu>
#include <QTabWidget>
#include <QToolButton>
#include <QWidget>

#include "host.h"
#include "session.h"
#include "deadlock_view.h"
#include "live_view.h"
#include "overview_view.h"
#include "page_view.h"
#include "timeline_view.h"

namespace upmu
{

/** The dock's contents. Its actions go into the IDE's menu. */
class Analyzer : public QWidget
{
    Q_OBJECT

  public:
    /** @param host outlives the analyzer */
    explicit Analyzer(Host &host, QWidget *parent = nullptr);

    /** Actions Start, Attach, Stop, Detect Deadlock, Show; to be added to a menu. */
    void fillMenu(QMenu *menu) const;
    Session &session()
    {
        return m_session;
    }
    LiveView *live() const
    {
        return m_live;
    }
    OverviewView *overview() const
    {
        return m_overview;
    }
    TimelineView *timeline() const
    {
        return m_timeline;
    }
    DeadlockView *deadlock() const
    {
        return m_deadlock;
    }
    PageView *page() const
    {
        return m_page;
    }
    QTabWidget *tabs() const
    {
        return m_tabs;
    }
    void shutdown();

  signals:
    /** The dock should become visible. */
    void wanted();

  private:
    QAction *addAction(Text label, const char *name, void (Analyzer::*slot)());
    void addTab(QWidget *view, Text label, const char *name);
    void connectSession();
    void begin();
    void start();
    void attach();
    void stop();
    void detect();
    void endProgram();
    void openSite(const Site &site);
    void showState();
    void showDeadlocks(bool found, const QJsonArray &deadlocks);
    void showReport();
    void showMessage(const QString &message);

    Host &m_host;
    Session m_session;
    QAction *m_start, *m_attach, *m_stop, *m_detect, *m_show;
    QAction *m_end, *m_output;
    QLabel *m_state, *m_message;
    QTabWidget *m_tabs;
    LiveView *m_live;
    OverviewView *m_overview;
    TimelineView *m_timeline;
    DeadlockView *m_deadlock;
    PageView *m_page;
    qint64 m_ended = 0;
};

} // namespace upmu

#endif
