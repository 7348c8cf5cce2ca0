// SPDX-License-Identifier: MIT
/** @file Dialogs: what to start, and which process to attach to. */
#ifndef UPMU_IDE_START_DIALOG_H
#define UPMU_IDE_START_DIALOG_H

#include <QComboBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QLabel>
#include <QLineEdit>

#include "host.h"
#include "session.h"
#include "site_tree.h"

namespace upmu
{

/** Words of a command line: blanks separate, quotes and backslashes keep. @return false: a quote has no end. */
bool splitWords(const QString &line, QStringList *words);

/** A directory for a recording that does not exist, in the project's build folder where that can be written. */
QString recordingName(const ProjectProgram &project);

class StartDialog : public QDialog
{
    Q_OBJECT

  public:
    explicit StartDialog(const ProjectProgram &project, QWidget *parent = nullptr);
    /** Valid after accept(). */
    StartRequest request() const
    {
        return m_request;
    }
    void accept() override;

  private:
    QLineEdit *addLine(const Text label, const char *name, const QString &value);

    ProjectProgram m_project;
    StartRequest m_request;
    QLineEdit *m_program, *m_arguments, *m_directory, *m_events;
    QComboBox *m_mode;
    QLabel *m_problem;
};

class AttachDialog : public QDialog
{
    Q_OBJECT

  public:
    /** @param client asked whether the selected process has a recorder */
    explicit AttachDialog(ServeClient &client, QWidget *parent = nullptr);
    qint64 pid() const
    {
        return m_pid;
    }

  private:
    void fill();
    void choose();

    ServeClient &m_client;
    QLineEdit *m_filter;
    SiteTree *m_list;
    QLabel *m_note;
    QDialogButtonBox *m_buttons;
    qint64 m_pid = 0;
};

} // namespace upmu

#endif
