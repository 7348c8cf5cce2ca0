// SPDX-License-Identifier: MIT
/** @file Painted lanes of threads over time: waits by kind, regions, and events. */
#ifndef UPMU_IDE_LANES_H
#define UPMU_IDE_LANES_H

#include <QString>
#include <QVector>
#include <QWidget>

namespace upmu
{

/** A row of the timeline as it is drawn. Times are nanoseconds since the start of the recording. */
struct Span {
    enum Kind { Wait, Region, Point };
    int lane = 0;
    double begin = 0, end = 0;
    Kind kind = Point;
    QString waitKind; /**< "mutex", "cond", "sleep", ... of a wait */
    int row = 0;
};

/** A thread; its life is drawn as a thin line. */
struct Lane {
    QString name;
    double begin = 0, end = 0;
};

class Lanes : public QWidget
{
    Q_OBJECT

  public:
    explicit Lanes(QWidget *parent = nullptr);

    /** @param loaded the end of what `spans` cover: beyond it nothing is known */
    void setData(const QVector<Lane> &lanes, const QVector<Span> &spans, double begin, double end, double loaded);
    void select(int row);
    double viewBegin() const
    {
        return m_begin;
    }
    double viewEnd() const
    {
        return m_end;
    }
    /** Color of a wait of that kind: locks, conditions, sleeps and input each have theirs. */
    static QColor colorOf(const Span &span);
    /** Where a time of a lane is drawn, for the tests. */
    QPoint pointOf(int lane, double ns) const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  signals:
    void stretchSelected(double begin, double end);
    void wholeRunSelected();
    void rowSelected(int row);

  protected:
    void paintEvent(QPaintEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void wheelEvent(QWheelEvent *event) override;
    bool event(QEvent *event) override;

  private:
    double timeAt(double x) const;
    double xOf(double ns) const;
    const Span *spanAt(const QPoint &at) const;
    void paintAxis(QPainter &painter) const;
    void paintLane(QPainter &painter, int lane) const;
    void paintSpan(QPainter &painter, const Span &span) const;

    QVector<Lane> m_lanes;
    QVector<Span> m_spans;
    double m_begin = 0, m_end = 1, m_loaded = 1;
    int m_selected = -1, m_from = -1, m_to = -1;
};

} // namespace upmu

#endif
