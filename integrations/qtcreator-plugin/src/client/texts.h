// SPDX-License-Identifier: MIT
/** @file Message catalogue of the plugin: every text that it shows, in English and Chinese. */
#ifndef UPMU_IDE_TEXTS_H
#define UPMU_IDE_TEXTS_H

#include <QString>

namespace upmu
{

enum class Text {
#ifndef Q_MOC_RUN // moc cannot read them, and does not need them
#define UPMU_TEXT(name, english, chinese) name,
#include "texts/common.inc"
#include "texts/plugin.inc"
#undef UPMU_TEXT
#endif
    Count
};

/** Of text(): that of the application's locale until setLanguage(). */
enum class Language { English, Chinese };
void setLanguage(Language language);
Language language();
/** "zh_CN" and the like are Chinese, anything else is English. */
Language languageOf(const QString &locale);

QString text(Text id);
/** In a given language, for the tests. */
QString text(Text id, Language language);
/** With %1. */
QString text1(Text id, const QString &first);
/** With %1 and %2. */
QString text2(Text id, const QString &first, const QString &second);
/** With %1 to %3. */
QString text3(Text id, const QString &first, const QString &second, const QString &third);

/** "1.25 ms", "3.2 s": three digits. */
QString duration(double ns);
/** "12.5 %"; a dash for a negative share. */
QString percent(double share);
/** "1,234" below 100,000, then "1.2 M". */
QString amount(double value);

} // namespace upmu

#endif
