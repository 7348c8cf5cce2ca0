// SPDX-License-Identifier: MIT
// Tables and trees whose rows lead to source lines.
#include "site_tree.h"

#include <QFileInfo>
#include <QHash>
#include <QHeaderView>
#include <QPainter>
#include <QStyledItemDelegate>

namespace upmu
{

namespace
{

enum { SITE_ROLE = Qt::UserRole, NUMBER_ROLE, BAR_ROLE };

// Whether there is such a source file; those of the C library are not, as a rule. Tables have few files in many rows.
bool exists(const QString &file)
{
    static QHash<QString, bool> known;
    if (known.size() > 10000)
        known.clear();
    const auto found = known.constFind(file);
    return found != known.constEnd() ? *found : *known.insert(file, QFileInfo::exists(file));
}

// Rows that are sorted by numbers where there are some.
class Row : public QTreeWidgetItem
{
  public:
    using QTreeWidgetItem::QTreeWidgetItem;

    bool operator<(const QTreeWidgetItem &other) const override
    {
        const int column = treeWidget() ? treeWidget()->sortColumn() : 0;
        const QVariant a = data(column, NUMBER_ROLE), b = other.data(column, NUMBER_ROLE);
        return a.isValid() && b.isValid() ? a.toDouble() < b.toDouble() : text(column) < other.text(column);
    }
};

// Draws a share behind the text.
class BarDelegate : public QStyledItemDelegate
{
  public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        const QVariant bar = index.data(BAR_ROLE);
        if (bar.isValid()) {
            QRectF area = option.rect;
            area.setWidth(area.width() * qBound(0.0, bar.toDouble(), 1.0));
            painter->fillRect(area.adjusted(0, 2, 0, -2), QColor(214, 120, 40, 90));
        }
        QStyledItemDelegate::paint(painter, option, index);
    }
};

} // namespace

SiteTree::SiteTree(const QString &name, const QVector<Text> &columns, QWidget *parent) : QTreeWidget(parent)
{
    QStringList titles;
    for (const Text column : columns)
        titles << text(column);
    setObjectName(name);
    setColumnCount(static_cast<int>(titles.size()));
    setHeaderLabels(titles);
    setItemDelegate(new BarDelegate(this));
    setAlternatingRowColors(true);
    setUniformRowHeights(true);
    setTextElideMode(Qt::ElideMiddle);
    header()->setStretchLastSection(true);
    connect(this, &QTreeWidget::itemClicked, this, [this](QTreeWidgetItem *item, int) {
        const Site site = siteOfRow(item);
        if (site.isLine())
            emit siteActivated(site);
    });
}

Site SiteTree::siteOfRow(const QTreeWidgetItem *item)
{
    return item ? item->data(0, SITE_ROLE).value<Site>() : Site();
}

QTreeWidgetItem *SiteTree::addRow(QTreeWidgetItem *parent, const QVector<Cell> &cells, const Site &site, int siteColumn)
{
    auto *row = new Row;
    for (int i = 0; i < static_cast<int>(cells.size()); i++) {
        row->setText(i, cells[i].shown);
        row->setToolTip(i, cells[i].shown);
        if (cells[i].number.isValid()) {
            row->setData(i, NUMBER_ROLE, cells[i].number);
            row->setData(i, Qt::TextAlignmentRole, static_cast<int>(Qt::AlignRight | Qt::AlignVCenter));
        }
        if (cells[i].bar >= 0)
            row->setData(i, BAR_ROLE, cells[i].bar);
    }
    if (site.isLine() && exists(site.file)) {
        row->setData(0, SITE_ROLE, QVariant::fromValue(site));
        const int column = siteColumn < 0 ? 0 : siteColumn;
        row->setForeground(column, palette().link());
        row->setToolTip(column, QStringLiteral("%1:%2").arg(site.file).arg(site.line));
    }
    if (parent)
        parent->addChild(row);
    else
        addTopLevelItem(row);
    return row;
}

void SiteTree::addStack(QTreeWidgetItem *parent, const QVector<Site> &stack)
{
    for (const Site &site : stack)
        addRow(parent, {Cell(site.label)}, site, 0);
}

void SiteTree::fitColumns()
{
    enum { MIN_WIDTH = 40, MAX_WIDTH = 320 };
    for (int i = 0; i + 1 < columnCount(); i++) {
        resizeColumnToContents(i);
        setColumnWidth(i, qBound(static_cast<int>(MIN_WIDTH), columnWidth(i) + 8, static_cast<int>(MAX_WIDTH)));
    }
}

} // namespace upmu
