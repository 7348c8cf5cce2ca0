// SPDX-License-Identifier: MIT
// Painted lanes of threads over time.
#include "lanes.h"

#include <cmath>

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>

#include "texts.h"

namespace upmu
{

namespace
{

enum { NAMES = 150, AXIS = 22, LANE = 20, BAR = 12, DRAG_MIN = 4 };

// The step of the axis: 1, 2 or 5 times a power of ten.
double niceStep(double least)
{
    const double power = std::pow(10, std::floor(std::log10(qMax(least, 1e-9))));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= least)
            return factor * power;
    return 10 * power;
}

QPoint eventPoint(const QMouseEvent *event)
{
#if QT_VERSION >= QT_VERSION_CHECK(6, 0, 0)
    return event->position().toPoint();
#else
    return event->pos();
#endif
}

} // namespace

Lanes::Lanes(QWidget *parent) : QWidget(parent)
{
    setObjectName(QStringLiteral("upmu.timeline.lanes"));
    setToolTip(text(Text::LanesHelp));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::MinimumExpanding);
}

QSize Lanes::sizeHint() const
{
    return {600, AXIS + LANE * static_cast<int>(qMax<qsizetype>(m_lanes.size(), 1))};
}

QSize Lanes::minimumSizeHint() const
{
    return {NAMES + 100, sizeHint().height()};
}

void Lanes::setData(const QVector<Lane> &lanes, const QVector<Span> &spans, double begin, double end, double loaded)
{
    m_lanes = lanes;
    m_spans = spans;
    m_begin = begin;
    m_end = qMax(end, begin + 1);
    m_loaded = loaded;
    m_selected = -1;
    updateGeometry();
    update();
}

void Lanes::select(int row)
{
    m_selected = row;
    update();
}

QColor Lanes::colorOf(const Span &span)
{
    if (span.kind == Span::Region)
        return QColor(0x4c, 0x8c, 0xc8);
    if (span.kind == Span::Point)
        return QColor(0x55, 0x55, 0x55);
    if (span.waitKind == QLatin1String("sleep"))
        return QColor(0x9a, 0xa5, 0xb1);
    for (const char *kind : {"poll", "signal", "read", "write", "child"})
        if (span.waitKind == QLatin1String(kind))
            return QColor(0x6f, 0x9f, 0x8c);
    for (const char *kind : {"cond", "sem", "barrier", "join", "once", "futex"})
        if (span.waitKind == QLatin1String(kind))
            return QColor(0xd9, 0xa5, 0x1e);
    return QColor(0xd0, 0x55, 0x28); // mutexes, rwlocks, spin locks
}

double Lanes::timeAt(double x) const
{
    return m_begin + (x - NAMES) / qMax(1, width() - NAMES) * (m_end - m_begin);
}

double Lanes::xOf(double ns) const
{
    return NAMES + (ns - m_begin) / (m_end - m_begin) * (width() - NAMES);
}

QPoint Lanes::pointOf(int lane, double ns) const
{
    return {static_cast<int>(xOf(ns)), AXIS + lane * LANE + LANE / 2};
}

const Span *Lanes::spanAt(const QPoint &at) const
{
    const Span *best = nullptr;
    for (const Span &span : m_spans) {
        const double left = xOf(span.begin) - 2, right = xOf(span.end) + 2;
        const int top = AXIS + span.lane * LANE;
        if (at.y() >= top && at.y() < top + LANE && at.x() >= left && at.x() <= right &&
            (!best || span.end - span.begin <= best->end - best->begin))
            best = &span;
    }
    return best;
}

void Lanes::paintAxis(QPainter &painter) const
{
    const double step = niceStep((m_end - m_begin) / qMax(1, (width() - NAMES) / 90));
    painter.setPen(palette().color(QPalette::Mid));
    for (double at = std::ceil(m_begin / step) * step; at <= m_end; at += step) {
        const int x = static_cast<int>(xOf(at));
        painter.setPen(palette().color(QPalette::Mid));
        painter.drawLine(x, AXIS - 4, x, height());
        painter.setPen(palette().color(QPalette::Text));
        painter.drawText(QRect(x + 3, 0, 90, AXIS), Qt::AlignVCenter | Qt::AlignLeft, duration(at));
    }
}

void Lanes::paintSpan(QPainter &painter, const Span &span) const
{
    // Clipped on both sides: what is outside of the view has no width in it.
    const double left = qMax<double>(NAMES, xOf(span.begin)), right = qMin<double>(width(), xOf(span.end));
    if (span.end < m_begin || span.begin > m_end)
        return;
    const int top = AXIS + span.lane * LANE + (LANE - BAR) / 2;
    if (span.kind == Span::Point) {
        painter.fillRect(QRectF(left, top - 2, 1, BAR + 4), colorOf(span));
        return;
    }
    const int inset = span.kind == Span::Region ? BAR / 2 : 0; // regions are in the lower half, waits cover it all
    const QRectF bar(left, top + inset, qMax(1.0, right - left), BAR - inset);
    painter.fillRect(bar, colorOf(span));
    if (span.row == m_selected) {
        painter.setPen(QPen(palette().color(QPalette::Text), 2));
        painter.drawRect(bar.adjusted(0, -1, 0, 1));
    }
}

void Lanes::paintLane(QPainter &painter, int lane) const
{
    const int middle = AXIS + lane * LANE + LANE / 2;
    const Lane &thread = m_lanes[lane];
    painter.setPen(palette().color(QPalette::Text));
    painter.drawText(QRect(4, AXIS + lane * LANE, NAMES - 8, LANE), Qt::AlignVCenter | Qt::AlignLeft,
                     painter.fontMetrics().elidedText(thread.name, Qt::ElideMiddle, NAMES - 8));
    const double left = qMax<double>(NAMES, xOf(thread.begin)), right = qMin<double>(width(), xOf(thread.end));
    if (right > left)
        painter.fillRect(QRectF(left, middle - 1, right - left, 2), QColor(0x3b, 0x9c, 0x4a));
}

void Lanes::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.fillRect(rect(), palette().color(QPalette::Base));
    paintAxis(painter);
    for (int i = 0; i < static_cast<int>(m_lanes.size()); i++)
        paintLane(painter, i);
    for (const Span::Kind kind : {Span::Region, Span::Wait, Span::Point})
        for (const Span &span : m_spans)
            if (span.kind == kind)
                paintSpan(painter, span);
    if (m_loaded < m_end) {
        const QRectF rest(xOf(m_loaded), AXIS, width() - xOf(m_loaded), height() - AXIS);
        painter.fillRect(rest, palette().color(QPalette::Base));
        painter.fillRect(rest, QBrush(palette().color(QPalette::Mid), Qt::BDiagPattern));
        painter.setPen(palette().color(QPalette::Text));
        painter.drawText(rest, Qt::AlignCenter, text(Text::NotLoaded));
    }
    if (m_from >= 0)
        painter.fillRect(QRect(qMin(m_from, m_to), 0, qAbs(m_to - m_from), height()), QColor(70, 120, 220, 60));
}

void Lanes::mousePressEvent(QMouseEvent *event)
{
    if (event->button() == Qt::LeftButton && eventPoint(event).x() >= NAMES)
        m_from = m_to = eventPoint(event).x();
}

void Lanes::mouseMoveEvent(QMouseEvent *event)
{
    if (m_from < 0)
        return;
    m_to = qBound(static_cast<int>(NAMES), eventPoint(event).x(), width());
    update();
}

void Lanes::mouseReleaseEvent(QMouseEvent *event)
{
    if (m_from < 0)
        return;
    const int from = qMin(m_from, m_to), to = qMax(m_from, m_to);
    m_from = m_to = -1;
    update();
    if (to - from >= DRAG_MIN) {
        emit stretchSelected(timeAt(from), timeAt(to));
    } else if (const Span *span = spanAt(eventPoint(event))) {
        const int row = span->row;
        select(row);
        emit rowSelected(row);
    }
}

void Lanes::mouseDoubleClickEvent(QMouseEvent *)
{
    m_from = m_to = -1;
    emit wholeRunSelected();
}

void Lanes::wheelEvent(QWheelEvent *event)
{
#if QT_VERSION >= QT_VERSION_CHECK(5, 14, 0)
    const double x = event->position().x();
#else
    const double x = event->posF().x();
#endif
    const double steps = event->angleDelta().y() / 120.0;
    if (steps == 0 || x < NAMES || !(event->modifiers() & Qt::ControlModifier)) {
        event->ignore(); // the wheel alone scrolls
        return;
    }
    const double at = timeAt(x), factor = std::pow(0.7, steps);
    emit stretchSelected(qMax(0.0, at - (at - m_begin) * factor), at + (m_end - at) * factor);
    event->accept();
}

bool Lanes::event(QEvent *event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto *help = static_cast<QHelpEvent *>(event);
    const Span *span = spanAt(help->pos());
    const QString line =
        !span ? text(Text::LanesHelp) : QStringLiteral("%1 %2").arg(span->waitKind, duration(span->end - span->begin));
    QToolTip::showText(help->globalPos(), line, this);
    return true;
}

} // namespace upmu
