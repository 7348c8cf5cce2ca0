// SPDX-License-Identifier: MIT
/** @file Deadlocks: the ring of threads and locks, and each thread with its stack and what it holds. */
#ifndef UPMU_IDE_DEADLOCK_VIEW_H
#define UPMU_IDE_DEADLOCK_VIEW_H

#include <QJsonArray>
#include <QLabel>
#include <QWidget>

#include "site_tree.h"

namespace upmu
{

/** Threads of one deadlock in a circle; an arrow leads from a waiter to the holder, with the lock's name. */
class Ring : public QWidget
{
    Q_OBJECT

  public:
    struct Node {
        QString name;
        int holder = -1;       /**< index of the node that it waits for */
        QString object;        /**< what it waits for */
        bool isBehind = false; /**< waits for a member of the cycle, but is none itself */
    };

    explicit Ring(QWidget *parent = nullptr);
    void setNodes(const QVector<Node> &nodes);
    const QVector<Node> &nodes() const
    {
        return m_nodes;
    }
    QRectF areaOf(int node) const;
    QSize sizeHint() const override;

  signals:
    void nodeClicked(int node);

  protected:
    void paintEvent(QPaintEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;

  private:
    void paintArrow(QPainter &painter, int from) const;

    QVector<Node> m_nodes;
};

class DeadlockView : public QWidget
{
    Q_OBJECT

  public:
    explicit DeadlockView(QWidget *parent = nullptr);
    void setDeadlocks(const QJsonArray &deadlocks, const QJsonArray &inversions = {});
    void clear();
    Ring *ring() const
    {
        return m_ring;
    }

  signals:
    void siteActivated(const Site &site);

  private:
    void addDeadlock(const QJsonObject &deadlock);
    void addThread(QTreeWidgetItem *parent, const QJsonObject &thread);
    void addInversion(const QJsonObject &inversion);
    void showRing(int deadlock);

    QLabel *m_summary;
    Ring *m_ring;
    SiteTree *m_tree;
    QJsonArray m_deadlocks;
    int m_shown = -1;
};

} // namespace upmu

#endif
