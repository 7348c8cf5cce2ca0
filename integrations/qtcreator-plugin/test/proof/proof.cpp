// SPDX-License-Identifier: MIT
/*
 * Driver of the analyzer in a real Qt Creator. scripts/qtcreator.sh starts it:
 *
 *     UPMU_PROOF_FOLDER   screenshots, the log, and the flag file that makes the program deadlock
 *     UPMU_PROOF_PROGRAM  what the project builds
 *     UPMU_PROOF_LOAD     if set, only a program with a million lock events a second (bench/watch/locks.c) is watched
 *
 * It finds actions and widgets by their names, as a user finds them by their titles, and sends them mouse events. No step waits for
 * a time: a condition is polled until it holds, and a step that takes three minutes has failed.
 */
#include "proof.h"

#include <utility>

#include <QAbstractButton>
#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>
#include <QMouseEvent>
#include <QPushButton>
#include <QRegularExpression>
#include <QScreen>
#include <QTabWidget>

#include <signal.h>
#include <unistd.h>

namespace upmu
{

namespace
{

enum { POLL_MS = 200, STEP_MS = 180000 };

template <typename T> T *widget(const char *name)
{
    const QWidgetList tops = QApplication::topLevelWidgets();
    for (QWidget *top : tops) {
        if (top->objectName() == QLatin1String(name))
            if (auto *found = qobject_cast<T *>(top))
                return found;
        if (auto *found = top->findChild<T *>(QLatin1String(name)))
            return found;
    }
    return nullptr;
}

QMainWindow *window()
{
    QWidget *analyzer = widget<QWidget>("upmu.analyzer");
    return analyzer ? qobject_cast<QMainWindow *>(analyzer->window()) : nullptr;
}

QAction *action(const char *name)
{
    QWidget *analyzer = widget<QWidget>("upmu.analyzer");
    return analyzer ? analyzer->findChild<QAction *>(QLatin1String(name)) : nullptr;
}

bool isEnabled(const char *name)
{
    const QAction *found = action(name);
    return found && found->isEnabled();
}

// Modal dialogs run event loops of their own: the action is triggered from the event loop, not from within a step.
bool trigger(const char *name)
{
    QAction *found = action(name);
    if (!found || !found->isEnabled())
        return false;
    QMetaObject::invokeMethod(found, "trigger", Qt::QueuedConnection);
    return true;
}

void click(QWidget *target, const QPoint &at)
{
    const QPointF local(at), global(target->mapToGlobal(at));
    QMouseEvent press(QEvent::MouseButtonPress, local, global, Qt::LeftButton, Qt::LeftButton, Qt::NoModifier);
    QMouseEvent release(QEvent::MouseButtonRelease, local, global, Qt::LeftButton, Qt::NoButton, Qt::NoModifier);
    QApplication::sendEvent(target, &press);
    QApplication::sendEvent(target, &release);
}

QTreeWidgetItem *rowWith(QTreeWidget *tree, const QString &text)
{
    const QList<QTreeWidgetItem *> items =
        tree ? tree->findItems(QStringLiteral("*"), Qt::MatchWildcard | Qt::MatchRecursive)
             : QList<QTreeWidgetItem *>();
    for (QTreeWidgetItem *item : items)
        for (int column = 0; column < tree->columnCount(); column++)
            if (item->text(column).contains(text))
                return item;
    return nullptr;
}

bool clickRow(const char *tree, const QString &text)
{
    auto *found = widget<QTreeWidget>(tree);
    QTreeWidgetItem *item = rowWith(found, text);
    if (!item)
        return false;
    found->scrollToItem(item);
    click(found->viewport(), found->visualItemRect(item).center());
    return true;
}

// The editor shows its line in a button or label of its tool bar.
bool editorIsAt(const QString &file, int line)
{
    const QRegularExpression at(QStringLiteral("^\\s*(Line: )?%1\\b|Line: %1,").arg(line));
    if (!window() || !window()->windowTitle().contains(file))
        return false;
    const QList<QWidget *> all = window()->findChildren<QWidget *>();
    for (QWidget *child : all) {
        if (!child->isVisible())
            continue;
        const QVariant text = child->property("text");
        if (text.isValid() && text.toString().contains(QLatin1String("Line: ")) && text.toString().contains(at))
            return true;
    }
    return false;
}

bool anyViewShows(const QString &text, const QString &detail = {})
{
    const QList<QAbstractItemView *> views = window()->findChildren<QAbstractItemView *>();
    for (QAbstractItemView *view : views) {
        const QAbstractItemModel *model = view->model();
        if (!model || view->objectName().startsWith(QLatin1String("upmu.")))
            continue;
        for (int row = 0; row < qMin(model->rowCount(), 200); row++) {
            const QString shown = model->index(row, 0).data().toString();
            const QString tip = model->index(row, 0).data(Qt::ToolTipRole).toString() + shown;
            QString all = tip; // the description with its details has a role of the model's own
            for (int role = Qt::UserRole; role < Qt::UserRole + 16; role++)
                all += model->index(row, 0).data(role).toString();
            if (all.contains(text) && all.contains(detail))
                return true;
        }
    }
    return false;
}

QString labelText(const char *name)
{
    const auto *label = widget<QLabel>(name);
    return label ? label->text() : QString();
}

QWidget *currentTab()
{
    const auto *tabs = widget<QTabWidget>("upmu.tabs");
    return tabs ? tabs->currentWidget() : nullptr;
}

bool isTab(const char *name)
{
    return currentTab() && currentTab()->objectName() == QLatin1String(name);
}

void showTab(const char *name)
{
    if (auto *tabs = widget<QTabWidget>("upmu.tabs"))
        tabs->setCurrentWidget(widget<QWidget>(name));
}

bool hasPixel(const QImage &image, const QColor &color, int least)
{
    int n = 0;
    for (int y = 0; y < image.height(); y++)
        for (int x = 0; x < image.width(); x++)
            n += image.pixelColor(x, y).rgb() == color.rgb();
    return n >= least;
}

// Different colors of a picture, as far as 50.
qsizetype colorsOf(const QImage &image)
{
    QVector<QRgb> colors;
    for (int y = 0; y < image.height(); y += 3)
        for (int x = 0; x < image.width(); x += 3)
            if (!colors.contains(image.pixel(x, y)) && colors.size() < 50)
                colors.append(image.pixel(x, y));
    return colors.size();
}

int redPixels(const QImage &image)
{
    int n = 0;
    for (int y = 0; y < image.height(); y++)
        for (int x = 0; x < image.width(); x++) {
            const QColor color = image.pixelColor(x, y);
            n += color.red() > 170 && color.green() < 90 && color.blue() < 90;
        }
    return n;
}

QAbstractButton *button(const QString &text)
{
    const QList<QAbstractButton *> all = window()->findChildren<QAbstractButton *>();
    for (QAbstractButton *found : all)
        if (found->isVisible() && found->isEnabled() && found->text().remove(QLatin1Char('&')) == text)
            return found;
    return nullptr;
}

double cpuSeconds()
{
    QFile file(QStringLiteral("/proc/self/stat"));
    if (!file.open(QIODevice::ReadOnly))
        return 0;
    const QList<QByteArray> words = file.readAll().split(')').last().trimmed().split(' ');
    return (words.value(11).toDouble() + words.value(12).toDouble()) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

QByteArray residentMemory()
{
    QFile file(QStringLiteral("/proc/self/status"));
    const QByteArray text = file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    const int at = static_cast<int>(text.indexOf("VmRSS:"));
    return at < 0 ? QByteArray() : text.mid(at, text.indexOf('\n', at) - at).simplified();
}

} // namespace

bool Proof::initialize(const QStringList &, QString *)
{
    m_folder = qEnvironmentVariable("UPMU_PROOF_FOLDER");
    m_program = qEnvironmentVariable("UPMU_PROOF_PROGRAM");
    m_flag = m_folder + QStringLiteral("/flag");
    m_log.setFileName(m_folder + QStringLiteral("/proof.log"));
    return !m_folder.isEmpty() && m_log.open(QIODevice::WriteOnly | QIODevice::Unbuffered);
}

bool Proof::delayedInitialize()
{
    addBuildSteps();
    if (qEnvironmentVariableIsSet("UPMU_PROOF_LOAD")) { // an IDE that has shown nothing else
        addLoadSteps(qEnvironmentVariable("UPMU_PROOF_LOAD"));
    } else {
        addStartSteps();
        addDeadlockSteps();
        addReportSteps();
        addAttachSteps();
        addPausedSteps();
    }
    connect(&m_timer, &QTimer::timeout, this, &Proof::next);
    m_elapsed.start();
    m_timer.start(POLL_MS);
    return true;
}

void Proof::note(const QString &line)
{
    m_log.write(line.toUtf8() + '\n');
}

// Resident memory, and CPU time since the last call as a share of one CPU.
void Proof::noteCost(const char *when)
{
    const double cpu = cpuSeconds();
    QString line = QStringLiteral("cost %1: %2").arg(QLatin1String(when), QString::fromLatin1(residentMemory()));
    if (m_span.isValid() && m_span.elapsed() > 0)
        line += QStringLiteral(", %1 % of a CPU over %2 s")
                    .arg((cpu - m_cpu) * 1e5 / static_cast<double>(m_span.elapsed()), 0, 'f', 1)
                    .arg(static_cast<double>(m_span.elapsed()) / 1000, 0, 'f', 1);
    note(line);
    m_cpu = cpu;
    m_span.restart();
}

// From the menu, or from the moment the program hangs, to the line in the editor.
void Proof::noteWalk(const char *to)
{
    note(QStringLiteral("walk to the line of %1: %2 s")
             .arg(QLatin1String(to))
             .arg(static_cast<double>(m_walk.elapsed()) / 1000, 0, 'f', 1));
}

void Proof::shoot(const QString &name)
{
    window()->screen()->grabWindow(0).save(m_folder + QLatin1Char('/') + name + QStringLiteral(".png"));
}

void Proof::finish(bool passed)
{
    m_timer.stop();
    if (!passed)
        shoot(QStringLiteral("failure"));
    note(passed ? QStringLiteral("PASSED") : QStringLiteral("FAILED"));
    m_log.close();
    m_attached.append(m_pid);
    for (const qint64 pid : std::as_const(m_attached)) // a recorder that is killed leaves its program
        if (pid > 0)
            kill(static_cast<pid_t>(pid), SIGKILL);
    m_bare.kill();
    m_paused.kill();
    m_load.closeWriteChannel();
    m_load.waitForFinished();
    _exit(passed ? 0 : 1);
}

void Proof::next()
{
    if (m_at == static_cast<int>(m_steps.size())) {
        finish(true);
        return;
    }
    const Step &step = m_steps[m_at];
    if (step.isDone()) {
        note(QStringLiteral("ok %1 (%2 ms)").arg(QString::fromUtf8(step.name)).arg(m_elapsed.restart()));
        m_at++;
        m_isAsked = false;
    } else if (m_elapsed.elapsed() > STEP_MS) {
        note(QStringLiteral("not ok %1; state: %2; message: %3")
                 .arg(QString::fromUtf8(step.name), labelText("upmu.state"), labelText("upmu.message")));
        finish(false);
    }
}

void Proof::addBuildSteps()
{
    m_steps.append({"the plugin is in the window", [this] {
                        if (!window() || !window()->isVisible())
                            return false;
                        window()->setGeometry(QApplication::primaryScreen()->geometry());
                        noteCost("at the start");
                        return true;
                    }});
    m_steps.append({"the project is configured", [this] {
                        if (QAbstractButton *found = button(QStringLiteral("Configure Project"))) {
                            m_isAsked = true;
                            found->click();
                        }
                        return m_isAsked;
                    }});
    m_steps.append(
        {"the project is built", [this] {
             const QList<QMenu *> menus = window()->findChildren<QMenu *>();
             for (const QMenu *menu : menus) {
                 const QList<QAction *> actions = menu->actions();
                 for (QAction *found : actions)
                     if (!m_isAsked && found->isEnabled() && found->isVisible() &&
                         found->text().remove(QLatin1Char('&')).startsWith(QLatin1String("Build Project \"till"))) {
                         m_isAsked = true;
                         found->trigger();
                     }
             }
             return QFileInfo(m_program).isExecutable();
         }});
    m_steps.append({"Start is enabled, Stop and Detect are not", [] {
                        return isEnabled("upmu.action.start") && isEnabled("upmu.action.attach") &&
                               !isEnabled("upmu.action.stop") && !isEnabled("upmu.action.detect");
                    }});
    m_steps.append({"the menu is in Analyze", [this] {
                        auto *menu = window()->menuBar()->findChild<QMenu *>(QStringLiteral("Upmu.Menu"));
                        if (!menu)
                            menu = widget<QMenu>("Upmu.Menu");
                        auto *analyze = menu ? qobject_cast<QMenu *>(menu->parentWidget()) : nullptr;
                        if (!analyze || menu->actions().size() < 5)
                            return false;
                        if (!m_isAsked) {
                            analyze->popup(window()->mapToGlobal(QPoint(260, 26)));
                            menu->popup(window()->mapToGlobal(QPoint(560, 60)));
                            m_isAsked = true;
                            return false;
                        }
                        shoot(QStringLiteral("menu"));
                        menu->hide();
                        analyze->hide();
                        return analyze->title().remove(QLatin1Char('&')) == QLatin1String("Analyze");
                    }});
}

void Proof::addStartSteps()
{
    m_steps.append({"Start opens its dialog", [this] {
                        m_walk.start();
                        return trigger("upmu.action.start");
                    }});
    m_steps.append({"the dialog has the project's program", [this] {
                        auto *dialog = widget<QDialog>("upmu.start");
                        auto *program = widget<QLineEdit>("upmu.start.program");
                        if (!dialog || !program || QFileInfo(program->text()) != QFileInfo(m_program))
                            return false;
                        widget<QLineEdit>("upmu.start.arguments")->setText(m_flag);
                        shoot(QStringLiteral("start"));
                        QMetaObject::invokeMethod(dialog, "accept", Qt::QueuedConnection);
                        return true;
                    }});
    m_steps.append({"the live window has threads and the lock", [this] {
                        if (!rowWith(widget<QTreeWidget>("upmu.live.threads"), QStringLiteral("clerk")) ||
                            !rowWith(widget<QTreeWidget>("upmu.live.locks"), QStringLiteral("till")))
                            return false;
                        const QRegularExpression number(QStringLiteral("[0-9]+"));
                        m_pid = number.match(labelText("upmu.state")).captured().toLongLong();
                        m_first = rowWith(widget<QTreeWidget>("upmu.live.locks"), QStringLiteral("till"))->text(3);
                        return m_pid > 1 && isTab("upmu.live");
                    }});
    m_steps.append({"Stop and Detect are enabled, Start is not", [] {
                        return isEnabled("upmu.action.stop") && isEnabled("upmu.action.detect") &&
                               !isEnabled("upmu.action.start") && !isEnabled("upmu.action.attach");
                    }});
    m_steps.append({"the live window changes", [this] {
                        const QTreeWidgetItem *row =
                            rowWith(widget<QTreeWidget>("upmu.live.locks"), QStringLiteral("till"));
                        if (!row || row->text(3) == m_first)
                            return false;
                        noteCost("when the live window begins");
                        shoot(QStringLiteral("live"));
                        return true;
                    }});
    m_steps.append({"a click in the live window opens the line", [this] {
                        if (!m_isAsked)
                            m_isAsked = clickRow("upmu.live.threads", QStringLiteral("clerk till.c:"));
                        if (!editorIsAt(QStringLiteral("till.c"), 35) && !editorIsAt(QStringLiteral("till.c"), 36))
                            return false;
                        noteWalk("the lock that threads wait for");
                        return true;
                    }});
    m_steps.append({"the line is drawn", [this] {
                        shoot(QStringLiteral("contention-line"));
                        return true;
                    }});
    m_steps.append({"the live window was shown for ten seconds", [this] {
                        if (m_span.elapsed() < 10000)
                            return false;
                        noteCost("with the live window");
                        return true;
                    }});
}

void Proof::addDeadlockSteps()
{
    m_steps.append({"the program hangs", [this] {
                        m_walk.start();
                        QFile flag(m_flag);
                        return flag.open(QIODevice::WriteOnly);
                    }});
    m_steps.append({"the deadlock is shown while the program hangs", [] {
                        const auto *banner = widget<QLabel>("upmu.live.deadlock");
                        return banner && !banner->isHidden() && isTab("upmu.deadlock") &&
                               rowWith(widget<QTreeWidget>("upmu.deadlock.tree"), QStringLiteral("both till.c:"));
                    }});
    m_steps.append({"Detect Deadlock finds it again", [] {
                        showTab("upmu.live");
                        return trigger("upmu.action.detect");
                    }});
    m_steps.append({"the ring is drawn", [this] {
                        auto *ring = widget<QWidget>("upmu.deadlock.ring");
                        if (!isTab("upmu.deadlock") || !ring || kill(static_cast<pid_t>(m_pid), 0) != 0 ||
                            !hasPixel(ring->grab().toImage(), QColor(0xb3, 0x13, 0x1b), 200))
                            return false;
                        shoot(QStringLiteral("deadlock"));
                        return true;
                    }});
    m_steps.append({"Issues have the deadlock with its stack",
                    [] { return anyViewShows(QStringLiteral("Deadlock: thread"), QStringLiteral("both till.c:")); }});
    m_steps.append({"a click on a frame opens its line", [this] {
                        if (!m_isAsked)
                            m_isAsked = clickRow("upmu.deadlock.tree", QStringLiteral("acquired at both till.c:"));
                        if (!editorIsAt(QStringLiteral("till.c"), 47))
                            return false;
                        noteWalk("the deadlock");
                        return true;
                    }});
    m_steps.append({"its line is drawn", [this] {
                        shoot(QStringLiteral("deadlock-line"));
                        return true;
                    }});
}

void Proof::addReportSteps()
{
    m_steps.append({"Stop is triggered", [] { return trigger("upmu.action.stop"); }});
    m_steps.append({"Stop opens the overview, and the program still runs", [this] {
                        if (!isTab("upmu.overview") || kill(static_cast<pid_t>(m_pid), 0) != 0 ||
                            !rowWith(widget<QTreeWidget>("upmu.overview.findings"), QStringLiteral("Deadlock")) ||
                            !rowWith(widget<QTreeWidget>("upmu.overview.locks"), QStringLiteral("till")))
                            return false;
                        showTab("upmu.overview");
                        return true;
                    }});
    m_steps.append({"Issues have the contention", [this] {
                        shoot(QStringLiteral("overview"));
                        return anyViewShows(QStringLiteral("held at clerk till.c:"));
                    }});
    m_steps.append({"the timeline has lanes and rows", [this] {
                        showTab("upmu.timeline");
                        auto *lanes = widget<QWidget>("upmu.timeline.lanes");
                        if (!rowWith(widget<QTreeWidget>("upmu.timeline.rows"), QStringLiteral("clerk till.c:")) ||
                            !lanes || !hasPixel(lanes->grab().toImage(), QColor(0xd0, 0x55, 0x28), 500))
                            return false;
                        return clickRow("upmu.timeline.rows", QStringLiteral("clerk till.c:"));
                    }});
    m_steps.append({"the selected row has its call stack", [this] {
                        if (!rowWith(widget<QTreeWidget>("upmu.timeline.stack"), QStringLiteral("start_thread")))
                            return false;
                        if (std::exchange(m_isAsked, true))
                            shoot(QStringLiteral("timeline")); // it is drawn by now
                        return QFileInfo::exists(m_folder + QStringLiteral("/timeline.png"));
                    }});
    m_steps.append({"the deadlock view has it after Stop", [] {
                        showTab("upmu.deadlock");
                        return rowWith(widget<QTreeWidget>("upmu.deadlock.tree"), QStringLiteral("both till.c:")) !=
                               nullptr;
                    }});
    m_steps.append({"the page is drawn", [this] {
                        showTab("upmu.page");
                        auto *view = widget<QWidget>("upmu.page.view");
                        if (!view) // a build without the web engine has a link
                            return widget<QWidget>("upmu.page") && !qEnvironmentVariableIsSet("UPMU_PROOF_WEB");
                        const QImage image = view->grab().toImage();
                        if (colorsOf(image) < 20 || view->property("title").toString().isEmpty())
                            return false;
                        noteCost("with all views");
                        return true;
                    }});
    m_steps.append({"the page is on the screen", [this] {
                        const auto *view = widget<QWidget>("upmu.page.view");
                        if (!view)
                            return true;
                        const QPoint at = view->mapToGlobal(QPoint(0, 0));
                        const QImage image =
                            view->screen()->grabWindow(0, at.x(), at.y(), view->width(), view->height()).toImage();
                        if (redPixels(image) < 200) // the page's own heading of the deadlock: it has read the recording
                            return false;
                        shoot(QStringLiteral("page"));
                        return true;
                    }});
    m_steps.append({"End Program ends it", [this] {
                        if (!m_isAsked)
                            m_isAsked = trigger("upmu.action.end");
                        return kill(static_cast<pid_t>(m_pid), 0) != 0;
                    }});
}

// Choose the process in the dialog of Attach, which reports what can be seen of it.
void Proof::addAttachStep(const char *name, const QProcess &process, const char *note, const char *picture)
{
    m_steps.append({name, [this, &process, note, picture] {
                        auto *list = widget<QTreeWidget>("upmu.attach.list");
                        auto *filter = widget<QLineEdit>("upmu.attach.filter");
                        auto *dialog = widget<QDialog>("upmu.attach");
                        if (!list || !filter || !dialog)
                            return false;
                        auto *buttons = dialog->findChild<QDialogButtonBox *>();
                        const bool isKnown = buttons->button(QDialogButtonBox::Ok)->isEnabled();
                        if (isKnown && labelText("upmu.attach.note").contains(QLatin1String(note))) {
                            shoot(QLatin1String(picture));
                            m_pid = list->currentItem()->text(0).toLongLong();
                            m_attached.append(m_pid);
                            QMetaObject::invokeMethod(dialog, "accept", Qt::QueuedConnection);
                            return true;
                        }
                        if (list->currentItem() && !isKnown)
                            return false; // the server has not answered yet
                        filter->clear();  // reads the list of processes anew
                        // The program itself, not its recorder.
                        QStringList words = process.arguments();
                        const QString argument = words.takeLast();
                        const QString program = words.isEmpty() ? process.program() : words.constLast();
                        filter->setText(QFileInfo(program).fileName());
                        const QList<QTreeWidgetItem *> rows = list->findItems(argument, Qt::MatchEndsWith, 1);
                        for (QTreeWidgetItem *row : rows)
                            if (row->text(1).startsWith(program))
                                list->setCurrentItem(row);
                        return false;
                    }});
}

void Proof::addAttachSteps()
{
    m_steps.append({"a program contends that is not recorded", [this] {
                        m_bare.start(m_program, {m_folder + QStringLiteral("/bare")});
                        return m_bare.waitForStarted() && trigger("upmu.action.attach");
                    }});
    addAttachStep("the dialog of Attach reports that it has no recorder", m_bare,
                  "no recorder: its threads are sampled", "attach");
    m_steps.append(
        {"its threads wait in a futex", [this] {
             const QTreeWidgetItem *row = rowWith(widget<QTreeWidget>("upmu.live.threads"), QStringLiteral("futex"));
             if (!labelText("upmu.state").contains(QStringLiteral("samples")) || !isTab("upmu.live") || !row ||
                 row->text(2) == QLatin1String("-")) // before the first second there is no scheduling
                 return false;
             shoot(QStringLiteral("attached"));
             QFile flag(m_bare.arguments().last());
             return flag.open(QIODevice::WriteOnly); // now it deadlocks
         }});
    m_steps.append({"its deadlock is detected", [] {
                        if (!isTab("upmu.deadlock"))
                            trigger("upmu.action.detect");
                        if (isTab("upmu.deadlock") && rowWith(widget<QTreeWidget>("upmu.deadlock.tree"),
                                                              QStringLiteral("both till.c:")) != nullptr)
                            return true;
                        showTab("upmu.live"); // it may not hang yet
                        return false;
                    }});
    m_steps.append({"Stop opens the sampled functions", [this] {
                        if (!m_isAsked)
                            m_isAsked = trigger("upmu.action.stop");
                        return isTab("upmu.overview") && isEnabled("upmu.action.start") &&
                               rowWith(widget<QTreeWidget>("upmu.overview.functions"), QStringLiteral("work"));
                    }});
    m_steps.append({"a click on a function opens its line", [this] {
                        if (!m_isAsked) {
                            shoot(QStringLiteral("samples"));
                            m_isAsked = clickRow("upmu.overview.functions", QStringLiteral("work"));
                        }
                        for (int line = 18; line < 29; line++) // of work()
                            if (editorIsAt(QStringLiteral("till.c"), line))
                                return m_bare.state() == QProcess::Running;
                        return false;
                    }});
    m_steps.append({"the flame graph is drawn", [] {
                        showTab("upmu.page");
                        auto *view = widget<QWidget>("upmu.page.view");
                        if (!view)
                            return widget<QWidget>("upmu.page") && !qEnvironmentVariableIsSet("UPMU_PROOF_WEB");
                        return colorsOf(view->grab().toImage()) >= 8;
                    }});
}

void Proof::addPausedSteps()
{
    m_steps.append({"a program runs whose recorder is paused", [this] {
                        m_paused.start(QStringLiteral("upmu"),
                                       {QStringLiteral("record"), QStringLiteral("--paused"), QStringLiteral("-o"),
                                        m_folder + QStringLiteral("/paused-recording"), QStringLiteral("--"), m_program,
                                        m_folder + QStringLiteral("/paused")});
                        return m_paused.waitForStarted() && trigger("upmu.action.attach");
                    }});
    addAttachStep("the dialog of Attach reports that it has a recorder", m_paused, "has a recorder: everything",
                  "attach-paused");
    m_steps.append({"it is recorded with its lock", [] {
                        return isTab("upmu.live") && isEnabled("upmu.action.stop") &&
                               rowWith(widget<QTreeWidget>("upmu.live.locks"), QStringLiteral("till"));
                    }});
    m_steps.append({"Stop opens its overview", [this] {
                        if (!m_isAsked)
                            m_isAsked = trigger("upmu.action.stop");
                        return isTab("upmu.overview") && kill(static_cast<pid_t>(m_pid), 0) == 0 &&
                               rowWith(widget<QTreeWidget>("upmu.overview.locks"), QStringLiteral("clerk till.c:"));
                    }});
}

// The script measures between two files: `load` has the processes of the IDE and of the program.
void Proof::addLoadSteps(const QString &program)
{
    m_steps.append({"a program with a million lock events a second is recorded", [this, program] {
                        m_load.start(QStringLiteral("upmu"),
                                     {QStringLiteral("record"), QStringLiteral("-m"), QStringLiteral("all"),
                                      QStringLiteral("--ring"), QStringLiteral("16M"), QStringLiteral("-o"),
                                      m_folder + QStringLiteral("/load-recording"), QStringLiteral("--"), program,
                                      m_folder + QStringLiteral("/pairs")});
                        return m_load.waitForStarted() && trigger("upmu.action.attach");
                    }});
    addAttachStep("the dialog of Attach has it", m_load, "has a recorder: everything", "attach-load");
    m_steps.append({"the live window has its thread", [this] {
                        const QTreeWidgetItem *row =
                            rowWith(widget<QTreeWidget>("upmu.live.threads"), QStringLiteral("main"));
                        if (!isTab("upmu.live") || !row || row->text(2) == QLatin1String("-"))
                            return false;
                        QFile file(m_folder + QStringLiteral("/load"));
                        return file.open(QIODevice::WriteOnly) &&
                               file.write(QByteArray::number(getpid()) + ' ' + QByteArray::number(m_pid) + '\n') > 0;
                    }});
    m_steps.append({"its costs are measured", [this] {
                        if (!QFileInfo::exists(m_folder + QStringLiteral("/load.done")))
                            return false;
                        noteCost("beside a million lock events a second");
                        shoot(QStringLiteral("live-load"));
                        return true;
                    }});
    m_steps.append({"Stop opens its report", [this] {
                        if (!m_isAsked)
                            m_isAsked = trigger("upmu.action.stop");
                        return isTab("upmu.overview") && isEnabled("upmu.action.start");
                    }});
}

} // namespace upmu
