// SPDX-License-Identifier: MIT
/** @file Tables and trees whose rows lead to source lines. */
#ifndef UPMU_IDE_SITE_TREE_H
#define UPMU_IDE_SITE_TREE_H

#include <QTreeWidget>

#include "site.h"
#include "texts.h"

namespace upmu
{

/** A cell that is sorted by its number. */
struct Cell {
    QString shown;
    QVariant number;                        /**< invalid: sorted by the text */
    double bar = -1;                        /**< share that is drawn behind the text; negative: none */
    Cell(const QString &text) : shown(text) // NOLINT(google-explicit-constructor)
    {
    }
    Cell(const QString &text, double value, double share = -1) : shown(text), number(value), bar(share)
    {
    }
};

/** A tree of rows with an optional source line each. A click on a row that has one emits siteActivated(). */
class SiteTree : public QTreeWidget
{
    Q_OBJECT

  public:
    SiteTree(const QString &name, const QVector<Text> &columns, QWidget *parent = nullptr);

    /** @param parent NULL: at the top */
    QTreeWidgetItem *addRow(QTreeWidgetItem *parent, const QVector<Cell> &cells, const Site &site = {},
                            int siteColumn = -1);
    /** A row of one text, and the frames of a stack below it. */
    void addStack(QTreeWidgetItem *parent, const QVector<Site> &stack);
    static Site siteOfRow(const QTreeWidgetItem *item);
    /** Width of the columns by their contents, within limits. */
    void fitColumns();

  signals:
    void siteActivated(const Site &site);
};

} // namespace upmu

#endif
