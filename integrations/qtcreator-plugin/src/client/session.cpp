// SPDX-License-Identifier: MIT
// State of one analysis over the protocol.
#include "session.h"

#include <QDir>
#include <QFileInfo>

#include "texts.h"

namespace upmu
{

namespace
{
enum { ROWS = 500, INTERVAL_MS = 1000, SHUTDOWN_MS = 1000 };

QString key(const char *name)
{
    return QLatin1String(name);
}

QJsonValue textOrNull(const QString &value)
{
    return value.isEmpty() ? QJsonValue() : QJsonValue(value);
}

} // namespace

Session::Session(QObject *parent) : QObject(parent), m_client(QString())
{
    connect(&m_client, &ServeClient::noticed, this, &Session::takeNotice);
    connect(&m_client, &ServeClient::ended, this, [this](const QString &reason) {
        m_target = 0;
        m_subscription = 0;
        setState(m_state == Stopped ? Stopped : Idle);
        emit failed(reason);
    });
}

void Session::setState(State state)
{
    if (state == m_state)
        return;
    m_state = state;
    emit stateChanged();
}

// @return whether there is an error, which has been reported then.
bool Session::take(const ServeError &error)
{
    if (!error)
        return false;
    if (error.name != QLatin1String("canceled") && error.name != QLatin1String("ended")) // ended() reports that
        emit failed(error.text());
    return true;
}

void Session::dropTarget()
{
    if (m_target > 0)
        m_client.request(key("detach"), {{key("target"), m_target}}, [](const QJsonObject &, const ServeError &) {});
    m_target = 0;
    m_subscription = 0;
    m_isSampled = false;
    m_headline.clear();
    m_report = {};
}

void Session::takeTarget(const QJsonObject &status, bool isOwn)
{
    m_target = wholeNumber(status.value(key("target")));
    m_pid = wholeNumber(status.value(key("pid")));
    m_directory = status.value(key("dir")).toString();
    m_output = status.value(key("output")).toString();
    m_isOwn = isOwn;
    if (!status.value(key("recorded")).toBool()) {
        setState(Attached);
        subscribe();
    } else if (status.value(key("running")).toBool()) {
        setState(Recording);
        subscribe();
    } else {
        finish();
    }
}

void Session::start(const StartRequest &request)
{
    if (!canStart())
        return;
    if (!QDir().mkpath(QFileInfo(request.output).absolutePath())) {
        emit failed(text1(Text::NoFolder, QFileInfo(request.output).absolutePath()));
        return;
    }
    dropTarget();
    setState(Starting);
    const QJsonObject params{{key("command"), QJsonArray::fromStringList(request.command)},
                             {key("cwd"), textOrNull(request.directory)},
                             {key("output"), request.output},
                             {key("mode"), textOrNull(request.mode)},
                             {key("events"), textOrNull(request.events)}};
    m_client.request(key("start"), params, [this](const QJsonObject &result, const ServeError &error) {
        if (take(error))
            setState(Idle);
        else
            takeTarget(result, true);
    });
}

// A kernel that refuses leaves the process attached: all else does not depend on samples.
void Session::sample(const QString &directory)
{
    if (!QDir().mkpath(QFileInfo(directory).absolutePath())) {
        emit failed(text1(Text::NoFolder, QFileInfo(directory).absolutePath()));
        return;
    }
    m_client.request(key("start"), {{key("target"), m_target}, {key("output"), directory}},
                     [this, target = m_target](const QJsonObject &result, const ServeError &error) {
                         if (take(error) || m_target != target)
                             return;
                         m_isSampled = true;
                         m_directory = result.value(key("samples")).toString();
                         emit stateChanged();
                     });
}

void Session::attach(qint64 pid, const QString &samples)
{
    if (!canStart())
        return;
    dropTarget();
    setState(Starting);
    m_client.request(
        key("attach"), {{key("pid"), pid}}, [this, samples](const QJsonObject &result, const ServeError &error) {
            if (take(error)) {
                setState(Idle);
                return;
            }
            const QJsonArray processes = result.value(key("processes")).toArray();
            const bool isPaused =
                result.value(key("recorded")).toBool() && !processes.isEmpty() &&
                processes.first().toObject().value(key("mode")).toString() == QLatin1String("stopped");
            if (isPaused) // it records from now on
                m_client.request(key("start"), {{key("target"), result.value(key("target"))}},
                                 [this](const QJsonObject &, const ServeError &problem) { take(problem); });
            takeTarget(result, false);
            if (m_state == Attached)
                sample(samples);
        });
}

void Session::open(const QString &directory)
{
    if (!canStart())
        return;
    dropTarget();
    setState(Starting);
    m_client.request(key("attach"), {{key("dir"), directory}},
                     [this](const QJsonObject &result, const ServeError &error) {
                         if (take(error))
                             setState(Idle);
                         else
                             takeTarget(result, false);
                     });
}

void Session::subscribe()
{
    m_client.request(key("subscribe"),
                     {{key("target"), m_target}, {key("interval_ms"), INTERVAL_MS}, {key("rows"), 100}},
                     [this](const QJsonObject &result, const ServeError &error) {
                         if (!take(error))
                             m_subscription = result.value(key("subscription")).toInt();
                     });
}

void Session::unsubscribe()
{
    if (m_subscription > 0)
        m_client.request(key("unsubscribe"), {{key("subscription"), m_subscription}},
                         [](const QJsonObject &, const ServeError &) {});
    m_subscription = 0;
}

void Session::stop()
{
    if (m_state == Attached && !m_isSampled) {
        dropTarget();
        setState(Idle);
        return;
    }
    if (!canStop())
        return;
    setState(Stopping);
    unsubscribe();
    m_client.request(key("stop"), {{key("target"), m_target}}, [this](const QJsonObject &, const ServeError &error) {
        // A program that has ended meanwhile cannot be stopped: its recording is complete.
        if (m_target > 0 && (!error || error.name == QLatin1String("failed")))
            finish();
        else if (take(error))
            setState(Idle);
    });
}

void Session::finish()
{
    setState(Stopping);
    unsubscribe();
    if (m_isSampled)
        loadFunctions();
    else
        loadReport();
}

// All rows of a view, page by page.
void Session::loadView(const QString &view, QJsonArray *rows, std::function<void()> then)
{
    const QJsonObject params{
        {key("target"), m_target}, {key("view"), view}, {key("from"), rows->size()}, {key("limit"), ROWS}};
    m_client.request(key("view"), params, [this, view, rows, then](const QJsonObject &result, const ServeError &error) {
        if (error.name == QLatin1String("ended"))
            return;
        if (take(error)) {
            then();
            return;
        }
        const QJsonArray page = result.value(key("rows")).toArray();
        for (const QJsonValue &row : page)
            rows->append(row);
        if (result.value(key("next")).isNull() || page.isEmpty())
            then();
        else
            loadView(view, rows, then);
    });
}

void Session::loadReport()
{
    m_report = {};
    m_client.request(key("view"), {{key("target"), m_target}, {key("view"), key("overview")}},
                     [this](const QJsonObject &result, const ServeError &error) {
                         if (take(error)) {
                             setState(m_target > 0 ? Stopped : Idle);
                             return;
                         }
                         m_report.overview = result.value(key("overview")).toObject();
                         loadView(key("threads"), &m_report.threads, [this] {
                             loadView(key("locks"), &m_report.locks, [this] {
                                 loadView(key("deadlocks"), &m_report.deadlocks, [this] {
                                     loadView(key("inversions"), &m_report.inversions, [this] {
                                         setState(m_target > 0 ? Stopped : Idle);
                                         emit reported();
                                     });
                                 });
                             });
                         });
                     });
}

void Session::loadFunctions()
{
    m_report = {};
    loadView(key("functions"), &m_report.functions, [this] {
        setState(m_target > 0 ? Stopped : Idle);
        emit reported();
    });
}

void Session::detect()
{
    if (!canDetect() || m_isDetecting)
        return;
    m_isDetecting = true;
    m_client.request(key("detect"), {{key("target"), m_target}},
                     [this](const QJsonObject &result, const ServeError &error) {
                         m_isDetecting = false;
                         if (!take(error))
                             emit detected(result.value(key("found")).toBool(), result.value(key("rows")).toArray());
                     });
}

void Session::loadTimeline(const TimelineFilter &filter)
{
    if (m_target == 0 || m_directory.isEmpty() || m_isSampled)
        return;
    const QJsonObject params{{key("target"), m_target},
                             {key("view"), key("timeline")},
                             {key("limit"), ROWS},
                             {key("type"), textOrNull(filter.type)},
                             {key("thread"), textOrNull(filter.thread)},
                             {key("lock"), textOrNull(filter.lock)},
                             {key("begin"), textOrNull(filter.begin)},
                             {key("end"), textOrNull(filter.end)}};
    loadTimelinePage(params, {}, ++m_timeline);
}

// Pages of one filter follow each other; a new filter makes the rest of the old one be dropped.
void Session::loadTimelinePage(const QJsonObject &params, const QJsonArray &before, int generation)
{
    QJsonObject page = params;
    page.insert(key("from"), before.size());
    m_client.request(key("view"), page,
                     [this, params, before, generation](const QJsonObject &result, const ServeError &error) {
                         if (generation != m_timeline || take(error))
                             return;
                         QJsonArray rows = before;
                         const QJsonArray more = result.value(key("rows")).toArray();
                         for (const QJsonValue &row : more)
                             rows.append(row);
                         if (result.value(key("next")).isNull() || more.isEmpty())
                             emit timelineLoaded(rows, wholeNumber(result.value(key("total"))));
                         else
                             loadTimelinePage(params, rows, generation);
                     });
}

void Session::exportPage()
{
    if (m_target == 0 || m_directory.isEmpty())
        return;
    const QJsonObject page{{key("target"), m_target}, {key("format"), key("html")}};
    const QJsonObject flames{
        {key("target"), m_target}, {key("format"), key("flamegraph")}, {key("of"), key("samples")}};
    m_client.request(key("export"), m_isSampled ? flames : page,
                     [this](const QJsonObject &result, const ServeError &error) {
                         if (!take(error))
                             emit pageExported(result.value(key("path")).toString());
                     });
}

void Session::takeNotice(const QString &method, const QJsonObject &params)
{
    // The reply with the number of a subscription may come after its first notice.
    if (m_subscription > 0 && params.value(key("subscription")).toInt() != m_subscription)
        return;
    if (m_state != Recording && m_state != Attached)
        return;
    if (method == QLatin1String("end")) {
        m_subscription = 0;
        const QString problem = params.value(key("problem")).toString();
        if (!problem.isEmpty())
            emit failed(problem);
        if (m_state == Recording)
            finish();
        else
            stop(); // completes the samples
    } else if (method == QLatin1String("update")) {
        const QJsonObject top = params.value(key("top")).toObject();
        const QJsonArray deadlocks = top.value(key("deadlocks")).toArray();
        emit updated(top);
        const QString headline =
            deadlocks.isEmpty() ? QString() : deadlocks.first().toObject().value(key("headline")).toString();
        if (headline != m_headline && !headline.isEmpty())
            detect();
        m_headline = headline;
    }
}

void Session::shutdown()
{
    if (m_state == Recording && m_isOwn) {
        unsubscribe();
        m_client.request(key("stop"), {{key("target"), m_target}}, [](const QJsonObject &, const ServeError &) {});
        m_client.waitForReplies(SHUTDOWN_MS);
    }
    m_client.shutdown();
    m_target = 0;
}

} // namespace upmu
