// SPDX-License-Identifier: MIT
// Dialogs: what to start, and which process to attach to.
#include "start_dialog.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QFormLayout>
#include <QPointer>
#include <QPushButton>
#include <QSettings>
#include <QStandardPaths>
#include <QVBoxLayout>

#include "process_list.h"

namespace upmu
{

namespace
{

const char group[] = "UpmuAnalyze";

// Arguments and counters are kept per program.
QString settingsKey(const QString &program, const char *what)
{
    return QStringLiteral("%1/%2/%3").arg(QLatin1String(group), QFileInfo(program).fileName(), QLatin1String(what));
}

} // namespace

QString recordingName(const ProjectProgram &project)
{
    const QString folder =
        project.buildDirectory.isEmpty() || !QFileInfo(project.buildDirectory).isWritable()
            ? QStandardPaths::writableLocation(QStandardPaths::GenericCacheLocation) + QStringLiteral("/upmu")
            : project.buildDirectory + QStringLiteral("/upmu");
    const QString name = folder + QStringLiteral("/recording-") +
                         QDateTime::currentDateTime().toString(QStringLiteral("yyyyMMdd-HHmmss"));
    QString unique = name;
    for (int i = 2; QFileInfo::exists(unique); i++)
        unique = QStringLiteral("%1-%2").arg(name).arg(i);
    return unique;
}

bool splitWords(const QString &line, QStringList *words)
{
    QString word;
    QChar quote;
    bool isWord = false;
    words->clear();
    for (int i = 0; i < line.size(); i++) {
        const QChar c = line[i];
        const bool isEscape = c == QLatin1Char('\\') && quote != QLatin1Char('\'') && i + 1 < line.size();
        if (isEscape) {
            word += line[++i];
            isWord = true;
        } else if (!quote.isNull()) {
            if (c == quote)
                quote = QChar();
            else
                word += c;
        } else if (c == QLatin1Char('"') || c == QLatin1Char('\'')) {
            quote = c;
            isWord = true;
        } else if (!c.isSpace()) {
            word += c;
            isWord = true;
        } else if (isWord) {
            *words << word;
            word.clear();
            isWord = false;
        }
    }
    if (isWord)
        *words << word;
    return quote.isNull();
}

StartDialog::StartDialog(const ProjectProgram &project, QWidget *parent) : QDialog(parent), m_project(project)
{
    setObjectName(QStringLiteral("upmu.start"));
    setWindowTitle(text(Text::Menu));
    QSettings settings;
    auto *form = new QFormLayout(this);
    const QString program =
        project.program.isEmpty() ? settings.value(QLatin1String("UpmuAnalyze/program")).toString() : project.program;
    m_program = addLine(Text::Program, "upmu.start.program", program);
    m_arguments =
        addLine(Text::Arguments, "upmu.start.arguments", settings.value(settingsKey(program, "arguments")).toString());
    m_directory = addLine(Text::WorkingDirectory, "upmu.start.directory", project.directory);
    m_events = addLine(Text::Counters, "upmu.start.events", settings.value(settingsKey(program, "events")).toString());
    m_mode = new QComboBox(this);
    m_mode->addItem(text(Text::ModeHolders), QStringLiteral("holders"));
    m_mode->addItem(text(Text::ModeContended), QStringLiteral("contended"));
    m_mode->addItem(text(Text::ModeAll), QStringLiteral("all"));
    m_mode->addItem(text(Text::ModeCounts), QStringLiteral("counts"));
    form->addRow(text(Text::Mode), m_mode);
    m_problem = new QLabel(this);
    m_problem->setStyleSheet(QStringLiteral("color: #b3131b"));
    m_problem->setWordWrap(true);
    form->addRow(m_problem);
    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    form->addRow(buttons);
    connect(buttons, &QDialogButtonBox::accepted, this, &StartDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &StartDialog::reject);
    resize(640, sizeHint().height());
}

QLineEdit *StartDialog::addLine(const Text label, const char *name, const QString &value)
{
    auto *line = new QLineEdit(value, this);
    line->setObjectName(QLatin1String(name));
    static_cast<QFormLayout *>(layout())->addRow(text(label), line);
    return line;
}

void StartDialog::accept()
{
    QStringList words;
    const QString program = m_program->text().trimmed();
    if (!QFileInfo(program).isFile() || !QFileInfo(program).isExecutable()) {
        m_problem->setText(text1(Text::NoProgram, program));
        return;
    }
    if (!splitWords(m_arguments->text(), &words)) {
        m_problem->setText(text(Text::BadArguments));
        return;
    }
    QSettings settings;
    settings.setValue(QLatin1String("UpmuAnalyze/program"), program);
    settings.setValue(settingsKey(program, "arguments"), m_arguments->text());
    settings.setValue(settingsKey(program, "events"), m_events->text());
    m_request.command = QStringList{QFileInfo(program).absoluteFilePath()} + words;
    m_request.directory = m_directory->text().trimmed();
    m_request.output = recordingName(m_project);
    m_request.mode = m_mode->currentData().toString();
    m_request.events = m_events->text().trimmed();
    QDialog::accept();
}

AttachDialog::AttachDialog(ServeClient &client, QWidget *parent) : QDialog(parent), m_client(client)
{
    setObjectName(QStringLiteral("upmu.attach"));
    setWindowTitle(text(Text::Attach));
    m_filter = new QLineEdit(this);
    m_filter->setObjectName(QStringLiteral("upmu.attach.filter"));
    m_filter->setPlaceholderText(text(Text::Filter));
    m_list = new SiteTree(QStringLiteral("upmu.attach.list"), {Text::Id, Text::Command}, this);
    m_list->setRootIsDecorated(false);
    m_note = new QLabel(text(Text::AttachNothing), this);
    m_note->setObjectName(QStringLiteral("upmu.attach.note"));
    m_note->setWordWrap(true);
    m_buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    m_buttons->button(QDialogButtonBox::Ok)->setEnabled(false);
    auto *layout = new QVBoxLayout(this);
    layout->addWidget(m_filter);
    layout->addWidget(m_list, 1);
    layout->addWidget(m_note);
    layout->addWidget(m_buttons);
    connect(m_filter, &QLineEdit::textChanged, this, &AttachDialog::fill);
    connect(m_list, &QTreeWidget::currentItemChanged, this, &AttachDialog::choose);
    connect(m_buttons, &QDialogButtonBox::accepted, this, &AttachDialog::accept);
    connect(m_buttons, &QDialogButtonBox::rejected, this, &AttachDialog::reject);
    resize(720, 480);
    fill();
}

void AttachDialog::fill()
{
    const QString filter = m_filter->text().trimmed();
    m_list->clear();
    const QVector<Process> processes = processList();
    for (const Process &process : processes) {
        const QString pid = QString::number(process.pid);
        if (filter.isEmpty() || pid == filter || process.command.contains(filter, Qt::CaseInsensitive))
            m_list->addRow(nullptr, {Cell(pid, static_cast<double>(process.pid)), Cell(process.command)});
    }
    m_list->fitColumns();
}

// What can be seen of a process: the server's answer to attach, which is taken back at once.
void AttachDialog::choose()
{
    const QTreeWidgetItem *item = m_list->currentItem();
    m_pid = item ? item->text(0).toLongLong() : 0;
    m_buttons->button(QDialogButtonBox::Ok)->setEnabled(false);
    m_note->setText(text(Text::AttachNothing));
    if (m_pid == 0)
        return;
    const qint64 pid = m_pid;
    ServeClient *client = &m_client;
    const QPointer<AttachDialog> dialog(this);
    const auto reply = [client, dialog, pid](const QJsonObject &result, const ServeError &error) {
        const QString number = QString::number(pid);
        if (!error)
            client->request(QStringLiteral("detach"),
                            {{QStringLiteral("target"), result.value(QLatin1String("target"))}},
                            [](const QJsonObject &, const ServeError &) {});
        if (!dialog || dialog->m_pid != pid)
            return;
        dialog->m_buttons->button(QDialogButtonBox::Ok)->setEnabled(!error);
        dialog->m_note->setText(error                                              ? error.text()
                                : result.value(QLatin1String("recorded")).toBool() ? text1(Text::AttachRecorded, number)
                                                                                   : text1(Text::AttachBare, number));
    };
    m_client.request(QStringLiteral("attach"), {{QStringLiteral("pid"), pid}}, reply);
}

} // namespace upmu
