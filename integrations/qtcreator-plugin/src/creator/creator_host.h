// SPDX-License-Identifier: MIT
/** @file Qt Creator as the host: editor, project and list of issues, by functions that are looked up at run time. */
#ifndef UPMU_CREATOR_HOST_H
#define UPMU_CREATOR_HOST_H

#include <QTemporaryDir>

#include "host.h"

namespace upmu
{

/**
 * Only functions with arguments of Qt's own types, or of opaque ones, are called. One that this version of Qt Creator lacks has a
 * substitute: `qtcreator -client` for the editor, a .tasks file for the issues.
 */
class CreatorHost : public Host
{
  public:
    bool openSite(const Site &site) override;
    ProjectProgram projectProgram() override;
    void setIssues(const QVector<Issue> &issues) override;

  private:
    bool openFiles(const QStringList &files);
    QTemporaryDir m_folder;
};

} // namespace upmu

#endif
