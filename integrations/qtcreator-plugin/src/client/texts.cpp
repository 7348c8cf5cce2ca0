// SPDX-License-Identifier: MIT
// Message catalogue of the plugin, and numbers as text.
#include "texts.h"

#include <cmath>

#include <QLocale>

namespace upmu
{

namespace
{

struct Pair {
    const char *english, *chinese;
};

const Pair pairs[] = {
#define UPMU_TEXT(name, english, chinese) {english, chinese},
#include "texts/common.inc"
#include "texts/plugin.inc"
#undef UPMU_TEXT
};

bool isChosen = false;
Language chosen = Language::English;

} // namespace

void setLanguage(Language language)
{
    isChosen = true;
    chosen = language;
}

Language languageOf(const QString &locale)
{
    return locale.startsWith(QLatin1String("zh")) ? Language::Chinese : Language::English;
}

Language language()
{
    return isChosen ? chosen : languageOf(QLocale().name());
}

QString text(Text id, Language language)
{
    const Pair &pair = pairs[static_cast<int>(id)];
    return QString::fromUtf8(language == Language::Chinese ? pair.chinese : pair.english);
}

QString text(Text id)
{
    return text(id, language());
}

QString text1(Text id, const QString &first)
{
    return text(id).arg(first);
}

// The form of arg() with several arguments does not replace within what it has put in.
QString text2(Text id, const QString &first, const QString &second)
{
    return text(id).arg(first, second);
}

QString text3(Text id, const QString &first, const QString &second, const QString &third)
{
    return text(id).arg(first, second, third);
}

QString duration(double ns)
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
    for (const auto &unit : units)
        if (std::fabs(ns) >= unit.ns) {
            const double value = ns / unit.ns;
            const int digits = unit.ns == 1 || std::fabs(value) >= 99.95 ? 0 : std::fabs(value) >= 9.995 ? 1 : 2;
            return QStringLiteral("%1 %2").arg(QString::number(value, 'f', digits), QString::fromUtf8(unit.unit));
        }
    return QStringLiteral("0");
}

QString percent(double share)
{
    return share < 0 ? QStringLiteral("-") : QStringLiteral("%1 %").arg(QString::number(share * 100, 'f', 1));
}

QString amount(double value)
{
    if (std::fabs(value) < 99999.5)
        return QLocale::c().toString(static_cast<qlonglong>(std::llround(value)));
    static const char prefixes[] = "kMGTPE";
    int i = -1;
    for (; std::fabs(value) >= 999.5 && i < 5; i++)
        value /= 1000;
    return QStringLiteral("%1 %2").arg(QString::number(value, 'g', 3), QString(QLatin1Char(prefixes[i])));
}

} // namespace upmu
