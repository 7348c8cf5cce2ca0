// SPDX-License-Identifier: MIT
// Issues of an IDE.
#include "issues.h"

#include "texts.h"

namespace upmu
{

namespace
{

QString threadNumber(const QJsonObject &thread)
{
    return QString::number(wholeNumber(thread.value(QLatin1String("tid"))));
}

Issue threadIssue(const QJsonObject &thread)
{
    Issue issue;
    const QVector<Site> stack = framesOf(thread.value(QLatin1String("stack")).toArray());
    issue.kind = Issue::Error;
    issue.site = lineOf(stack);
    issue.summary = text3(Text::IssueThreadWaits, threadNumber(thread), thread.value(QLatin1String("name")).toString(),
                          thread.value(QLatin1String("description")).toString());
    issue.details = linesOf(stack);
    const QJsonArray holds = thread.value(QLatin1String("holds")).toArray();
    for (const QJsonValue &value : holds) {
        const QJsonObject hold = value.toObject();
        const QVector<Site> taken = framesOf(hold.value(QLatin1String("acquired_at")).toArray());
        issue.details << text1(Text::Holds, hold.value(QLatin1String("description")).toString()) +
                             QStringLiteral(", ") + text1(Text::AcquiredAt, lineOf(taken).label);
        issue.details += linesOf(taken);
    }
    return issue;
}

Issue inversionIssue(const QJsonObject &inversion)
{
    Issue issue;
    issue.summary = text1(Text::Inversion, inversion.value(QLatin1String("headline")).toString());
    const QJsonArray acquisitions = inversion.value(QLatin1String("acquisitions")).toArray();
    for (const QJsonValue &value : acquisitions) {
        const QJsonObject step = value.toObject();
        const QVector<Site> stack = framesOf(step.value(QLatin1String("stack")).toArray());
        if (!issue.site.isLine())
            issue.site = lineOf(stack);
        issue.details
            << step.value(QLatin1String("acquires")).toObject().value(QLatin1String("description")).toString();
        issue.details += linesOf(stack);
    }
    return issue;
}

bool lockIssue(const QJsonObject &lock, Issue *issue)
{
    const QJsonObject waits = lock.value(QLatin1String("waits")).toObject();
    const QJsonObject longest = lock.value(QLatin1String("longest")).toObject();
    const qint64 count =
        wholeNumber(waits.value(QLatin1String("count"))) + wholeNumber(waits.value(QLatin1String("unfinished")));
    const double total = static_cast<double>(wholeNumber(waits.value(QLatin1String("total_ns"))) +
                                             wholeNumber(waits.value(QLatin1String("unfinished_ns"))));
    const Site held = siteOf(longest.value(QLatin1String("holder_site")).toObject());
    const QString name = lock.value(QLatin1String("name")).toString();
    const QVector<Site> stack = stackOf(longest.value(QLatin1String("holder_stack")).toArray());
    // Sleeps and ends of threads are waits too, but no locks that could be held for less time.
    if (count == 0 || held.label.isEmpty())
        return false;
    issue->site = lineOf(QVector<Site>{held} + stack);
    issue->summary = text(Text::IssueContention)
                         .arg(amount(static_cast<double>(count)), duration(total),
                              name.isEmpty() ? lock.value(QLatin1String("address")).toString() : name, held.label);
    issue->details = linesOf(stack);
    return true;
}

} // namespace

QVector<Issue> deadlockIssues(const QJsonArray &deadlocks)
{
    QVector<Issue> issues;
    for (const QJsonValue &deadlock : deadlocks) {
        const QJsonArray threads = deadlock.toObject().value(QLatin1String("threads")).toArray();
        for (const QJsonValue &thread : threads)
            issues.append(threadIssue(thread.toObject()));
    }
    return issues;
}

QVector<Issue> reportIssues(const Report &report, int most)
{
    QVector<Issue> issues;
    const QJsonArray findings = report.overview.value(QLatin1String("findings")).toArray();
    for (const QJsonValue &value : findings) {
        const QJsonObject finding = value.toObject();
        Issue issue;
        issue.summary = finding.value(QLatin1String("text")).toString();
        const QVector<Site> stack = stackOf(finding.value(QLatin1String("stack")).toArray());
        issue.site = lineOf(QVector<Site>{siteOf(finding.value(QLatin1String("site")).toObject())} + stack);
        issue.details = linesOf(stack);
        if (finding.value(QLatin1String("kind")).toString() != QLatin1String("deadlock"))
            issues.append(issue);
    }
    int n = 0;
    for (const QJsonValue &lock : report.locks) { // by their waits: upmu report sorts them so
        Issue issue;
        if (n < most && lockIssue(lock.toObject(), &issue)) {
            issues.append(issue);
            n++;
        }
    }
    for (const QJsonValue &inversion : report.inversions)
        issues.append(inversionIssue(inversion.toObject()));
    return issues;
}

QString taskLine(const Issue &issue)
{
    const auto field = [](QString value) {
        return value.replace(QLatin1Char('\t'), QLatin1Char(' ')).replace(QLatin1Char('\n'), QLatin1Char(' '));
    };
    return QStringLiteral("%1\t%2\t%3\t%4\n")
        .arg(field(issue.site.file), issue.site.isLine() ? QString::number(issue.site.line) : QString(),
             QLatin1String(issue.kind == Issue::Error ? "err" : "warn"), field(issue.summary));
}

} // namespace upmu
