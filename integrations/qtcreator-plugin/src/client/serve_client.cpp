// SPDX-License-Identifier: MIT
// Client of `upmu serve --stdio`: one JSON object per line, both ways.
#include "serve_client.h"

#include <utility>

#include <QElapsedTimer>
#include <QJsonDocument>
#include <QStandardPaths>

#include "texts.h"

namespace upmu
{

namespace
{
enum { SERVE_LINE_MOST = 1 << 20, START_MS = 10000, END_MS = 2000 };
const char protocol[] = "1.0";
} // namespace

QString ServeError::text() const
{
    return remedy.isEmpty() ? message : text2(Text::MessageAndRemedy, message, remedy);
}

qint64 wholeNumber(const QJsonValue &value)
{
    return value.isString() ? value.toString().toLongLong() : static_cast<qint64>(value.toDouble());
}

ServeClient::ServeClient(const QString &command, QObject *parent) : QObject(parent), m_command(command)
{
}

ServeClient::~ServeClient()
{
    shutdown();
}

void ServeClient::setCommand(const QString &command)
{
    if (command == m_command)
        return;
    shutdown();
    m_command = command;
}

bool ServeClient::ensureStarted(QString *problem)
{
    if (m_process)
        return true;
    QString program = m_command.isEmpty() ? qEnvironmentVariable("UPMU") : m_command;
    if (program.isEmpty())
        program = QStandardPaths::findExecutable(QStringLiteral("upmu"));
    if (program.isEmpty()) {
        *problem = text(Text::NoCommand);
        return false;
    }
    m_pending.clear();
    m_process = new QProcess(this);
    m_process->setProcessChannelMode(QProcess::SeparateChannels);
    m_process->start(program, {QStringLiteral("serve"), QStringLiteral("--stdio")});
    if (!m_process->waitForStarted(START_MS)) {
        *problem = text2(Text::CannotStart, program, m_process->errorString());
        delete std::exchange(m_process, nullptr);
        return false;
    }
    connect(m_process, &QProcess::readyReadStandardOutput, this, &ServeClient::readLines);
    connect(m_process, &QProcess::readyReadStandardError, m_process,
            [process = m_process] { process->readAllStandardError(); });
    connect(m_process, static_cast<void (QProcess::*)(int, QProcess::ExitStatus)>(&QProcess::finished), this,
            [this] { takeEnd(text(Text::ServerEnded)); });
    send(QStringLiteral("hello"), {{QStringLiteral("protocol"), QLatin1String(protocol)}},
         [this](const QJsonObject &, const ServeError &error) {
             if (error && error.name != QLatin1String("ended"))
                 takeEnd(error.text());
         });
    return true;
}

void ServeClient::send(const QString &method, const QJsonObject &params, Reply reply)
{
    const int id = ++m_last;
    const QJsonObject message{{QStringLiteral("jsonrpc"), QStringLiteral("2.0")},
                              {QStringLiteral("id"), id},
                              {QStringLiteral("method"), method},
                              {QStringLiteral("params"), params}};
    m_replies.insert(id, std::move(reply));
    m_process->write(QJsonDocument(message).toJson(QJsonDocument::Compact) + '\n');
}

void ServeClient::request(const QString &method, const QJsonObject &params, Reply reply)
{
    QString problem;
    if (ensureStarted(&problem))
        send(method, params, std::move(reply));
    else
        reply({}, {QStringLiteral("unavailable"), problem, {}});
}

bool ServeClient::waitForReplies(int ms)
{
    QElapsedTimer timer;
    timer.start();
    while (m_process && !m_replies.isEmpty() && timer.elapsed() < ms)
        m_process->waitForReadyRead(static_cast<int>(ms - timer.elapsed()));
    return m_replies.isEmpty();
}

void ServeClient::readLines()
{
    m_pending += m_process->readAllStandardOutput();
    int end;
    while (m_process && (end = static_cast<int>(m_pending.indexOf('\n'))) >= 0) {
        const QByteArray line = m_pending.left(end);
        m_pending.remove(0, end + 1);
        takeLine(line);
    }
    if (m_pending.size() > SERVE_LINE_MOST)
        takeEnd(text(Text::ServerBroken));
}

void ServeClient::takeLine(const QByteArray &line)
{
    QJsonParseError problem;
    const QJsonObject message = QJsonDocument::fromJson(line, &problem).object();
    if (problem.error != QJsonParseError::NoError) {
        takeEnd(text(Text::ServerBroken));
        return;
    }
    if (!message.contains(QLatin1String("id"))) {
        emit noticed(message.value(QLatin1String("method")).toString(),
                     message.value(QLatin1String("params")).toObject());
        return;
    }
    const auto found = m_replies.find(message.value(QLatin1String("id")).toInt(-1));
    if (found == m_replies.end())
        return;
    const Reply reply = found.value();
    m_replies.erase(found);
    const QJsonObject error = message.value(QLatin1String("error")).toObject();
    if (error.isEmpty())
        reply(message.value(QLatin1String("result")).toObject(), {});
    else
        reply({}, {error.value(QLatin1String("name")).toString(QStringLiteral("failed")),
                   error.value(QLatin1String("message")).toString(), error.value(QLatin1String("remedy")).toString()});
}

void ServeClient::failAll(const ServeError &error)
{
    const QHash<int, Reply> replies = std::exchange(m_replies, {});
    for (const Reply &reply : replies)
        reply({}, error);
}

void ServeClient::takeEnd(const QString &reason)
{
    if (!m_process)
        return;
    QProcess *process = std::exchange(m_process, nullptr);
    process->disconnect(this);
    process->closeWriteChannel();
    if (process->state() != QProcess::NotRunning && !process->waitForFinished(END_MS))
        process->kill();
    process->deleteLater();
    m_pending.clear();
    failAll({QStringLiteral("ended"), reason, {}});
    emit ended(reason);
}

void ServeClient::shutdown()
{
    if (!m_process)
        return;
    QProcess *process = std::exchange(m_process, nullptr);
    process->disconnect(this);
    process->closeWriteChannel();
    if (process->state() != QProcess::NotRunning && !process->waitForFinished(END_MS)) {
        process->kill();
        process->waitForFinished(END_MS);
    }
    delete process;
    failAll({QStringLiteral("ended"), text(Text::ServerEnded), {}});
}

} // namespace upmu
