// SPDX-License-Identifier: MIT
// Live window.
#include "live_view.h"

#include <QJsonArray>
#include <QScrollBar>
#include <QSet>
#include <QSplitter>
#include <QVBoxLayout>

#include "serve_client.h"

namespace upmu
{

namespace
{

double number(const QJsonObject &row, const char *name)
{
    return static_cast<double>(wholeNumber(row.value(QLatin1String(name))));
}

QString nameOf(const QJsonObject &row)
{
    const QString name = row.value(QLatin1String("name")).toString();
    return name.isEmpty() ? row.value(QLatin1String("address")).toString() : name;
}

Cell share(const QJsonValue &value, bool bar = false)
{
    return value.isDouble() ? Cell(percent(value.toDouble()), value.toDouble(), bar ? value.toDouble() : -1)
                            : Cell(QStringLiteral("-"), -1);
}

Cell rate(const QJsonValue &value, double seconds)
{
    return value.isDouble() ? Cell(amount(value.toDouble() / seconds), value.toDouble() / seconds)
                            : Cell(QStringLiteral("-"), -1);
}

// Replaces rows without moving what the user sees: place and selection are kept.
class Keeper
{
  public:
    explicit Keeper(SiteTree *tree)
        : m_tree(tree), m_at(tree->verticalScrollBar()->value()), m_isFirst(tree->topLevelItemCount() == 0),
          m_selected(tree->currentItem() ? tree->currentItem()->text(0) + tree->currentItem()->text(1) : QString())
    {
        tree->setUpdatesEnabled(false);
        tree->clear();
    }
    ~Keeper()
    {
        for (int i = 0; i < m_tree->topLevelItemCount() && !m_selected.isEmpty(); i++)
            if (m_tree->topLevelItem(i)->text(0) + m_tree->topLevelItem(i)->text(1) == m_selected)
                m_tree->setCurrentItem(m_tree->topLevelItem(i));
        if (m_isFirst)
            m_tree->fitColumns();
        m_tree->verticalScrollBar()->setValue(m_at);
        m_tree->setUpdatesEnabled(true);
    }

  private:
    SiteTree *m_tree;
    int m_at;
    bool m_isFirst;
    QString m_selected;
};

} // namespace

LiveView::LiveView(QWidget *parent) : QWidget(parent)
{
    m_deadlock = new QLabel(this);
    m_deadlock->setObjectName(QStringLiteral("upmu.live.deadlock"));
    m_deadlock->setStyleSheet(QStringLiteral("background: #b3131b; color: white; padding: 6px; font-weight: bold"));
    m_deadlock->setTextFormat(Qt::PlainText);
    m_deadlock->setWordWrap(true);
    m_deadlock->hide();
    m_stopped = new QLabel(this);
    m_stopped->setObjectName(QStringLiteral("upmu.live.stopped"));
    m_stopped->hide();
    m_threads = new SiteTree(QStringLiteral("upmu.live.threads"),
                             {Text::Thread, Text::Id, Text::Running, Text::Preempted, Text::Blocked, Text::SwitchesRate,
                              Text::WaitsRate, Text::WaitsFor, Text::Where},
                             this);
    m_locks =
        new SiteTree(QStringLiteral("upmu.live.locks"),
                     {Text::Lock, Text::Type, Text::WaitsRate, Text::WaitTimeRate, Text::Waiters, Text::Holder}, this);
    m_counters =
        new SiteTree(QStringLiteral("upmu.live.counters"), {Text::Counter, Text::PerSecond, Text::Total}, this);
    auto *right = new QSplitter(Qt::Vertical, this);
    right->addWidget(m_locks);
    right->addWidget(m_counters);
    auto *all = new QSplitter(Qt::Horizontal, this);
    all->addWidget(m_threads);
    all->addWidget(right);
    all->setStretchFactor(0, 3);
    all->setStretchFactor(1, 2);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_deadlock);
    layout->addWidget(m_stopped);
    layout->addWidget(all, 1);
    m_counters->hide();
    for (SiteTree *tree : {m_threads, m_locks, m_counters}) {
        tree->setRootIsDecorated(false);
        connect(tree, &SiteTree::siteActivated, this, &LiveView::siteActivated);
    }
}

void LiveView::clear()
{
    for (SiteTree *tree : {m_threads, m_locks, m_counters})
        tree->clear();
    m_totals.clear();
    m_deadlock->hide();
    m_stopped->hide();
    m_counters->hide();
    m_updates = 0;
}

void LiveView::setUpdate(const QJsonObject &top)
{
    const double seconds = qMax(number(top, "interval_ns"), 1.0) / 1e9;
    m_updates++;
    setThreads(top.value(QLatin1String("threads")).toArray(), seconds);
    setLocks(top.value(QLatin1String("locks")).toArray(), seconds);
    setCounters(top.value(QLatin1String("counters")).toArray(), seconds);
    setDeadlocks(top.value(QLatin1String("deadlocks")).toArray());
    setStopped(top);
}

// While recording is stopped there is nothing about locks to show. Without a recorder the number is null.
void LiveView::setStopped(const QJsonObject &top)
{
    QSet<int> all;
    for (const QJsonValue &thread : top.value(QLatin1String("threads")).toArray())
        all.insert(thread.toObject().value(QLatin1String("pid")).toInt());
    const double n = number(top, "stopped_processes");
    const bool shown = n > 0 && top.value(QLatin1String("running")).toBool();
    m_stopped->setText(text(n >= all.size() ? Text::LiveStopped : Text::LivePartlyStopped));
    m_stopped->setVisible(shown);
}

void LiveView::setThreads(const QJsonArray &threads, double seconds)
{
    const Keeper keeper(m_threads);
    for (const QJsonValue &value : threads) {
        const QJsonObject row = value.toObject();
        const QJsonObject wait = row.value(QLatin1String("waits_for")).toObject();
        const QJsonValue voluntary = row.value(QLatin1String("voluntary"));
        const QJsonValue switches =
            voluntary.isDouble() ? QJsonValue(voluntary.toDouble() + number(row, "involuntary")) : QJsonValue();
        const QJsonValue known = row.value(QLatin1String("blocked"));
        const QJsonValue waited = row.value(QLatin1String("waited_ns")); // null without a recorder
        const QJsonValue blocked = known.isDouble() || waited.isNull()
                                       ? known
                                       : QJsonValue(qMin(1.0, number(row, "waited_ns") / 1e9 / seconds));
        Site site;
        site.file = wait.value(QLatin1String("file")).toString();
        site.line = wait.value(QLatin1String("line")).toInt();
        site.label = wait.value(QLatin1String("site")).toString();
        const QString object =
            wait.isEmpty() ? QString()
                           : QStringLiteral("%1 %2").arg(wait.value(QLatin1String("type")).toString(), nameOf(wait));
        const double tid = number(row, "tid");
        m_threads->addRow(nullptr,
                          {Cell(row.value(QLatin1String("name")).toString()), Cell(QString::number(tid, 'f', 0), tid),
                           share(row.value(QLatin1String("running"))), share(row.value(QLatin1String("preempted"))),
                           share(blocked, true), rate(switches, seconds),
                           rate(row.value(QLatin1String("waits")), seconds), Cell(object), Cell(site.label)},
                          site, 8);
    }
}

void LiveView::setLocks(const QJsonArray &locks, double seconds)
{
    const Keeper keeper(m_locks);
    for (const QJsonValue &value : locks) {
        const QJsonObject row = value.toObject();
        const double waited = number(row, "waited_ns") / seconds;
        const QJsonValue holder = row.value(QLatin1String("holder"));
        m_locks->addRow(nullptr,
                        {Cell(nameOf(row)), Cell(row.value(QLatin1String("type")).toString()),
                         rate(row.value(QLatin1String("waits")), seconds), Cell(duration(waited), waited, waited / 1e9),
                         Cell(amount(number(row, "waiters")), number(row, "waiters")),
                         Cell(holder.isDouble() ? QString::number(holder.toDouble(), 'f', 0) : QString())});
    }
}

void LiveView::setCounters(const QJsonArray &counters, double seconds)
{
    const Keeper keeper(m_counters);
    m_counters->setVisible(!counters.isEmpty());
    for (const QJsonValue &value : counters) {
        const QJsonObject row = value.toObject();
        const QString name = row.value(QLatin1String("name")).toString();
        const QJsonObject total = row.value(QLatin1String("total")).toObject();
        const QJsonValue count = total.value(QLatin1String("value"));
        if (count.isNull() || count.isUndefined()) { // no number, but the reason
            m_counters->addRow(nullptr, {Cell(name), Cell(QStringLiteral("-")),
                                         Cell(total.value(QLatin1String("status")).toString())});
            continue;
        }
        const double now = static_cast<double>(wholeNumber(count));
        const bool hasRate = m_totals.contains(name);
        const double perSecond = hasRate ? (now - m_totals.value(name)) / seconds : 0;
        m_totals.insert(name, now);
        m_counters->addRow(nullptr,
                           {Cell(name), hasRate ? Cell(amount(perSecond), perSecond) : Cell(QStringLiteral("-")),
                            Cell(amount(now), now)});
    }
}

void LiveView::setDeadlocks(const QJsonArray &deadlocks)
{
    QStringList lines;
    for (const QJsonValue &value : deadlocks) {
        const QJsonObject deadlock = value.toObject();
        lines << text1(Text::DeadlockFound, deadlock.value(QLatin1String("headline")).toString());
        const QJsonArray threads = deadlock.value(QLatin1String("threads")).toArray();
        for (const QJsonValue &thread : threads)
            lines << QStringLiteral("  ") + thread.toObject().value(QLatin1String("text")).toString();
    }
    m_deadlock->setText(lines.join(QLatin1Char('\n')));
    m_deadlock->setVisible(!lines.isEmpty());
}

} // namespace upmu
