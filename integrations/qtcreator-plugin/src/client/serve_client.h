// SPDX-License-Identifier: MIT
/** @file Client of `upmu serve --stdio`: requests with their replies, and notices. */
#ifndef UPMU_IDE_SERVE_CLIENT_H
#define UPMU_IDE_SERVE_CLIENT_H

#include <functional>

#include <QByteArray>
#include <QHash>
#include <QJsonObject>
#include <QObject>
#include <QProcess>
#include <QString>

namespace upmu
{

/** The member `error` of a reply; `name` is empty without an error. */
struct ServeError {
    QString name, message, remedy;
    explicit operator bool() const
    {
        return !name.isEmpty();
    }
    /** Message and remedy. */
    QString text() const;
};

/** A whole number that may have come as a string of digits; 0 for null. */
qint64 wholeNumber(const QJsonValue &value);

/**
 * One process `upmu serve --stdio`, started by the first request and asked for its version.
 *
 * Callbacks run in the thread of the object, one for each request. When the process ends, those that wait get the error
 * "ended"; the next request starts a new process, or gets the error "unavailable".
 */
class ServeClient : public QObject
{
    Q_OBJECT

  public:
    using Reply = std::function<void(const QJsonObject &result, const ServeError &error)>;

    /** @param command the upmu command; empty: the variable UPMU, or `upmu` of PATH */
    explicit ServeClient(const QString &command, QObject *parent = nullptr);
    ~ServeClient() override;

    void setCommand(const QString &command);
    void request(const QString &method, const QJsonObject &params, Reply reply);
    /** Wait at most `ms` for a reply to everything that was asked. @return false if the time is over. */
    bool waitForReplies(int ms);
    /** Close the connection, and wait for the server's end. Replies that are outstanding get an error. */
    void shutdown();

  signals:
    /** "update" or "end". */
    void noticed(const QString &method, const QJsonObject &params);
    /** The process ended; its targets and subscriptions are gone. */
    void ended(const QString &reason);

  private:
    bool ensureStarted(QString *problem);
    void send(const QString &method, const QJsonObject &params, Reply reply);
    void readLines();
    void takeLine(const QByteArray &line);
    void takeEnd(const QString &reason);
    void failAll(const ServeError &error);

    QString m_command;
    QProcess *m_process = nullptr;
    QByteArray m_pending;
    QHash<int, Reply> m_replies;
    int m_last = 0;
};

} // namespace upmu

#endif
