// SPDX-License-Identifier: MIT
/** @file Driver of the analyzer in a real Qt Creator: steps, each with a condition that is waited for. */
#ifndef UPMU_PROOF_H
#define UPMU_PROOF_H

#include <functional>

#include <QElapsedTimer>
#include <QFile>
#include <QProcess>
#include <QTimer>
#include <QTreeWidget>
#include <QVector>

#include "iplugin.h"

namespace upmu
{

class Proof : public ExtensionSystem::IPlugin
{
    Q_OBJECT
    Q_PLUGIN_METADATA(IID "org.qt-project.Qt.QtCreatorPlugin" FILE "proof.json")

  public:
    bool initialize(const QStringList &arguments, QString *errorString) override;
    bool delayedInitialize() override;

  private:
    struct Step {
        const char *name;
        std::function<bool()> isDone; /**< asked again and again until it holds */
    };

    void addBuildSteps();
    void addStartSteps();
    void addDeadlockSteps();
    void addReportSteps();
    void addAttachSteps();
    void addPausedSteps();
    void addLoadSteps(const QString &program);
    void addAttachStep(const char *name, const QProcess &process, const char *note, const char *picture);
    void next();
    void finish(bool passed);
    void shoot(const QString &name);
    void note(const QString &line);
    void noteCost(const char *when);
    void noteWalk(const char *to);

    QTimer m_timer;
    QElapsedTimer m_elapsed, m_walk;
    QVector<Step> m_steps;
    QFile m_log;
    QString m_folder, m_flag, m_program, m_first;
    QProcess m_bare, m_paused, m_load;
    qint64 m_pid = 0;
    QVector<qint64> m_attached;
    double m_cpu = 0;
    QElapsedTimer m_span;
    int m_at = 0;
    bool m_isAsked = false;
};

} // namespace upmu

#endif
