// SPDX-License-Identifier: MIT
// Source locations and call stacks of replies.
#include "site.h"

#include <QFileInfo>
#include <QStringList>

namespace upmu
{

namespace
{

Site siteFrom(const QJsonObject &frame, const QString &module, const QString &offset)
{
    Site site;
    site.file = frame.value(QLatin1String("file")).toString();
    site.line = frame.value(QLatin1String("line")).toInt();
    const QString function = frame.value(QLatin1String("function")).toString();
    const QString name = QFileInfo(site.file).fileName();
    if (site.isLine())
        site.label = QStringLiteral("%1 %2:%3").arg(function, name).arg(site.line).trimmed();
    else if (!function.isEmpty())
        site.label = function;
    else if (!module.isEmpty())
        site.label = QStringLiteral("%1+%2").arg(QFileInfo(module).fileName(), offset);
    else
        site.label = QStringLiteral("?");
    return site;
}

QString offsetOf(const QJsonValue &value)
{
    return value.isString() ? value.toString()
                            : QStringLiteral("0x%1").arg(static_cast<qulonglong>(value.toDouble()), 0, 16);
}

QVector<Site> functionsOf(const QJsonObject &location, bool leaveWrappersOut)
{
    QVector<Site> sites;
    const QString module = location.value(QLatin1String("module")).toString();
    const QString offset = offsetOf(location.value(QLatin1String("offset")));
    const QJsonArray functions = location.value(QLatin1String("functions")).toArray();
    for (const QJsonValue &function : functions)
        if (!leaveWrappersOut || !function.toObject().value(QLatin1String("wrapper")).toBool())
            sites.append(siteFrom(function.toObject(), module, offset));
    if (sites.isEmpty() && !location.isEmpty())
        sites.append(siteFrom(functions.isEmpty() ? QJsonObject() : functions.first().toObject(), module, offset));
    return sites;
}

} // namespace

Site siteOf(const QJsonObject &location)
{
    return location.isEmpty() ? Site() : functionsOf(location, true).constFirst();
}

QVector<Site> stackOf(const QJsonArray &stack)
{
    QVector<Site> sites;
    for (const QJsonValue &location : stack)
        sites += functionsOf(location.toObject(), false);
    return sites;
}

QVector<Site> framesOf(const QJsonArray &frames)
{
    QVector<Site> sites;
    for (const QJsonValue &value : frames) {
        const QJsonObject frame = value.toObject();
        sites.append(siteFrom(frame, frame.value(QLatin1String("module")).toString(),
                              offsetOf(frame.value(QLatin1String("offset")))));
    }
    return sites;
}

Site lineOf(const QVector<Site> &stack)
{
    for (const Site &site : stack)
        if (site.isLine() && QFileInfo::exists(site.file))
            return site;
    for (const Site &site : stack)
        if (site.isLine())
            return site;
    return stack.isEmpty() ? Site() : stack.constFirst();
}

QStringList linesOf(const QVector<Site> &stack)
{
    QStringList lines;
    for (const Site &site : stack)
        lines << QStringLiteral("  ") + site.label;
    return lines;
}

} // namespace upmu
