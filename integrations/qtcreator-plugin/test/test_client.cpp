// SPDX-License-Identifier: MIT
// Tests of the protocol's client, with a server that is a script.
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

#include "serve_client.h"
#include "test_ide.h"

namespace upmu
{

namespace
{

// A server whose loop has the request's line in $line and its id in $id; `hello` is answered already.
class Script
{
  public:
    explicit Script(const char *body, const char *hello = "\"result\":{\"protocol\":\"1.0\"}")
    {
        QFile file(path());
        const bool isOpen = file.open(QIODevice::WriteOnly);
        Q_ASSERT(isOpen);
        Q_UNUSED(isOpen);
        file.write("#!/bin/sh\nwhile read -r line; do\n"
                   "id=$(printf '%s' \"$line\" | sed 's/.*\"id\":\\([0-9]*\\).*/\\1/')\n"
                   "case $line in *'\"hello\"'*) printf '{\"jsonrpc\":\"2.0\",\"id\":%s,%s}\\n' \"$id\" '");
        file.write(hello);
        file.write("'; continue ;; esac\n");
        file.write(body);
        file.write("\ndone\n");
        file.close();
        file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    }
    QString path() const
    {
        return m_folder.filePath(QStringLiteral("upmu"));
    }

  private:
    QTemporaryDir m_folder;
};

} // namespace

void TestClient::repliesOutOfOrder()
{
    const Script script("case $line in *first*) held=$id ;; *) "
                        "printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"n\":2}}\\n' \"$id\"; "
                        "printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"n\":1}}\\n' \"$held\" ;; esac");
    ServeClient client(script.path());
    QStringList order;
    const auto take = [&order](const char *name, int n) {
        return [&order, name, n](const QJsonObject &result, const ServeError &error) {
            order << QLatin1String(name);
            QVERIFY(!error);
            QCOMPARE(result.value(QLatin1String("n")).toInt(), n);
        };
    };
    client.request(QStringLiteral("first"), {}, take("first", 1));
    client.request(QStringLiteral("second"), {}, take("second", 2));
    QTRY_COMPARE_WITH_TIMEOUT(order.size(), 2, TEST_MS);
    QCOMPARE(order, (QStringList{QStringLiteral("second"), QStringLiteral("first")}));
}

void TestClient::errorsHaveMessageAndRemedy()
{
    const Script script("printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32001,\"name\":\"target\","
                        "\"message\":\"no target\",\"remedy\":\"attach first\"}}\\n' \"$id\"");
    ServeClient client(script.path());
    ServeError got;
    client.request(QStringLiteral("status"), {}, [&got](const QJsonObject &, const ServeError &error) { got = error; });
    QTRY_VERIFY_WITH_TIMEOUT(got, TEST_MS);
    QCOMPARE(got.name, QStringLiteral("target"));
    QCOMPARE(got.text(), QStringLiteral("no target (attach first)"));
}

void TestClient::noticesAreEmitted()
{
    const Script script("printf '{\"jsonrpc\":\"2.0\",\"method\":\"update\",\"params\":{\"subscription\":1}}\\n'; "
                        "printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\\n' \"$id\"");
    ServeClient client(script.path());
    QSignalSpy spy(&client, &ServeClient::noticed);
    bool isAnswered = false;
    client.request(QStringLiteral("subscribe"), {},
                   [&](const QJsonObject &, const ServeError &) { isAnswered = true; });
    QTRY_VERIFY_WITH_TIMEOUT(isAnswered, TEST_MS);
    QCOMPARE(spy.size(), 1);
    QCOMPARE(spy.first().first().toString(), QStringLiteral("update"));
}

void TestClient::longLineInParts()
{
    const Script script("printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"text\":\"' \"$id\"; "
                        "head -c 600000 /dev/zero | tr '\\0' a; printf '\"}}\\n'");
    ServeClient client(script.path());
    qsizetype length = 0;
    client.request(QStringLiteral("view"), {}, [&](const QJsonObject &result, const ServeError &) {
        length = result.value(QLatin1String("text")).toString().size();
    });
    QTRY_COMPARE_WITH_TIMEOUT(length, qsizetype(600000), TEST_MS);
}

void TestClient::deathFailsWhatWaits()
{
    const Script script("case $line in *die*) exit 3 ;; esac; "
                        "printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\\n' \"$id\"");
    ServeClient client(script.path());
    QSignalSpy spy(&client, &ServeClient::ended);
    ServeError got;
    bool isAlive = false;
    client.request(QStringLiteral("die"), {}, [&got](const QJsonObject &, const ServeError &error) { got = error; });
    QTRY_COMPARE_WITH_TIMEOUT(spy.size(), 1, TEST_MS);
    QCOMPARE(got.name, QStringLiteral("ended"));
    client.request(QStringLiteral("status"), {},
                   [&](const QJsonObject &, const ServeError &error) { isAlive = !error; });
    QTRY_VERIFY_WITH_TIMEOUT(isAlive, TEST_MS); // a new process
}

void TestClient::garbageEndsTheServer()
{
    const Script script("echo nonsense");
    ServeClient client(script.path());
    QSignalSpy spy(&client, &ServeClient::ended);
    ServeError got;
    client.request(QStringLiteral("status"), {}, [&got](const QJsonObject &, const ServeError &error) { got = error; });
    QTRY_COMPARE_WITH_TIMEOUT(spy.size(), 1, TEST_MS);
    QCOMPARE(got.name, QStringLiteral("ended"));
}

void TestClient::missingCommand()
{
    ServeClient client(QStringLiteral("/nonexistent/upmu"));
    ServeError got;
    client.request(QStringLiteral("status"), {}, [&got](const QJsonObject &, const ServeError &error) { got = error; });
    QCOMPARE(got.name, QStringLiteral("unavailable"));
    QVERIFY(got.text().contains(QStringLiteral("/nonexistent/upmu")));
}

void TestClient::otherVersion()
{
    const Script script("sleep 0",
                        "\"error\":{\"code\":-32005,\"name\":\"version\",\"message\":\"protocol 2\",\"remedy\":null}");
    ServeClient client(script.path());
    QSignalSpy spy(&client, &ServeClient::ended);
    client.request(QStringLiteral("status"), {}, [](const QJsonObject &, const ServeError &) {});
    QTRY_COMPARE_WITH_TIMEOUT(spy.size(), 1, TEST_MS);
    QCOMPARE(spy.first().first().toString(), QStringLiteral("protocol 2"));
}

} // namespace upmu
