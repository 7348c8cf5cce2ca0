// SPDX-License-Identifier: MIT
// Timeline of a recording.
#include "timeline_view.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSplitter>
#include <QVBoxLayout>

namespace upmu
{

namespace
{

QString nameOf(const QJsonObject &object)
{
    const QString name = object.value(QLatin1String("name")).toString();
    return name.isEmpty() ? object.value(QLatin1String("address")).toString() : name;
}

QString seconds(double ns)
{
    return QString::number(qMax(0.0, ns) / 1e9, 'f', 9);
}

QString threadLabel(const QJsonObject &thread)
{
    return QStringLiteral("%1 %2")
        .arg(thread.value(QLatin1String("name")).toString())
        .arg(wholeNumber(thread.value(QLatin1String("tid"))));
}

} // namespace

TimelineView::TimelineView(QWidget *parent) : QWidget(parent)
{
    m_types = new QComboBox(this);
    m_types->setObjectName(QStringLiteral("upmu.timeline.types"));
    m_types->addItem(text(Text::WaitsAndRegions), QStringLiteral("wait,region"));
    m_types->addItem(text(Text::AllRows), QString());
    m_threads = new QComboBox(this);
    m_locks = new QComboBox(this);
    m_count = new QLabel(this);
    m_count->setObjectName(QStringLiteral("upmu.timeline.count"));
    auto *whole = new QPushButton(text(Text::WholeRun), this);
    m_lanes = new Lanes;
    auto *area = new QScrollArea(this);
    area->setWidget(m_lanes);
    area->setWidgetResizable(true);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_table = new SiteTree(
        QStringLiteral("upmu.timeline.rows"),
        {Text::Time, Text::Duration, Text::Thread, Text::Event, Text::Object, Text::Holder, Text::Where}, this);
    m_table->setRootIsDecorated(false);
    m_stack = new SiteTree(QStringLiteral("upmu.timeline.stack"), {Text::CallStack}, this);
    m_stack->setRootIsDecorated(false);

    auto *bar = new QHBoxLayout;
    for (QWidget *widget : {static_cast<QWidget *>(m_types), static_cast<QWidget *>(m_threads),
                            static_cast<QWidget *>(m_locks), static_cast<QWidget *>(whole)})
        bar->addWidget(widget);
    bar->addWidget(m_count, 1);
    auto *below = new QSplitter(Qt::Horizontal, this);
    below->addWidget(m_table);
    below->addWidget(m_stack);
    below->setStretchFactor(0, 3);
    below->setStretchFactor(1, 1);
    auto *all = new QSplitter(Qt::Vertical, this);
    all->addWidget(area);
    all->addWidget(below);
    all->setSizes({1000, 1000}); // of equal height
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addLayout(bar);
    layout->addWidget(all, 1);

    for (QComboBox *box : {m_types, m_threads, m_locks})
        connect(box, static_cast<void (QComboBox::*)(int)>(&QComboBox::currentIndexChanged), this, &TimelineView::ask);
    const auto showAll = [this] {
        m_begin = 0;
        m_end = m_length;
        ask();
    };
    connect(whole, &QPushButton::clicked, this, showAll);
    connect(m_lanes, &Lanes::wholeRunSelected, this, showAll);
    connect(m_lanes, &Lanes::stretchSelected, this, [this](double begin, double end) {
        m_begin = begin;
        m_end = qMin(end, m_length);
        ask();
    });
    connect(m_lanes, &Lanes::rowSelected, this,
            [this](int row) { m_table->setCurrentItem(m_table->topLevelItem(row)); });
    connect(m_table, &QTreeWidget::currentItemChanged, this,
            [this](QTreeWidgetItem *item) { showRow(item ? m_table->indexOfTopLevelItem(item) : -1); });
    connect(m_table, &SiteTree::siteActivated, this, &TimelineView::siteActivated);
    connect(m_stack, &SiteTree::siteActivated, this, &TimelineView::siteActivated);
}

void TimelineView::clear()
{
    const QSignalBlocker threads(m_threads), locks(m_locks);
    m_threads->clear();
    m_locks->clear();
    m_table->clear();
    m_stack->clear();
    m_count->clear();
    m_all.clear();
    m_tids.clear();
    m_rows = {};
    m_lanes->setData({}, {}, 0, 1, 1);
}

void TimelineView::setReport(const Report &report)
{
    clear();
    const QJsonObject totals = report.overview.value(QLatin1String("totals")).toObject();
    m_start = wholeNumber(totals.value(QLatin1String("begin_ns")));
    m_length = static_cast<double>(wholeNumber(totals.value(QLatin1String("end_ns"))) - m_start);
    m_begin = 0;
    m_end = m_length;
    {
        const QSignalBlocker threads(m_threads), locks(m_locks);
        m_threads->addItem(text(Text::AnyThread), QString());
        m_locks->addItem(text(Text::AnyLock), QString());
        for (const QJsonValue &value : report.threads) {
            const QJsonObject thread = value.toObject();
            const qint64 tid = wholeNumber(thread.value(QLatin1String("tid")));
            Lane lane;
            lane.name = threadLabel(thread);
            lane.begin = static_cast<double>(wholeNumber(thread.value(QLatin1String("begin_ns"))) - m_start);
            lane.end = static_cast<double>(wholeNumber(thread.value(QLatin1String("end_ns"))) - m_start);
            m_all.append(lane);
            m_tids.append(tid);
            m_threads->addItem(lane.name, QString::number(tid));
        }
        for (const QJsonValue &value : report.locks)
            m_locks->addItem(nameOf(value.toObject()), value.toObject().value(QLatin1String("address")).toString());
    }
    if (m_start > 0)
        ask();
}

void TimelineView::ask()
{
    TimelineFilter filter;
    filter.type = m_types->currentData().toString();
    filter.thread = m_threads->currentData().toString();
    filter.lock = m_locks->currentData().toString();
    if (m_begin > 0)
        filter.begin = seconds(m_begin);
    if (m_end < m_length)
        filter.end = seconds(m_end);
    emit rowsWanted(filter);
}

int TimelineView::laneOf(const QJsonObject &thread)
{
    return static_cast<int>(m_tids.indexOf(wholeNumber(thread.value(QLatin1String("tid")))));
}

void TimelineView::setRows(const QJsonArray &rows, qint64 total)
{
    QVector<Span> spans;
    double loaded = m_begin;
    m_rows = rows;
    m_table->setUpdatesEnabled(false);
    m_table->clear();
    m_stack->clear();
    for (int i = 0; i < static_cast<int>(rows.size()); i++) {
        const QJsonObject row = rows[i].toObject();
        const QString kind = row.value(QLatin1String("kind")).toString();
        Span span;
        span.lane = laneOf(row.value(QLatin1String("thread")).toObject());
        span.begin = static_cast<double>(wholeNumber(row.value(QLatin1String("begin_ns"))) - m_start);
        span.end = static_cast<double>(wholeNumber(row.value(QLatin1String("end_ns"))) - m_start);
        span.kind = kind == QLatin1String("wait")     ? Span::Wait
                    : kind == QLatin1String("region") ? Span::Region
                                                      : Span::Point;
        span.waitKind = row.value(QLatin1String("waits_for")).toString();
        span.row = i;
        loaded = qMax(loaded, span.begin);
        if (span.lane >= 0)
            spans.append(span);
        addRow(row);
    }
    const bool isAll = total <= rows.size();
    m_table->fitColumns();
    m_table->setUpdatesEnabled(true);
    m_count->setText(
        isAll ? text1(Text::AllOf, amount(static_cast<double>(total)))
              : text2(Text::PartOf, amount(static_cast<double>(rows.size())), amount(static_cast<double>(total))));
    m_lanes->setData(m_all, spans, m_begin, m_end, isAll ? m_end : loaded);
}

void TimelineView::addRow(const QJsonObject &row)
{
    const double begin = static_cast<double>(wholeNumber(row.value(QLatin1String("begin_ns"))) - m_start);
    const double length = static_cast<double>(wholeNumber(row.value(QLatin1String("end_ns"))) - m_start) - begin;
    const QJsonObject holder = row.value(QLatin1String("holder")).toObject();
    const QString waits = row.value(QLatin1String("waits_for")).toString();
    const QString said = row.value(QLatin1String("text")).toString();
    const Site site = siteOf(row.value(QLatin1String("site")).toObject());
    m_table->addRow(nullptr,
                    {Cell(seconds(begin), begin), length > 0 ? Cell(duration(length), length) : Cell(QString()),
                     Cell(threadLabel(row.value(QLatin1String("thread")).toObject())),
                     Cell(waits.isEmpty() ? row.value(QLatin1String("event")).toString() : text1(Text::WaitOf, waits)),
                     Cell(said.isEmpty() ? nameOf(row.value(QLatin1String("object")).toObject()) : said),
                     Cell(holder.isEmpty() ? QString() : threadLabel(holder)), Cell(site.label)},
                    site, 6);
}

void TimelineView::showRow(int number)
{
    m_stack->clear();
    m_lanes->select(number);
    if (number >= 0)
        m_stack->addStack(nullptr, stackOf(m_rows[number].toObject().value(QLatin1String("stack")).toArray()));
}

} // namespace upmu
