// SPDX-License-Identifier: MIT
// The analyzer: actions, session and views.
#include "analyzer.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

#include <signal.h>

#include "start_dialog.h"

namespace upmu
{

Analyzer::Analyzer(Host &host, QWidget *parent) : QWidget(parent), m_host(host)
{
    setObjectName(QStringLiteral("upmu.analyzer"));
    m_start = addAction(Text::Start, "upmu.action.start", &Analyzer::start);
    m_attach = addAction(Text::Attach, "upmu.action.attach", &Analyzer::attach);
    m_stop = addAction(Text::Stop, "upmu.action.stop", &Analyzer::stop);
    m_detect = addAction(Text::Detect, "upmu.action.detect", &Analyzer::detect);
    m_show = addAction(Text::Show, "upmu.action.show", &Analyzer::wanted);
    m_end = addAction(Text::EndProgram, "upmu.action.end", &Analyzer::endProgram);
    m_end->setToolTip(text(Text::EndProgramTip));
    m_output = new QAction(text(Text::ProgramOutput), this);
    connect(m_output, &QAction::triggered, this, [this] {
        Site site;
        site.file = m_session.output();
        site.line = 1;
        openSite(site);
    });

    m_state = new QLabel(this);
    m_state->setObjectName(QStringLiteral("upmu.state"));
    m_message = new QLabel(this);
    m_message->setObjectName(QStringLiteral("upmu.message"));
    m_message->setStyleSheet(QStringLiteral("color: #b3131b"));
    m_message->setTextFormat(Qt::PlainText);
    m_message->setWordWrap(true);
    m_message->hide();
    m_tabs = new QTabWidget(this);
    m_tabs->setObjectName(QStringLiteral("upmu.tabs"));
    m_tabs->setDocumentMode(true);
    addTab(m_live = new LiveView, Text::Live, "upmu.live");
    addTab(m_overview = new OverviewView, Text::Overview, "upmu.overview");
    addTab(m_timeline = new TimelineView, Text::Timeline, "upmu.timeline");
    addTab(m_deadlock = new DeadlockView, Text::Deadlock, "upmu.deadlock");
    addTab(m_page = new PageView, Text::Page, "upmu.page");

    auto *bar = new QHBoxLayout;
    for (QAction *action : {m_start, m_attach, m_stop, m_detect, m_output, m_end}) {
        auto *button = new QToolButton(this);
        button->setDefaultAction(action);
        bar->addWidget(button);
    }
    bar->addWidget(m_state, 1);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(2, 2, 2, 2);
    layout->addLayout(bar);
    layout->addWidget(m_message);
    layout->addWidget(m_tabs, 1);
    connectSession();
    showState();
}

QAction *Analyzer::addAction(Text label, const char *name, void (Analyzer::*slot)())
{
    auto *action = new QAction(text(label), this);
    action->setObjectName(QLatin1String(name));
    connect(action, &QAction::triggered, this, slot);
    return action;
}

void Analyzer::addTab(QWidget *view, Text label, const char *name)
{
    view->setObjectName(QLatin1String(name));
    m_tabs->addTab(view, text(label));
}

void Analyzer::connectSession()
{
    connect(&m_session, &Session::stateChanged, this, &Analyzer::showState);
    connect(&m_session, &Session::updated, m_live, &LiveView::setUpdate);
    connect(&m_session, &Session::detected, this, &Analyzer::showDeadlocks);
    connect(&m_session, &Session::reported, this, &Analyzer::showReport);
    connect(&m_session, &Session::timelineLoaded, m_timeline, &TimelineView::setRows);
    connect(&m_session, &Session::pageExported, m_page, &PageView::setFile);
    connect(&m_session, &Session::failed, this, &Analyzer::showMessage);
    connect(m_timeline, &TimelineView::rowsWanted, &m_session, &Session::loadTimeline);
    connect(m_page, &PageView::fileWanted, this, [this] {
        if (m_session.state() == Session::Stopped)
            m_session.exportPage();
    });
    connect(m_live, &LiveView::siteActivated, this, &Analyzer::openSite);
    connect(m_overview, &OverviewView::siteActivated, this, &Analyzer::openSite);
    connect(m_timeline, &TimelineView::siteActivated, this, &Analyzer::openSite);
    connect(m_deadlock, &DeadlockView::siteActivated, this, &Analyzer::openSite);
}

void Analyzer::fillMenu(QMenu *menu) const
{
    for (QAction *action : {m_start, m_attach, m_stop, m_detect})
        menu->addAction(action);
    menu->addSeparator();
    menu->addAction(m_show);
}

void Analyzer::showMessage(const QString &message)
{
    m_message->setText(message);
    m_message->setVisible(!message.isEmpty());
}

void Analyzer::openSite(const Site &site)
{
    if (!m_host.openSite(site))
        showMessage(text1(Text::CannotOpen, QStringLiteral("%1:%2").arg(site.file).arg(site.line)));
}

// Nothing of the analysis before is left.
void Analyzer::begin()
{
    showMessage({});
    for (int i = 0; i < m_tabs->count(); i++)
        m_tabs->setTabEnabled(i, i == 0);
    m_live->clear();
    m_overview->clear();
    m_timeline->clear();
    m_deadlock->clear();
    m_page->clear();
    m_host.setIssues({});
    m_tabs->setCurrentWidget(m_live);
    m_ended = 0;
}

void Analyzer::start()
{
    emit wanted();
    StartDialog dialog(m_host.projectProgram(), window());
    if (dialog.exec() != QDialog::Accepted)
        return;
    begin();
    m_session.start(dialog.request());
}

void Analyzer::attach()
{
    emit wanted();
    AttachDialog dialog(m_session.client(), window());
    if (dialog.exec() != QDialog::Accepted || dialog.pid() <= 0)
        return;
    begin();
    m_session.attach(dialog.pid(), recordingName(m_host.projectProgram()));
}

void Analyzer::stop()
{
    m_session.stop();
}

void Analyzer::detect()
{
    emit wanted();
    m_session.detect();
}

void Analyzer::endProgram()
{
    const qint64 pid = m_session.pid();
    if (m_session.isOwn() && pid > 1)
        kill(static_cast<pid_t>(pid), m_ended == pid ? SIGKILL : SIGTERM);
    m_ended = pid;
}

void Analyzer::showState()
{
    const Session::State state = m_session.state();
    const QString pid = QString::number(m_session.pid());
    m_start->setEnabled(m_session.canStart());
    m_attach->setEnabled(m_session.canStart());
    m_stop->setEnabled(m_session.canStop());
    m_detect->setEnabled(m_session.canDetect());
    m_end->setEnabled(m_session.isOwn() && (state == Session::Recording || state == Session::Stopped));
    m_output->setEnabled(!m_session.output().isEmpty());
    const bool isReport = state == Session::Stopped;
    for (int i = 1; i < m_tabs->count(); i++)
        m_tabs->setTabEnabled(i, (isReport && !(m_session.isSampled() && m_tabs->widget(i) == m_timeline)) ||
                                     (m_tabs->widget(i) == m_deadlock && m_session.canDetect()));
    switch (state) {
    case Session::Idle:
        m_state->setText(text(Text::StateIdle));
        break;
    case Session::Starting:
        m_state->setText(text(Text::StateStarting));
        break;
    case Session::Recording:
        m_state->setText(text1(Text::StateRecording, pid));
        break;
    case Session::Attached:
        m_state->setText(text1(m_session.isSampled() ? Text::StateSampled : Text::StateAttached, pid));
        break;
    case Session::Stopping:
        m_state->setText(text(Text::StateStopping));
        break;
    case Session::Stopped:
        m_state->setText(text2(Text::StateStopped, pid, m_session.directory()));
        break;
    }
}

// Deadlocks of the program while it hangs.
void Analyzer::showDeadlocks(bool, const QJsonArray &deadlocks)
{
    m_deadlock->setDeadlocks(deadlocks, m_session.report().inversions);
    m_host.setIssues(deadlockIssues(deadlocks) + reportIssues(m_session.report()));
    m_tabs->setTabEnabled(m_tabs->indexOf(m_deadlock), true);
    m_tabs->setCurrentWidget(m_deadlock);
}

void Analyzer::showReport()
{
    const Report &report = m_session.report();
    m_overview->setReport(report);
    m_timeline->setReport(report);
    m_page->clear();
    if (!m_session.isSampled()) { // else what Detect has found stays
        m_deadlock->setDeadlocks(report.deadlocks, report.inversions);
        m_host.setIssues(deadlockIssues(report.deadlocks) + reportIssues(report));
    }
    m_tabs->setCurrentWidget(m_overview);
    emit wanted();
}

void Analyzer::shutdown()
{
    m_session.shutdown();
}

} // namespace upmu
