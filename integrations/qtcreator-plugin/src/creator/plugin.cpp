// SPDX-License-Identifier: MIT
// The plugin: menu and dock.
#include "plugin.h"

#include <QApplication>
#include <QMenuBar>

#include "texts.h"

namespace upmu
{

namespace
{

QMainWindow *mainWindow()
{
    const QWidgetList windows = QApplication::topLevelWidgets();
    for (QWidget *widget : windows)
        if (auto *window = qobject_cast<QMainWindow *>(widget))
            if (window->menuBar() && !window->menuBar()->actions().isEmpty())
                return window;
    return nullptr;
}

// The menu Analyze, by its id, which no translation changes; else by its title, else the menu bar's own.
QMenu *analyzeMenu(QMainWindow *window)
{
    if (auto *menu = window->menuBar()->findChild<QMenu *>(QStringLiteral("Analyzer.Menu.StartAnalyzer")))
        return menu;
    const QList<QAction *> actions = window->menuBar()->actions();
    for (const QAction *action : actions)
        if (action->menu() && action->text().remove(QLatin1Char('&')) == QLatin1String("Analyze"))
            return action->menu();
    return nullptr;
}

} // namespace

bool Plugin::initialize(const QStringList &, QString *)
{
    setLanguage(languageOf(qApp->property("qtc_locale").toString().isEmpty()
                               ? QLocale().name()
                               : qApp->property("qtc_locale").toString()));
    return true;
}

void Plugin::extensionsInitialized()
{
    if (QMainWindow *window = mainWindow())
        build(window);
}

void Plugin::build(QMainWindow *window)
{
    m_analyzer = new Analyzer(m_host);
    m_dock = new QDockWidget(text(Text::Menu), window);
    m_dock->setObjectName(QStringLiteral("Upmu.Concurrency.Dock"));
    m_dock->setWidget(m_analyzer);
    window->addDockWidget(Qt::BottomDockWidgetArea, m_dock);
    m_dock->hide();
    connect(m_analyzer, &Analyzer::wanted, m_dock, [this] {
        m_dock->show();
        m_dock->raise();
    });
    QMenu *analyze = analyzeMenu(window);
    QMenu *menu = analyze ? analyze->addMenu(text(Text::Menu)) : window->menuBar()->addMenu(text(Text::Menu));
    menu->setObjectName(QStringLiteral("Upmu.Menu"));
    m_analyzer->fillMenu(menu);
}

Plugin::ShutdownFlag Plugin::aboutToShutdown()
{
    if (m_analyzer)
        m_analyzer->shutdown();
    delete m_dock;
    return SynchronousShutdown;
}

} // namespace upmu
