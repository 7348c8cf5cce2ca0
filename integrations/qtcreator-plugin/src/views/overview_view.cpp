// SPDX-License-Identifier: MIT
// Overview of a recording.
#include "overview_view.h"

#include <QFileInfo>
#include <QSplitter>
#include <QVBoxLayout>

namespace upmu
{

namespace
{

double number(const QJsonObject &row, const char *name)
{
    return static_cast<double>(wholeNumber(row.value(QLatin1String(name))));
}

Cell timeCell(double ns, double bar = -1)
{
    return {duration(ns), ns, bar};
}

Cell count(double value)
{
    return {amount(value), value};
}

} // namespace

OverviewView::OverviewView(QWidget *parent) : QWidget(parent)
{
    m_totals = new QLabel(this);
    m_totals->setObjectName(QStringLiteral("upmu.overview.totals"));
    m_totals->setMargin(4);
    m_findings =
        new SiteTree(QStringLiteral("upmu.overview.findings"), {Text::Gain, Text::Where, Text::Findings}, this);
    m_threads = new SiteTree(
        QStringLiteral("upmu.overview.threads"),
        {Text::Thread, Text::Id, Text::Lifetime, Text::BlockedTime, Text::Blocked, Text::Waits, Text::Switches}, this);
    m_locks = new SiteTree(
        QStringLiteral("upmu.overview.locks"),
        {Text::Lock, Text::Type, Text::Waits, Text::WaitTime, Text::LongestWait, Text::HoldTime, Text::HeldAt}, this);
    m_findings->setRootIsDecorated(false);
    m_findings->setMaximumHeight(140);
    m_threads->setRootIsDecorated(false);
    m_threads->setSortingEnabled(true);
    m_locks->setSortingEnabled(true);
    m_functions = new SiteTree(QStringLiteral("upmu.overview.functions"),
                               {Text::OwnShare, Text::WithCallees, Text::Samples, Text::Function, Text::Where}, this);
    m_functions->setRootIsDecorated(false);
    m_functions->setSortingEnabled(true);
    auto *tables = new QSplitter(Qt::Horizontal, this);
    m_tables = tables;
    tables->addWidget(m_threads);
    tables->addWidget(m_locks);
    tables->setStretchFactor(0, 2);
    tables->setStretchFactor(1, 3);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_totals);
    layout->addWidget(m_findings);
    layout->addWidget(tables, 1);
    layout->addWidget(m_functions, 1);
    m_functions->hide();
    for (SiteTree *tree : {m_findings, m_threads, m_locks, m_functions})
        connect(tree, &SiteTree::siteActivated, this, &OverviewView::siteActivated);
}

void OverviewView::clear()
{
    for (SiteTree *tree : {m_findings, m_threads, m_locks, m_functions})
        tree->clear();
    m_totals->clear();
}

void OverviewView::setReport(const Report &report)
{
    const bool isSampled = report.overview.isEmpty();
    clear();
    m_findings->setVisible(!isSampled);
    m_tables->setVisible(!isSampled);
    m_functions->setVisible(isSampled);
    if (isSampled) {
        setFunctions(report.functions);
        return;
    }
    const QJsonObject totals = report.overview.value(QLatin1String("totals")).toObject();
    QString line = text3(Text::Totals, amount(number(totals, "threads")), amount(number(totals, "objects")),
                         amount(number(totals, "events")));
    if (number(totals, "lost") > 0)
        line += QLatin1Char(' ') + text1(Text::LostEvents, amount(number(totals, "lost")));
    m_totals->setText(line);
    setFindings(report.overview.value(QLatin1String("findings")).toArray());
    setThreads(report.threads);
    setLocks(report.locks);
    m_threads->sortByColumn(3, Qt::DescendingOrder);
    m_locks->sortByColumn(3, Qt::DescendingOrder);
    for (SiteTree *tree : {m_findings, m_threads, m_locks})
        tree->fitColumns();
}

void OverviewView::setFunctions(const QJsonArray &functions)
{
    double samples = 0, weight = 0;
    for (const QJsonValue &value : functions) {
        samples += number(value.toObject(), "self_samples");
        weight += number(value.toObject(), "self_weight");
    }
    m_totals->setText(text2(Text::SampleTotals, amount(samples), duration(weight)));
    for (const QJsonValue &value : functions) {
        const QJsonObject row = value.toObject();
        const double own = number(row, "self_weight") / qMax(weight, 1.0);
        const double all = number(row, "weight") / qMax(weight, 1.0);
        const QString module = QFileInfo(row.value(QLatin1String("module")).toString()).fileName();
        const QString name = row.value(QLatin1String("name")).toString();
        Site site;
        site.file = row.value(QLatin1String("file")).toString();
        site.line = row.value(QLatin1String("line")).toInt();
        site.label =
            site.isLine() ? QStringLiteral("%1:%2").arg(QFileInfo(site.file).fileName()).arg(site.line) : module;
        m_functions->addRow(
            nullptr,
            {Cell(percent(own), own, own), Cell(percent(all), all, all), count(number(row, "self_samples")),
             Cell(!name.isEmpty() ? name
                                  : QStringLiteral("0x%1").arg(wholeNumber(row.value(QLatin1String("offset"))), 0, 16)),
             Cell(site.label)},
            site, 4);
    }
    m_functions->sortByColumn(0, Qt::DescendingOrder);
    m_functions->fitColumns();
}

void OverviewView::setFindings(const QJsonArray &findings)
{
    for (const QJsonValue &value : findings) {
        const QJsonObject finding = value.toObject();
        const QJsonValue gain = finding.value(QLatin1String("gain_ns"));
        const Site site = lineOf(QVector<Site>{siteOf(finding.value(QLatin1String("site")).toObject())} +
                                 stackOf(finding.value(QLatin1String("stack")).toArray()));
        QTreeWidgetItem *row =
            m_findings->addRow(nullptr,
                               {gain.isNull() ? Cell(QString()) : timeCell(static_cast<double>(wholeNumber(gain))),
                                Cell(site.label), Cell(finding.value(QLatin1String("text")).toString())},
                               site, 1);
        if (finding.value(QLatin1String("kind")).toString() == QLatin1String("deadlock"))
            row->setForeground(2, QColor(0xb3, 0x13, 0x1b));
    }
    if (findings.isEmpty())
        m_findings->addRow(nullptr, {Cell(QString()), Cell(QString()), Cell(text(Text::NoFinding))});
}

void OverviewView::setThreads(const QJsonArray &threads)
{
    for (const QJsonValue &value : threads) {
        const QJsonObject row = value.toObject();
        const double life = number(row, "end_ns") - number(row, "begin_ns"), blocked = number(row, "blocked_ns");
        const double share = life > 0 ? qMin(1.0, blocked / life) : 0;
        m_names.insert(number(row, "tid"), row.value(QLatin1String("name")).toString());
        const QJsonObject kinds = row.value(QLatin1String("waits")).toObject();
        double waits = 0;
        for (const QJsonValue &kind : kinds)
            waits += number(kind.toObject(), "count") + number(kind.toObject(), "unfinished");
        const QJsonValue switches = row.value(QLatin1String("switches")).toObject().value(QLatin1String("value"));
        m_threads->addRow(nullptr, {Cell(row.value(QLatin1String("name")).toString()),
                                    Cell(QString::number(number(row, "tid"), 'f', 0), number(row, "tid")),
                                    timeCell(life), timeCell(blocked), Cell(percent(share), share, share), count(waits),
                                    switches.isNull() ? Cell(QStringLiteral("-"), -1.0)
                                                      : count(static_cast<double>(wholeNumber(switches)))});
    }
}

void OverviewView::setLocks(const QJsonArray &locks)
{
    for (const QJsonValue &value : locks)
        addLock(value.toObject());
}

// By its name; of a thread that is joined, which thread.
QString OverviewView::lockName(const QJsonObject &lock) const
{
    const QString name = lock.value(QLatin1String("name")).toString();
    const double peer = number(lock, "peer");
    if (!name.isEmpty())
        return name;
    return peer > 0 ? text2(Text::ThreadName, QString::number(peer, 'f', 0), m_names.value(peer))
                    : lock.value(QLatin1String("address")).toString();
}

// A lock, with the threads and call sites that waited for it below.
void OverviewView::addLock(const QJsonObject &lock)
{
    const QJsonObject waits = lock.value(QLatin1String("waits")).toObject();
    const QJsonObject longest = lock.value(QLatin1String("longest")).toObject();
    const Site held = siteOf(longest.value(QLatin1String("holder_site")).toObject());
    QTreeWidgetItem *row = m_locks->addRow(nullptr,
                                           {Cell(lockName(lock)), Cell(lock.value(QLatin1String("type")).toString()),
                                            count(number(waits, "count") + number(waits, "unfinished")),
                                            timeCell(number(waits, "total_ns") + number(waits, "unfinished_ns")),
                                            timeCell(qMax(number(waits, "max_ns"), number(longest, "ns"))),
                                            timeCell(number(lock, "hold_ns")), Cell(held.label)},
                                           held, 6);
    const QJsonArray threads = lock.value(QLatin1String("threads")).toArray();
    for (const QJsonValue &value : threads) {
        const QJsonObject thread = value.toObject(), sum = thread.value(QLatin1String("waits")).toObject();
        m_locks->addRow(row, {Cell(text2(Text::ThreadName, QString::number(number(thread, "tid"), 'f', 0),
                                         thread.value(QLatin1String("name")).toString())),
                              Cell(QString()), count(number(sum, "count") + number(sum, "unfinished")),
                              timeCell(number(sum, "total_ns") + number(sum, "unfinished_ns")),
                              timeCell(number(sum, "max_ns")), timeCell(number(thread, "hold_ns"))});
    }
    const QJsonArray sites = lock.value(QLatin1String("sites")).toArray();
    for (const QJsonValue &value : sites) {
        const QJsonObject entry = value.toObject(), sum = entry.value(QLatin1String("waits")).toObject();
        const Site site = siteOf(entry.value(QLatin1String("site")).toObject());
        m_locks->addRow(row,
                        {Cell(site.label), Cell(QString()), count(number(sum, "count") + number(sum, "unfinished")),
                         timeCell(number(sum, "total_ns") + number(sum, "unfinished_ns")),
                         timeCell(number(sum, "max_ns")), timeCell(number(entry, "hold_ns"))},
                        site, 0);
    }
}

} // namespace upmu
