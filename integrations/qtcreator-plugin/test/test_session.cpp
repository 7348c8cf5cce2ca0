// SPDX-License-Identifier: MIT
// Tests of session and analyzer with the real `upmu serve` (UPMU) and the program of the proof (UPMU_TILL).
#include <QFile>
#include <QProcess>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>

#include <signal.h>

#include "analyzer.h"
#include "test_ide.h"

namespace upmu
{

namespace
{

// A session of the real server; the program that it started is ended with it.
class Run
{
  public:
    Run()
    {
        session.client().setCommand(qEnvironmentVariable("UPMU"));
        request.command = QStringList{qEnvironmentVariable("UPMU_TILL"), flag()};
        request.output = folder.filePath(QStringLiteral("files/recording"));
        QObject::connect(&session, &Session::failed, [this](const QString &message) { failures << message; });
    }
    ~Run()
    {
        if (session.isOwn() && session.pid() > 1)
            kill(static_cast<pid_t>(session.pid()), SIGKILL);
    }
    QString flag() const
    {
        return folder.filePath(QStringLiteral("flag"));
    }
    void hang() const
    {
        QFile file(flag());
        QVERIFY(file.open(QIODevice::WriteOnly));
    }
    bool isAlive() const
    {
        return session.pid() > 1 && kill(static_cast<pid_t>(session.pid()), 0) == 0;
    }

    QTemporaryDir folder;
    Session session;
    StartRequest request;
    QStringList failures;
};

bool hasLock(const QJsonObject &top, const QString &name)
{
    const QJsonArray locks = top.value(QStringLiteral("locks")).toArray();
    for (const QJsonValue &lock : locks)
        if (lock.toObject().value(QStringLiteral("name")).toString() == name)
            return true;
    return false;
}

} // namespace

void TestSession::initTestCase()
{
    if (!qEnvironmentVariableIsSet("UPMU") || !qEnvironmentVariableIsSet("UPMU_TILL"))
        QSKIP("skipped, because UPMU and UPMU_TILL are not set");
}

void TestSession::fromStartToReport()
{
    Run run;
    QSignalSpy updates(&run.session, &Session::updated), detected(&run.session, &Session::detected),
        reported(&run.session, &Session::reported), rows(&run.session, &Session::timelineLoaded),
        pages(&run.session, &Session::pageExported);
    QVERIFY(run.session.canStart() && !run.session.canStop() && !run.session.canDetect());
    run.session.start(run.request);
    QTRY_COMPARE_WITH_TIMEOUT(run.session.state(), Session::Recording, TEST_MS);
    QVERIFY2(run.failures.isEmpty(), qPrintable(run.failures.join(QLatin1Char(' '))));
    QVERIFY(!run.session.canStart() && run.session.canStop() && run.session.canDetect());
    QTRY_VERIFY_WITH_TIMEOUT(
        !updates.isEmpty() && hasLock(updates.last().first().toJsonObject(), QStringLiteral("till")), TEST_MS);
    run.hang();
    QTRY_VERIFY_WITH_TIMEOUT(!detected.isEmpty(), TEST_MS); // without a request: an update had it
    QVERIFY(detected.first().first().toBool() && run.isAlive());
    QVERIFY(deadlockIssues(detected.first().last().toJsonArray()).size() >= 2);
    run.session.stop();
    QTRY_COMPARE_WITH_TIMEOUT(reported.size(), 1, TEST_MS);
    QCOMPARE(run.session.state(), Session::Stopped);
    QVERIFY2(run.isAlive(), "Stop ends recording, not the program");
    QCOMPARE(run.session.report().threads.size(), qsizetype(6));
    QVERIFY(!run.session.report().locks.isEmpty() && run.session.report().deadlocks.size() == 1);
    TimelineFilter filter;
    filter.type = QStringLiteral("wait");
    run.session.loadTimeline(filter);
    QTRY_COMPARE_WITH_TIMEOUT(rows.size(), 1, TEST_MS);
    QVERIFY(rows.first().first().toJsonArray().size() > 3);
    run.session.exportPage();
    QTRY_COMPARE_WITH_TIMEOUT(pages.size(), 1, TEST_MS);
    QVERIFY(QFile(pages.first().first().toString()).size() > 10000);
    run.session.detect(); // and once more, of the recording
    QTRY_VERIFY_WITH_TIMEOUT(detected.size() >= 2, TEST_MS);
    QVERIFY(detected.last().first().toBool());
    QVERIFY2(run.failures.isEmpty(), qPrintable(run.failures.join(QLatin1Char(' '))));
}

void TestSession::programThatEnds()
{
    TestHost host;
    Analyzer analyzer(host);
    Session &session = analyzer.session();
    const QTemporaryDir folder;
    session.client().setCommand(qEnvironmentVariable("UPMU"));
    StartRequest request;
    request.command = QStringList{QStringLiteral("/bin/sleep"), QStringLiteral("0.2")};
    request.output = folder.filePath(QStringLiteral("recording"));
    QSignalSpy reported(&session, &Session::reported);
    session.start(request);
    QTRY_COMPARE_WITH_TIMEOUT(reported.size(), 1, TEST_MS);
    QCOMPARE(session.state(), Session::Stopped);
    QCOMPARE(analyzer.tabs()->currentWidget(), static_cast<QWidget *>(analyzer.overview()));
    QVERIFY(analyzer.findChild<QAction *>(QStringLiteral("upmu.action.start"))->isEnabled());
    QVERIFY(!analyzer.findChild<QAction *>(QStringLiteral("upmu.action.stop"))->isEnabled());
}

void TestSession::programThatCannotStart()
{
    Run run;
    run.request.command = QStringList{QStringLiteral("/nonexistent/program")};
    run.session.start(run.request);
    QTRY_COMPARE_WITH_TIMEOUT(run.failures.size(), 1, TEST_MS);
    QVERIFY(run.failures.first().contains(QStringLiteral("/nonexistent/program")));
    QCOMPARE(run.session.state(), Session::Idle);
    run.request.output = QStringLiteral("/proc/nothing/recording");
    run.session.start(run.request);
    QCOMPARE(run.failures.size(), qsizetype(2));
}

void TestSession::attachWithoutRecorder()
{
    Run run;
    QProcess program;
    program.start(qEnvironmentVariable("UPMU_TILL"), {run.flag()});
    QVERIFY(program.waitForStarted());
    QSignalSpy updates(&run.session, &Session::updated), reported(&run.session, &Session::reported),
        pages(&run.session, &Session::pageExported);
    run.session.attach(program.processId(), run.request.output);
    QTRY_COMPARE_WITH_TIMEOUT(run.session.state(), Session::Attached, TEST_MS);
    QVERIFY(run.session.canDetect() && run.session.canStop() && !run.session.isOwn());
    // The clerks contend: the one that holds the till sleeps, the others wait in a futex.
    const auto isAsleepIn = [&updates](const char *kind) {
        const QJsonArray threads =
            updates.isEmpty() ? QJsonArray()
                              : updates.last().first().toJsonObject().value(QLatin1String("threads")).toArray();
        return std::any_of(threads.begin(), threads.end(), [kind](const QJsonValue &thread) {
            return thread.toObject()
                       .value(QLatin1String("waits_for"))
                       .toObject()
                       .value(QLatin1String("kind"))
                       .toString() == QLatin1String(kind);
        });
    };
    QTRY_VERIFY_WITH_TIMEOUT(isAsleepIn("futex"), TEST_MS);
    QTRY_VERIFY_WITH_TIMEOUT(run.session.isSampled() || !run.failures.isEmpty(), TEST_MS);
    run.hang();
    bool isFound = false;
    QObject::connect(&run.session, &Session::detected, [&isFound](bool found, const QJsonArray &) { isFound = found; });
    for (int i = 0; i < TEST_MS / 200 && !isFound; i++) { // until both of its threads wait
        run.session.detect();
        QTest::qWait(200);
    }
    QVERIFY2(isFound, qPrintable(run.failures.join(QLatin1Char(' '))));
    if (!run.session.isSampled()) { // the kernel does not permit it
        run.session.stop();
        QCOMPARE(run.session.state(), Session::Idle);
    } else {
        run.session.stop();
        QTRY_COMPARE_WITH_TIMEOUT(reported.size(), 1, TEST_MS);
        const QJsonArray functions = run.session.report().functions;
        QVERIFY(std::any_of(functions.begin(), functions.end(), [](const QJsonValue &function) {
            return function.toObject().value(QLatin1String("file")).toString().endsWith(QLatin1String("till.c")) &&
                   function.toObject().value(QLatin1String("line")).toInt() > 0;
        }));
        run.session.exportPage();
        QTRY_COMPARE_WITH_TIMEOUT(pages.size(), 1, TEST_MS);
        QVERIFY(pages.first().first().toString().endsWith(QLatin1String(".svg")));
    }
    QCOMPARE(program.state(), QProcess::Running);
    program.kill();
    program.waitForFinished();
}

// A server that is killed ends nothing but itself: the program is alive, and a new analysis can begin.
void TestSession::killedServer()
{
    Run run;
    run.session.start(run.request);
    QTRY_COMPARE_WITH_TIMEOUT(run.session.state(), Session::Recording, TEST_MS);
    auto *server = run.session.client().findChild<QProcess *>();
    QVERIFY(server);
    server->kill();
    QTRY_COMPARE_WITH_TIMEOUT(run.session.state(), Session::Idle, TEST_MS);
    QCOMPARE(run.failures.size(), qsizetype(1));
    QVERIFY(run.isAlive());
    Run second;
    second.session.start(second.request);
    QTRY_COMPARE_WITH_TIMEOUT(second.session.state(), Session::Recording, TEST_MS);
}

} // namespace upmu
