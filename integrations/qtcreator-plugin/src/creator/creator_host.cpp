// SPDX-License-Identifier: MIT
// Qt Creator as the host.
#include "creator_host.h"

#include <QCoreApplication>
#include <QFile>
#include <QFileInfo>
#include <QProcess>

#include "symbol.h"
#include "task_hub.h"

namespace upmu
{

namespace
{

// What a second Qt Creator sends to the first one with -client, which opens FILE:LINE.
using RemoteArguments = void (*)(const QString &, QObject *);
const char remoteArguments[] = "_ZN15ExtensionSystem13PluginManager15remoteArgumentsERK7QStringP7QObject";
using MacroExpander = const void *(*)();
const char globalMacroExpander[] = "_ZN5Utils19globalMacroExpanderEv";
using Expand = QString (*)(const void *, const QString &);
const char expand[] = "_ZNK5Utils13MacroExpander6expandERK7QString";

// The first variable that has a value; their names differ between versions.
QString expandFirst(const QStringList &variables)
{
    const auto expander = creatorFunction<MacroExpander>("libUtils", globalMacroExpander);
    const auto expandText = creatorFunction<Expand>("libUtils", expand);
    if (!expander || !expandText)
        return {};
    for (const QString &variable : variables) {
        const QString value = expandText(expander(), QStringLiteral("%{%1}").arg(variable));
        if (!value.isEmpty() && !value.startsWith(QLatin1String("%{")))
            return value;
    }
    return {};
}

} // namespace

bool CreatorHost::openFiles(const QStringList &files)
{
    const auto open = creatorFunction<RemoteArguments>("libExtensionSystem", remoteArguments);
    const QChar separator = QLatin1Char('|');
    if (open && !files.join(QString()).contains(separator)) {
        open(QStringLiteral(":arguments|") + files.join(separator), nullptr);
        return true;
    }
    return QProcess::startDetached(QCoreApplication::applicationFilePath(),
                                   QStringList{QStringLiteral("-client")} + files);
}

bool CreatorHost::openSite(const Site &site)
{
    return site.isLine() && QFileInfo::exists(site.file) &&
           openFiles({QStringLiteral("%1:%2").arg(site.file).arg(site.line)});
}

ProjectProgram CreatorHost::projectProgram()
{
    ProjectProgram project;
    project.program =
        expandFirst({QStringLiteral("ActiveProject:RunConfig:Executable:FilePath"),
                     QStringLiteral("CurrentRun:Executable:FilePath"), QStringLiteral("CurrentRun:Executable")});
    project.directory =
        expandFirst({QStringLiteral("ActiveProject:RunConfig:WorkingDir"), QStringLiteral("CurrentRun:WorkingDir")});
    project.buildDirectory =
        expandFirst({QStringLiteral("ActiveProject:BuildConfig:Path"), QStringLiteral("CurrentBuild:Path")});
    return project;
}

void CreatorHost::setIssues(const QVector<Issue> &issues)
{
    if (taskHubSetIssues(issues) || issues.isEmpty())
        return;
    QFile file(m_folder.filePath(QStringLiteral("upmu.tasks")));
    if (!m_folder.isValid() || !file.open(QIODevice::WriteOnly | QIODevice::Truncate))
        return;
    for (const Issue &issue : issues)
        file.write(taskLine(issue).toUtf8());
    file.close();
    openFiles({file.fileName()});
}

} // namespace upmu
