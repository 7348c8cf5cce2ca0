// SPDX-License-Identifier: MIT
/** @file Source locations and call stacks of replies. */
#ifndef UPMU_IDE_SITE_H
#define UPMU_IDE_SITE_H

#include <QJsonArray>
#include <QJsonObject>
#include <QMetaType>
#include <QString>
#include <QVector>

namespace upmu
{

/** A source line; `file` is empty where only a function or a module is known. */
struct Site {
    QString file;
    int line = 0;
    QString label; /**< "function file.c:12" */
    bool isLine() const
    {
        return !file.isEmpty() && line > 0;
    }
};

/** A location of `upmu report --json`: the innermost function that is not a wrapper. */
Site siteOf(const QJsonObject &location);
/** A stack of `upmu report --json`, innermost first; inlined functions are frames of their own. */
QVector<Site> stackOf(const QJsonArray &stack);
/** A stack of `upmu deadlock --json`, innermost first. */
QVector<Site> framesOf(const QJsonArray &frames);
/** The first frame with a file that exists, else the first with a line, else the first. */
Site lineOf(const QVector<Site> &stack);
/** "  function file.c:12" per frame. */
QStringList linesOf(const QVector<Site> &stack);

} // namespace upmu

Q_DECLARE_METATYPE(upmu::Site)

#endif
