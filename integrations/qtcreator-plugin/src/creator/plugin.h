// SPDX-License-Identifier: MIT
/** @file The plugin: menu and dock of the analyzer in Qt Creator's window. */
#ifndef UPMU_CREATOR_PLUGIN_H
#define UPMU_CREATOR_PLUGIN_H

#include <QDockWidget>
#include <QMainWindow>
#include <QPointer>

#include "creator_host.h"
#include "iplugin.h"
#include "analyzer.h"

namespace upmu
{

class Plugin : public ExtensionSystem::IPlugin
{
    Q_OBJECT
    Q_PLUGIN_METADATA(IID "org.qt-project.Qt.QtCreatorPlugin" FILE "upmu.json")

  public:
    bool initialize(const QStringList &arguments, QString *errorString) override;
    void extensionsInitialized() override;
    ShutdownFlag aboutToShutdown() override;

  private:
    void build(QMainWindow *window);

    CreatorHost m_host;
    QPointer<QDockWidget> m_dock;
    QPointer<Analyzer> m_analyzer;
};

} // namespace upmu

#endif
