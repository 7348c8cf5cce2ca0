// SPDX-License-Identifier: MIT
/** @file State of one analysis: a program that is started or attached to, watched, stopped and reported. */
#ifndef UPMU_IDE_SESSION_H
#define UPMU_IDE_SESSION_H

#include <QJsonArray>
#include <QJsonObject>
#include <QObject>
#include <QStringList>

#include "serve_client.h"

namespace upmu
{

/** What Start runs. */
struct StartRequest {
    QStringList command;
    QString directory; /**< working directory; empty: the current one */
    QString output;    /**< directory of the recording, which must not exist */
    QString mode;      /**< "holders", "contended", "all", "counts" */
    QString events;    /**< counters, separated by commas; empty: none */
};

/** Filter of the timeline; empty texts: everything. */
struct TimelineFilter {
    QString type, thread, lock;
    QString begin, end; /**< seconds since the start of the recording */
};

/** Tables of a recording, as the protocol's views have them; of a sampled process `functions` alone. */
struct Report {
    QJsonObject overview;
    QJsonArray threads, locks, deadlocks, inversions, functions;
};

/**
 * The analysis that menu, dock and issues show. All replies arrive as signals; a failure is the signal failed().
 *
 * Idle -> Starting -> Recording -> Stopping -> Stopped, and from Stopped again. Attached, in place of Recording, is a process without
 * a recorder: its threads are sampled where the kernel permits, and Stopped has their functions.
 */
class Session : public QObject
{
    Q_OBJECT

  public:
    enum State { Idle, Starting, Recording, Attached, Stopping, Stopped };
    Q_ENUM(State)

    explicit Session(QObject *parent = nullptr);

    State state() const
    {
        return m_state;
    }
    bool canStart() const
    {
        return m_state == Idle || m_state == Stopped;
    }
    bool canStop() const
    {
        return m_state == Recording || m_state == Attached;
    }
    bool canDetect() const
    {
        return m_target > 0 && m_state != Starting && m_state != Stopping;
    }
    qint64 pid() const
    {
        return m_pid;
    }
    /** The program was started here, so that it may be ended here. */
    bool isOwn() const
    {
        return m_isOwn;
    }
    /** Of the recording, or of the samples. */
    QString directory() const
    {
        return m_directory;
    }
    /** There are samples, and nothing else. */
    bool isSampled() const
    {
        return m_isSampled;
    }
    QString output() const
    {
        return m_output;
    }
    const Report &report() const
    {
        return m_report;
    }
    ServeClient &client()
    {
        return m_client;
    }

    void start(const StartRequest &request);
    /** @param samples directory for the samples of a process without a recorder, which must not exist */
    void attach(qint64 pid, const QString &samples);
    /** Look at a recording that has ended. */
    void open(const QString &directory);
    void stop();
    void detect();
    void loadTimeline(const TimelineFilter &filter);
    /** Write the HTML report, or the flame graph of samples, to a file of the server, which removes it at its end. */
    void exportPage();
    /** End recording before the IDE ends; waits at most a second. */
    void shutdown();

  signals:
    void stateChanged();
    void updated(const QJsonObject &top);
    /** Deadlocks of a process that still runs, or ran. @param found false: there is none */
    void detected(bool found, const QJsonArray &deadlocks);
    void reported();
    void timelineLoaded(const QJsonArray &rows, qint64 total);
    void pageExported(const QString &path);
    void failed(const QString &message);

  private:
    void setState(State state);
    bool take(const ServeError &error);
    void takeTarget(const QJsonObject &status, bool isOwn);
    void subscribe();
    void unsubscribe();
    void finish();
    void loadView(const QString &view, QJsonArray *rows, std::function<void()> then);
    void loadReport();
    void loadFunctions();
    void sample(const QString &directory);
    void dropTarget();
    void takeNotice(const QString &method, const QJsonObject &params);
    void loadTimelinePage(const QJsonObject &params, const QJsonArray &before, int generation);

    ServeClient m_client;
    State m_state = Idle;
    qint64 m_target = 0, m_pid = 0;
    int m_subscription = 0, m_timeline = 0;
    bool m_isOwn = false, m_isDetecting = false, m_isSampled = false;
    QString m_directory, m_output, m_headline;
    Report m_report;
};

} // namespace upmu

#endif
