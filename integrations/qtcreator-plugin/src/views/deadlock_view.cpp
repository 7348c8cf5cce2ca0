// SPDX-License-Identifier: MIT
// Deadlocks: ring and tree.
#include "deadlock_view.h"

#include <cmath>

#include <QMouseEvent>
#include <QPainter>
#include <QScrollArea>
#include <QSplitter>
#include <QVBoxLayout>

#include "serve_client.h"

namespace upmu
{

namespace
{

enum { NODE_WIDTH = 150, NODE_HEIGHT = 30, RING_MIN = 260 };

QString threadName(const QJsonObject &thread)
{
    return text2(Text::ThreadName, QString::number(wholeNumber(thread.value(QLatin1String("tid")))),
                 thread.value(QLatin1String("name")).toString());
}

// Where a line from `from`, within `area`, in the direction `d` leaves it.
QPointF borderPoint(const QRectF &area, const QPointF &from, const QPointF &d)
{
    const double x = (d.x() > 0 ? area.right() : area.left()) - from.x();
    const double y = (d.y() > 0 ? area.bottom() : area.top()) - from.y();
    return from + d * qMin(std::fabs(d.x()) > 1e-9 ? x / d.x() : 1e9, std::fabs(d.y()) > 1e-9 ? y / d.y() : 1e9);
}

QString waitKind(const QJsonObject &thread)
{
    return thread.value(QLatin1String("waits_for")).toString();
}

} // namespace

Ring::Ring(QWidget *parent) : QWidget(parent)
{
    setObjectName(QStringLiteral("upmu.deadlock.ring"));
    setMinimumSize(sizeHint());
}

QSize Ring::sizeHint() const
{
    const int n = static_cast<int>(m_nodes.size());
    return {NODE_WIDTH * 2 + 40 + n * 12, RING_MIN + qMax(0, n - 4) * 40};
}

void Ring::setNodes(const QVector<Node> &nodes)
{
    m_nodes = nodes;
    setMinimumSize(sizeHint());
    update();
}

QRectF Ring::areaOf(int node) const
{
    const double pi = std::acos(-1.0),
                 angle = -pi / 2 + 2 * pi * node / qMax<double>(1, static_cast<double>(m_nodes.size()));
    const QPointF center(width() / 2.0, height() / 2.0);
    const QPointF at = center + QPointF(std::cos(angle) * (width() / 2.0 - NODE_WIDTH / 2.0 - 8),
                                        std::sin(angle) * (height() / 2.0 - NODE_HEIGHT));
    return {at.x() - NODE_WIDTH / 2.0, at.y() - NODE_HEIGHT / 2.0, NODE_WIDTH, NODE_HEIGHT};
}

void Ring::paintArrow(QPainter &painter, int from) const
{
    const Node &node = m_nodes[from];
    if (node.holder < 0 || node.holder == from)
        return;
    // Two threads that wait for each other have an arrow each: both are moved to their right.
    const QRectF a = areaOf(from), b = areaOf(node.holder);
    const QPointF d = b.center() - a.center();
    const double length = qMax(1.0, std::hypot(d.x(), d.y()));
    const QPointF along = d / length, side = QPointF(-d.y(), d.x()) / length * 10;
    const QPointF start = borderPoint(a, a.center() + side, along);
    const QPointF tip = borderPoint(b, b.center() + side, -along);
    const QPointF across(-along.y(), along.x());
    painter.setPen(QPen(QColor(0xb3, 0x13, 0x1b), 2, node.isBehind ? Qt::DashLine : Qt::SolidLine));
    painter.drawLine(start, tip);
    painter.setBrush(QColor(0xb3, 0x13, 0x1b));
    painter.drawPolygon(QPolygonF({tip, tip - along * 10 + across * 5, tip - along * 10 - across * 5}));
    const QPointF middle = (start + tip) / 2;
    QRectF label = painter.fontMetrics().boundingRect(node.object).adjusted(-4, -2, 4, 2);
    label.moveCenter(middle + side * (0.6 + label.width() / 40 * std::fabs(across.x())));
    painter.setPen(palette().color(QPalette::Text));
    painter.drawText(label, Qt::AlignCenter, node.object);
}

void Ring::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(rect(), palette().color(QPalette::Base));
    for (int i = 0; i < static_cast<int>(m_nodes.size()); i++)
        paintArrow(painter, i);
    for (int i = 0; i < static_cast<int>(m_nodes.size()); i++) {
        const QRectF area = areaOf(i);
        painter.setPen(QPen(m_nodes[i].isBehind ? palette().color(QPalette::Mid) : QColor(0xb3, 0x13, 0x1b), 2));
        painter.setBrush(palette().color(QPalette::AlternateBase));
        painter.drawRoundedRect(area, 6, 6);
        painter.setPen(palette().color(QPalette::Text));
        painter.drawText(area.adjusted(4, 0, -4, 0), Qt::AlignCenter,
                         painter.fontMetrics().elidedText(m_nodes[i].name, Qt::ElideMiddle, NODE_WIDTH - 8));
    }
}

void Ring::mousePressEvent(QMouseEvent *event)
{
    for (int i = 0; i < static_cast<int>(m_nodes.size()); i++)
        if (areaOf(i).contains(event->pos()))
            emit nodeClicked(i);
}

DeadlockView::DeadlockView(QWidget *parent) : QWidget(parent)
{
    m_summary = new QLabel(this);
    m_summary->setObjectName(QStringLiteral("upmu.deadlock.summary"));
    m_summary->setMargin(4);
    m_ring = new Ring;
    auto *area = new QScrollArea(this);
    area->setWidget(m_ring);
    area->setWidgetResizable(true);
    m_tree = new SiteTree(QStringLiteral("upmu.deadlock.tree"), {Text::Deadlock}, this);
    auto *all = new QSplitter(Qt::Horizontal, this);
    all->addWidget(area);
    all->addWidget(m_tree);
    all->setStretchFactor(0, 1);
    all->setStretchFactor(1, 1);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_summary);
    layout->addWidget(all, 1);
    connect(m_tree, &SiteTree::siteActivated, this, &DeadlockView::siteActivated);
    connect(m_tree, &QTreeWidget::currentItemChanged, this, [this](QTreeWidgetItem *item) {
        while (item && item->parent())
            item = item->parent();
        const int row = item ? m_tree->indexOfTopLevelItem(item) : -1;
        if (row >= 0 && row < m_deadlocks.size())
            showRing(row);
    });
    connect(m_ring, &Ring::nodeClicked, this, [this](int node) {
        QTreeWidgetItem *deadlock = m_tree->topLevelItem(m_shown);
        QTreeWidgetItem *thread = deadlock ? deadlock->child(node) : nullptr;
        if (thread) {
            thread->setExpanded(true);
            m_tree->setCurrentItem(thread);
        }
    });
}

void DeadlockView::clear()
{
    m_deadlocks = {};
    m_shown = -1;
    m_tree->clear();
    m_ring->setNodes({});
    m_summary->clear();
}

void DeadlockView::setDeadlocks(const QJsonArray &deadlocks, const QJsonArray &inversions)
{
    clear();
    m_deadlocks = deadlocks;
    for (const QJsonValue &value : deadlocks)
        addDeadlock(value.toObject());
    for (const QJsonValue &value : inversions)
        addInversion(value.toObject());
    if (deadlocks.isEmpty()) {
        m_summary->setText(text(Text::NoDeadlock));
    } else {
        m_summary->setText(
            text1(Text::DeadlockFound, deadlocks.first().toObject().value(QLatin1String("headline")).toString()));
        showRing(0);
    }
    m_summary->setStyleSheet(
        deadlocks.isEmpty() ? QString() : QStringLiteral("background: #b3131b; color: white; font-weight: bold"));
}

void DeadlockView::addDeadlock(const QJsonObject &deadlock)
{
    QString headline = deadlock.value(QLatin1String("headline")).toString();
    if (deadlock.value(QLatin1String("certainty")).toString() != QLatin1String("certain"))
        headline += QStringLiteral(" (%1)").arg(text(Text::Possible));
    QTreeWidgetItem *row = m_tree->addRow(nullptr, {Cell(headline)});
    row->setForeground(0, QColor(0xb3, 0x13, 0x1b));
    const QJsonArray threads = deadlock.value(QLatin1String("threads")).toArray();
    for (const QJsonValue &thread : threads)
        addThread(row, thread.toObject());
    row->setExpanded(true);
}

void DeadlockView::addThread(QTreeWidgetItem *parent, const QJsonObject &thread)
{
    const QVector<Site> stack = framesOf(thread.value(QLatin1String("stack")).toArray());
    const Site site = lineOf(stack);
    QTreeWidgetItem *row = m_tree->addRow(
        parent,
        {Cell(QStringLiteral("%1 %2: %3")
                  .arg(threadName(thread), thread.value(QLatin1String("description")).toString(), site.label))},
        site);
    const QJsonArray holds = thread.value(QLatin1String("holds")).toArray();
    for (const QJsonValue &value : holds) {
        const QJsonObject hold = value.toObject();
        const QVector<Site> taken = framesOf(hold.value(QLatin1String("acquired_at")).toArray());
        const Site at = lineOf(taken);
        QString line = text1(Text::Holds, hold.value(QLatin1String("description")).toString());
        if (!at.label.isEmpty())
            line += QStringLiteral(", ") + text1(Text::AcquiredAt, at.label);
        m_tree->addStack(m_tree->addRow(row, {Cell(line)}, at), taken);
    }
    QTreeWidgetItem *frames = m_tree->addRow(row, {Cell(text(Text::CallStack))});
    m_tree->addStack(frames, stack);
    row->setExpanded(true);
    frames->setExpanded(true);
}

void DeadlockView::addInversion(const QJsonObject &inversion)
{
    QTreeWidgetItem *row =
        m_tree->addRow(nullptr, {Cell(text1(Text::Inversion, inversion.value(QLatin1String("headline")).toString()))});
    const QJsonArray acquisitions = inversion.value(QLatin1String("acquisitions")).toArray();
    for (const QJsonValue &value : acquisitions) {
        const QJsonObject step = value.toObject();
        const QVector<Site> stack = framesOf(step.value(QLatin1String("stack")).toArray());
        const QVector<Site> held = framesOf(step.value(QLatin1String("held_stack")).toArray());
        const QString wanted =
            step.value(QLatin1String("acquires")).toObject().value(QLatin1String("description")).toString();
        const QString has =
            step.value(QLatin1String("holds")).toObject().value(QLatin1String("description")).toString();
        const Site site = lineOf(stack), at = lineOf(held);
        QTreeWidgetItem *taken = m_tree->addRow(
            row, {Cell(QStringLiteral("%1: %2").arg(wanted, text1(Text::AcquiredAt, site.label)))}, site);
        m_tree->addStack(taken, stack);
        m_tree->addStack(
            m_tree->addRow(
                row, {Cell(text1(Text::Holds, has) + QStringLiteral(", ") + text1(Text::AcquiredAt, at.label))}, at),
            held);
    }
}

void DeadlockView::showRing(int deadlock)
{
    m_shown = deadlock;
    QVector<Ring::Node> nodes;
    QVector<qint64> tids;
    const QJsonArray threads = m_deadlocks[deadlock].toObject().value(QLatin1String("threads")).toArray();
    for (const QJsonValue &thread : threads)
        tids.append(wholeNumber(thread.toObject().value(QLatin1String("tid"))));
    // What a thread waits for has its name where the holder's holds are listed.
    QHash<qint64, QString> objects;
    for (const QJsonValue &thread : threads) {
        const QJsonArray holds = thread.toObject().value(QLatin1String("holds")).toArray();
        for (const QJsonValue &hold : holds)
            objects.insert(
                wholeNumber(hold.toObject().value(QLatin1String("lock"))),
                hold.toObject().value(QLatin1String("description")).toString().section(QLatin1String(" ("), 0, 0));
    }
    for (const QJsonValue &value : threads) {
        const QJsonObject thread = value.toObject();
        Ring::Node node;
        node.name = threadName(thread);
        node.holder = static_cast<int>(tids.indexOf(wholeNumber(thread.value(QLatin1String("holder")))));
        node.object = objects.value(wholeNumber(thread.value(QLatin1String("object"))), waitKind(thread));
        node.isBehind = thread.value(QLatin1String("behind")).toBool();
        nodes.append(node);
    }
    m_ring->setNodes(nodes);
}

} // namespace upmu
