// SPDX-License-Identifier: MIT
/** @file Tests of client and views. */
#ifndef UPMU_TEST_IDE_H
#define UPMU_TEST_IDE_H

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QObject>

#include "host.h"

namespace upmu
{

enum { TEST_MS = 120000 };

inline QJsonObject jsonOf(const char *text)
{
    return QJsonDocument::fromJson(text).object();
}

/** The IDE of the tests: keeps what it is asked for. */
class TestHost : public Host
{
  public:
    bool openSite(const Site &site) override
    {
        sites.append(site);
        return true;
    }
    ProjectProgram projectProgram() override
    {
        return project;
    }
    void setIssues(const QVector<Issue> &list) override
    {
        issues = list;
    }

    ProjectProgram project;
    QVector<Site> sites;
    QVector<Issue> issues;
};

/** The protocol's client, with a server that is a script. */
class TestClient : public QObject
{
    Q_OBJECT

  private slots:
    void repliesOutOfOrder();
    void errorsHaveMessageAndRemedy();
    void noticesAreEmitted();
    void longLineInParts();
    void deathFailsWhatWaits();
    void garbageEndsTheServer();
    void missingCommand();
    void otherVersion();
};

class TestViews : public QObject
{
    Q_OBJECT

  private slots:
    void textsOfBothLanguages();
    void numbersAsText();
    void wordsOfCommandLine();
    void sitesOfReplies();
    void clickEmitsSite();
    void numbersSortAsNumbers();
    void liveWindow();
    void liveCounters();
    void overview();
    void overviewOfSamples();
    void lanesAtAnyZoom();
    void lanesSelectStretch();
    void timelineTable();
    void ringOfThreads();
    void issuesOfDeadlocks();
    void issuesOfReport();
};

/** With the real `upmu serve` and a program that contends and deadlocks. */
class TestSession : public QObject
{
    Q_OBJECT

  private slots:
    void initTestCase();
    void fromStartToReport();
    void programThatEnds();
    void programThatCannotStart();
    void attachWithoutRecorder();
    void killedServer();
};

} // namespace upmu

#endif
