// SPDX-License-Identifier: MIT
// Tests of the views, with documents as the protocol has them.
#include <QLabel>
#include <QMouseEvent>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QtTest>

#include "deadlock_view.h"
#include "issues.h"
#include "lanes.h"
#include "live_view.h"
#include "overview_view.h"
#include "start_dialog.h"
#include "test_ide.h"
#include "timeline_view.h"

namespace upmu
{

namespace
{

// This file is a source file that exists.
QJsonObject location(const char *function, int line)
{
    const QJsonObject inner{{QStringLiteral("function"), QLatin1String(function)},
                            {QStringLiteral("file"), QLatin1String(UPMU_TEST_FILE)},
                            {QStringLiteral("line"), line},
                            {QStringLiteral("wrapper"), false}};
    const QJsonObject outer{{QStringLiteral("function"), QStringLiteral("lock")},
                            {QStringLiteral("file"), QStringLiteral("/nonexistent/lock.h")},
                            {QStringLiteral("line"), 7},
                            {QStringLiteral("wrapper"), true}};
    return {{QStringLiteral("module"), QStringLiteral("/bin/till")},
            {QStringLiteral("offset"), QStringLiteral("0x10")},
            {QStringLiteral("functions"), QJsonArray{outer, inner}}};
}

QJsonObject frame(const char *function, int line)
{
    return {{QStringLiteral("function"), QLatin1String(function)},
            {QStringLiteral("file"), QLatin1String(UPMU_TEST_FILE)},
            {QStringLiteral("line"), line},
            {QStringLiteral("module"), QStringLiteral("/bin/till")},
            {QStringLiteral("offset"), 16}};
}

QJsonObject deadlockThread(int tid, int holder, int wanted, int held)
{
    const QJsonObject hold{{QStringLiteral("lock"), held},
                           {QStringLiteral("description"), QStringLiteral("mutex m%1 (0x%1)").arg(held)},
                           {QStringLiteral("acquired_at"), QJsonArray{frame("taker", 20 + tid)}}};
    return {{QStringLiteral("tid"), tid},
            {QStringLiteral("name"), QStringLiteral("t%1").arg(tid)},
            {QStringLiteral("waits_for"), QStringLiteral("mutex")},
            {QStringLiteral("description"), QStringLiteral("waits for mutex m%1").arg(wanted)},
            {QStringLiteral("object"), wanted},
            {QStringLiteral("holder"), holder},
            {QStringLiteral("stack"), QJsonArray{frame("waiter", 10 + tid), frame("start", 99)}},
            {QStringLiteral("holds"), QJsonArray{hold}}};
}

QJsonArray deadlocks()
{
    return {
        QJsonObject{{QStringLiteral("headline"), QStringLiteral("3 threads wait for each other")},
                    {QStringLiteral("certainty"), QStringLiteral("certain")},
                    {QStringLiteral("threads"), QJsonArray{deadlockThread(1, 2, 12, 11), deadlockThread(2, 3, 13, 12),
                                                           deadlockThread(3, 1, 11, 13)}}}};
}

Report report()
{
    const QString begin = QStringLiteral("1795423512000000000"), end = QStringLiteral("1795423513000000000");
    Report r;
    r.overview = {{QStringLiteral("totals"), QJsonObject{{QStringLiteral("begin_ns"), begin},
                                                         {QStringLiteral("end_ns"), end},
                                                         {QStringLiteral("threads"), 2},
                                                         {QStringLiteral("objects"), 1},
                                                         {QStringLiteral("events"), 4120},
                                                         {QStringLiteral("lost"), 3}}},
                  {QStringLiteral("findings"),
                   QJsonArray{QJsonObject{{QStringLiteral("kind"), QStringLiteral("long-section")},
                                          {QStringLiteral("text"), QStringLiteral("42 % of the run waits for `till`")},
                                          {QStringLiteral("gain_ns"), 420000000},
                                          {QStringLiteral("site"), location("clerk", 33)},
                                          {QStringLiteral("stack"), QJsonArray{}}}}}};
    for (int tid = 1; tid <= 2; tid++)
        r.threads.append(
            QJsonObject{{QStringLiteral("tid"), tid},
                        {QStringLiteral("name"), QStringLiteral("clerk")},
                        {QStringLiteral("begin_ns"), begin},
                        {QStringLiteral("end_ns"), end},
                        {QStringLiteral("blocked_ns"), 250000000 * tid},
                        {QStringLiteral("waits"),
                         QJsonObject{{QStringLiteral("mutex"), QJsonObject{{QStringLiteral("count"), 9 * tid},
                                                                           {QStringLiteral("unfinished"), 1}}}}},
                        {QStringLiteral("switches"), QJsonObject{{QStringLiteral("value"), QJsonValue()}}}});
    const QJsonObject sum{{QStringLiteral("count"), 18}, {QStringLiteral("total_ns"), 750000000}};
    r.locks.append(QJsonObject{
        {QStringLiteral("type"), QStringLiteral("mutex")},
        {QStringLiteral("name"), QStringLiteral("till")},
        {QStringLiteral("address"), QStringLiteral("0xab")},
        {QStringLiteral("waits"), sum},
        {QStringLiteral("hold_ns"), 900000000},
        {QStringLiteral("longest"), QJsonObject{{QStringLiteral("ns"), 50000000},
                                                {QStringLiteral("holder_site"), location("holder", 44)},
                                                {QStringLiteral("holder_stack"), QJsonArray{location("holder", 44)}}}},
        {QStringLiteral("threads"),
         QJsonArray{QJsonObject{{QStringLiteral("tid"), 1}, {QStringLiteral("waits"), sum}}}},
        {QStringLiteral("sites"),
         QJsonArray{QJsonObject{{QStringLiteral("site"), location("clerk", 33)}, {QStringLiteral("waits"), sum}}}}});
    return r;
}

template <typename T> T *child(QWidget &parent, const char *name)
{
    auto *found = parent.findChild<T *>(QLatin1String(name));
    Q_ASSERT(found);
    return found;
}

void clickAt(QWidget *target, const QPoint &at)
{
    QTest::mouseClick(target, Qt::LeftButton, Qt::NoModifier, at);
}

} // namespace

void TestViews::textsOfBothLanguages()
{
    static const QRegularExpression holder(QStringLiteral("%[1-9]"));
    for (int i = 0; i < static_cast<int>(Text::Count); i++) {
        QStringList places[2];
        for (const Language language : {Language::English, Language::Chinese}) {
            const QString shown = text(static_cast<Text>(i), language);
            QVERIFY2(!shown.isEmpty() && !shown.contains(QChar::ReplacementCharacter), qPrintable(shown));
            auto matches = holder.globalMatch(shown);
            while (matches.hasNext())
                places[language == Language::Chinese] << matches.next().captured();
            places[language == Language::Chinese].sort();
        }
        QVERIFY2(places[0] == places[1], qPrintable(text(static_cast<Text>(i), Language::English)));
    }
    QCOMPARE(languageOf(QStringLiteral("zh_CN")), Language::Chinese);
    QCOMPARE(languageOf(QStringLiteral("de_DE")), Language::English);
    setLanguage(Language::Chinese);
    const LiveView view;
    const QString header = view.findChild<SiteTree *>(QStringLiteral("upmu.live.threads"))->headerItem()->text(0);
    setLanguage(Language::English);
    QCOMPARE(header, QString::fromUtf8("线程"));
}

void TestViews::numbersAsText()
{
    QCOMPARE(duration(1), QStringLiteral("1 ns"));
    QCOMPARE(duration(1250000), QStringLiteral("1.25 ms"));
    QCOMPARE(duration(38.5e6), QStringLiteral("38.5 ms"));
    QCOMPARE(duration(3.2e9), QStringLiteral("3.20 s"));
    QCOMPARE(duration(0), QStringLiteral("0"));
    QCOMPARE(percent(0.125), QStringLiteral("12.5 %"));
    QCOMPARE(amount(4120), QStringLiteral("4120"));
    QCOMPARE(amount(1.23e6), QStringLiteral("1.23 M"));
    QCOMPARE(wholeNumber(QStringLiteral("1795423512860212670")), 1795423512860212670LL);
    QCOMPARE(wholeNumber(QJsonValue()), 0);
}

void TestViews::wordsOfCommandLine()
{
    QStringList words;
    QVERIFY(splitWords(QStringLiteral(" a 'b c' \"d \\\" e\" f\\ g '' "), &words));
    QCOMPARE(words, (QStringList{QStringLiteral("a"), QStringLiteral("b c"), QStringLiteral("d \" e"),
                                 QStringLiteral("f g"), QString()}));
    QVERIFY(splitWords(QString(), &words) && words.isEmpty());
    QVERIFY(!splitWords(QStringLiteral("a 'b"), &words));
}

void TestViews::sitesOfReplies()
{
    const Site site = siteOf(location("clerk", 33));
    QCOMPARE(site.label, QStringLiteral("clerk test_views.cpp:33"));
    QCOMPARE(site.line, 33);
    const QVector<Site> stack = stackOf({location("clerk", 33)});
    QCOMPARE(stack.size(), qsizetype(2)); // the wrapper is a frame, but not the call site
    QCOMPARE(lineOf(stack).line, 33);     // the wrapper's file does not exist
    const QJsonObject bare{{QStringLiteral("module"), QStringLiteral("/bin/till")},
                           {QStringLiteral("offset"), QStringLiteral("0x10")}};
    QCOMPARE(siteOf(bare).label, QStringLiteral("till+0x10"));
    QVERIFY(!siteOf(bare).isLine());
    QVERIFY(siteOf({}).label.isEmpty());
}

void TestViews::clickEmitsSite()
{
    SiteTree tree(QStringLiteral("tree"), {Text::Thread, Text::Where});
    tree.resize(400, 200);
    tree.show();
    const Site site = siteOf(location("clerk", 33));
    tree.addRow(nullptr, {Cell(QStringLiteral("a")), Cell(site.label)}, site, 1);
    Site none = site;
    none.file = QStringLiteral("/nonexistent/file.c");
    tree.addRow(nullptr, {Cell(QStringLiteral("b")), Cell(site.label)}, none, 1);
    QSignalSpy spy(&tree, &SiteTree::siteActivated);
    for (int i = 0; i < 2; i++)
        clickAt(tree.viewport(), tree.visualItemRect(tree.topLevelItem(i)).center());
    QCOMPARE(spy.size(), 1); // a file that is not there is no link
    QCOMPARE(spy.first().first().value<Site>().line, 33);
}

void TestViews::numbersSortAsNumbers()
{
    SiteTree tree(QStringLiteral("tree"), {Text::Waits});
    tree.setSortingEnabled(true);
    for (const double n : {9.0, 100.0, 20.0})
        tree.addRow(nullptr, {Cell(amount(n), n)});
    tree.sortByColumn(0, Qt::DescendingOrder);
    QStringList order;
    for (int i = 0; i < tree.topLevelItemCount(); i++)
        order << tree.topLevelItem(i)->text(0);
    QCOMPARE(order, (QStringList{QStringLiteral("100"), QStringLiteral("20"), QStringLiteral("9")}));
}

void TestViews::liveWindow()
{
    LiveView view;
    QJsonObject top = jsonOf(R"({"interval_ns": 500000000, "deadlocks": [], "counters": [],
        "threads": [{"tid": 7, "name": "clerk", "running": 0.25, "preempted": 0, "blocked": 0.75, "voluntary": 100,
                     "involuntary": 20, "waits": 50, "waited_ns": 375000000,
                     "waits_for": {"type": "mutex", "name": "till", "site": "clerk x.c:3", "file": "/nonexistent", "line": 3}},
                    {"tid": 8, "name": "new", "running": null, "preempted": null, "blocked": null, "voluntary": null,
                     "involuntary": null, "waits": 0, "waited_ns": 250000000, "waits_for": null},
                    {"tid": 9, "name": "bare", "running": 0.5, "preempted": 0, "blocked": null, "voluntary": null,
                     "involuntary": null, "waits": null, "waited_ns": null, "waits_for": {"kind": "futex", "type": "call", "name": "futex"}}],
        "locks": [{"type": "mutex", "name": null, "address": "0xab", "waits": 30, "waited_ns": 100000000, "waiters": 2,
                   "holder": 7}]})");
    view.setUpdate(top);
    auto *threads = child<SiteTree>(view, "upmu.live.threads");
    QCOMPARE(threads->topLevelItemCount(), 3);
    const QTreeWidgetItem *row = threads->topLevelItem(0);
    QCOMPARE(row->text(4), QStringLiteral("75.0 %"));
    QCOMPARE(row->text(5), QStringLiteral("240")); // of both kinds, per second
    QCOMPARE(row->text(6), QStringLiteral("100"));
    QCOMPARE(row->text(7), QStringLiteral("mutex till"));
    QCOMPARE(threads->topLevelItem(1)->text(2), QStringLiteral("-")); // not known is not 0
    QCOMPARE(threads->topLevelItem(1)->text(4), QStringLiteral("50.0 %"));
    QCOMPARE(threads->topLevelItem(2)->text(4), QStringLiteral("-")); // only a recorder measures waits
    QCOMPARE(threads->topLevelItem(2)->text(7), QStringLiteral("call futex"));
    auto *locks = child<SiteTree>(view, "upmu.live.locks");
    QCOMPARE(locks->topLevelItem(0)->text(0), QStringLiteral("0xab"));
    QCOMPARE(locks->topLevelItem(0)->text(2), QStringLiteral("60"));
    QCOMPARE(locks->topLevelItem(0)->text(3), QStringLiteral("200 ms"));
    auto *banner = child<QLabel>(view, "upmu.live.deadlock");
    QVERIFY(banner->isHidden());
    auto *stopped = child<QLabel>(view, "upmu.live.stopped");
    QVERIFY(stopped->isHidden());
    top.insert(QStringLiteral("running"), true);
    top.insert(QStringLiteral("stopped_processes"), 1);
    view.setUpdate(top);
    QVERIFY(!stopped->isHidden());
    top.insert(QStringLiteral("stopped_processes"), 0);
    view.setUpdate(top);
    QVERIFY(stopped->isHidden());

    threads->setCurrentItem(threads->topLevelItem(1));
    top.insert(QStringLiteral("deadlocks"), jsonOf(R"({"d": [{"headline": "2 threads wait for each other",
        "threads": [{"tid": 7, "text": "thread 7 waits"}]}]})")
                                                .value(QStringLiteral("d")));
    view.setUpdate(top);
    QVERIFY(!banner->isHidden() && banner->text().contains(QStringLiteral("thread 7 waits")));
    QCOMPARE(threads->currentItem()->text(1), QStringLiteral("8")); // the selection is kept
    QCOMPARE(view.updates(), 4);
}

void TestViews::liveCounters()
{
    LiveView view;
    const auto update = [&view](const char *counters) {
        view.setUpdate(
            jsonOf(QByteArray(R"({"interval_ns": 2000000000, "counters": )").append(counters).append("}").constData()));
    };
    update(R"([{"name": "cycles", "total": {"value": 1000, "status": "exact"}}])");
    auto *counters = child<SiteTree>(view, "upmu.live.counters");
    QCOMPARE(counters->topLevelItem(0)->text(1), QStringLiteral("-"));
    update(R"([{"name": "cycles", "total": {"value": 5000, "status": "exact"}},
               {"name": "flops", "total": {"value": null, "status": "refused"}}])");
    QCOMPARE(counters->topLevelItem(0)->text(1), QStringLiteral("2000"));
    QCOMPARE(counters->topLevelItem(1)->text(2), QStringLiteral("refused"));
}

void TestViews::overview()
{
    OverviewView view;
    view.resize(900, 400);
    view.show();
    view.setReport(report());
    QCOMPARE(child<QLabel>(view, "upmu.overview.totals")->text(),
             QStringLiteral("2 threads, 1 locks, 4120 events 3 events were lost."));
    auto *findings = child<SiteTree>(view, "upmu.overview.findings");
    QCOMPARE(findings->topLevelItem(0)->text(0), QStringLiteral("420 ms"));
    QSignalSpy spy(&view, &OverviewView::siteActivated);
    clickAt(findings->viewport(), findings->visualItemRect(findings->topLevelItem(0)).center());
    QCOMPARE(spy.size(), 1);
    QCOMPARE(spy.first().first().value<Site>().line, 33);
    auto *threads = child<SiteTree>(view, "upmu.overview.threads");
    QCOMPARE(threads->topLevelItem(0)->text(1), QStringLiteral("2")); // the one that was blocked longest
    QCOMPARE(threads->topLevelItem(0)->text(4), QStringLiteral("50.0 %"));
    QCOMPARE(threads->topLevelItem(0)->text(5), QStringLiteral("19"));
    QCOMPARE(threads->topLevelItem(0)->text(6), QStringLiteral("-"));
    const QTreeWidgetItem *lock = child<SiteTree>(view, "upmu.overview.locks")->topLevelItem(0);
    QCOMPARE(lock->text(3), QStringLiteral("750 ms"));
    QCOMPARE(lock->text(6), QStringLiteral("holder test_views.cpp:44"));
    QCOMPARE(lock->childCount(), 2); // a thread and a call site
    QCOMPARE(SiteTree::siteOfRow(lock->child(1)).line, 33);
    // A thread that is joined has no name of its own.
    Report joins = report();
    joins.locks = {QJsonObject{{QStringLiteral("type"), QStringLiteral("thread")},
                               {QStringLiteral("name"), QJsonValue()},
                               {QStringLiteral("address"), QStringLiteral("0xab")},
                               {QStringLiteral("peer"), 2}}};
    view.setReport(joins);
    QCOMPARE(child<SiteTree>(view, "upmu.overview.locks")->topLevelItem(0)->text(0),
             QStringLiteral("Thread 2 (clerk)"));
    Report healthy = report();
    healthy.overview.insert(QStringLiteral("findings"), QJsonArray());
    view.setReport(healthy);
    QCOMPARE(findings->topLevelItem(0)->text(2), text(Text::NoFinding));
}

// A process without a recorder: no locks, but functions with their lines.
void TestViews::overviewOfSamples()
{
    OverviewView view;
    view.resize(900, 400);
    view.show();
    Report sampled;
    sampled.functions = jsonOf(QByteArray(R"({"functions": [
        {"name": "main", "module": "/bin/till", "offset": 1, "file": "FILE", "line": null, "self_samples": 0, "self_weight": 0,
         "samples": 4, "weight": 4000000},
        {"name": "work", "module": "/bin/till", "offset": 2, "file": "FILE", "line": 24, "self_samples": 3, "self_weight": 3000000,
         "samples": 3, "weight": 3000000},
        {"name": null, "module": "/lib/libc.so.6", "offset": 255, "file": null, "line": null, "self_samples": 1, "self_weight": 1000000,
         "samples": 1, "weight": 1000000}]})")
                                   .replace("FILE", UPMU_TEST_FILE)
                                   .constData())
                            .value(QStringLiteral("functions"))
                            .toArray();
    view.setReport(sampled);
    auto *functions = child<SiteTree>(view, "upmu.overview.functions");
    QVERIFY(functions->isVisible() && !child<SiteTree>(view, "upmu.overview.locks")->isVisible());
    QCOMPARE(child<QLabel>(view, "upmu.overview.totals")->text(), QStringLiteral("4 samples, 4.00 ms of CPU time"));
    const QTreeWidgetItem *work = functions->topLevelItem(0); // by what is spent in the function itself
    QCOMPARE(work->text(0), QStringLiteral("75.0 %"));
    QCOMPARE(work->text(3), QStringLiteral("work"));
    QCOMPARE(work->text(4), QStringLiteral("test_views.cpp:24"));
    QCOMPARE(SiteTree::siteOfRow(work).line, 24);
    QCOMPARE(functions->topLevelItem(1)->text(3), QStringLiteral("0xff"));
    QCOMPARE(functions->topLevelItem(1)->text(4), QStringLiteral("libc.so.6"));
    QCOMPARE(functions->topLevelItem(2)->text(1), QStringLiteral("100.0 %"));
    view.setReport(report());
    QVERIFY(!functions->isVisible() && child<SiteTree>(view, "upmu.overview.locks")->isVisible());
}

// Every pixel column of a lane has the color of the state at its time, at 200 random zooms.
void TestViews::lanesAtAnyZoom()
{
    quint32 random = 12345;
    const auto next = [&random](int below) {
        random = random * 1664525 + 1013904223;
        return static_cast<int>((random >> 8) % static_cast<quint32>(below));
    };
    const double length = 1e6;
    QVector<Span> spans;
    for (double at = 0; at < length;) {
        Span wait;
        wait.kind = Span::Wait;
        wait.begin = at + next(30000);
        wait.end = wait.begin + 2000 + next(40000);
        wait.waitKind = QLatin1String(next(2) ? "mutex" : "sleep");
        wait.row = static_cast<int>(spans.size());
        at = wait.end;
        spans.append(wait);
    }
    Lane lane;
    lane.name = QStringLiteral("clerk");
    lane.end = 2 * length;
    Lanes lanes;
    lanes.resize(750, 60);
    int checked = 0;
    for (int round = 0; round < 200; round++) {
        const double begin = next(900000), end = begin + 1000 + next(static_cast<int>(length - begin));
        lanes.setData({lane}, spans, begin, end, end);
        const QImage image = lanes.grab().toImage();
        const double perPixel = (end - begin) / 600;
        for (int i = 0; i < 30; i++) {
            const double time = begin + (end - begin) * (i + 0.5) / 30;
            const QPoint at = lanes.pointOf(0, time);
            const Span *state = nullptr;
            bool isEdge = false;
            for (const Span &span : spans) {
                isEdge |= qAbs(time - span.begin) < 2 * perPixel || qAbs(time - span.end) < 2 * perPixel;
                if (time >= span.begin && time <= span.end)
                    state = &span;
            }
            if (isEdge)
                continue;
            checked++;
            const QColor shown = image.pixelColor(at - QPoint(0, 4)); // beside the line of the thread's life
            const QColor expected = state ? Lanes::colorOf(*state) : lanes.palette().color(QPalette::Base);
            const bool isAxis = !state && shown == image.pixelColor(at.x(), 55); // its lines are as high as the widget
            QVERIFY2(shown == expected || isAxis, qPrintable(QStringLiteral("%1..%2 at %3: %4, not %5")
                                                                 .arg(begin)
                                                                 .arg(end)
                                                                 .arg(time)
                                                                 .arg(shown.name(), expected.name())));
        }
    }
    QVERIFY(checked > 2000);
}

void TestViews::lanesSelectStretch()
{
    Lane lane;
    lane.end = 1000;
    Span span;
    span.kind = Span::Wait;
    span.begin = 400;
    span.end = 600;
    span.row = 5;
    Lanes lanes;
    lanes.resize(650, 60);
    lanes.setData({lane}, {span}, 0, 1000, 1000);
    lanes.show();
    QSignalSpy rows(&lanes, &Lanes::rowSelected), stretches(&lanes, &Lanes::stretchSelected);
    clickAt(&lanes, lanes.pointOf(0, 500));
    QCOMPARE(rows.size(), 1);
    QCOMPARE(rows.first().first().toInt(), 5);
    QTest::mousePress(&lanes, Qt::LeftButton, Qt::NoModifier, lanes.pointOf(0, 200));
    QTest::mouseMove(&lanes, lanes.pointOf(0, 700));
    QMouseEvent move(QEvent::MouseMove, lanes.pointOf(0, 700), lanes.mapToGlobal(lanes.pointOf(0, 700)), Qt::LeftButton,
                     Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&lanes, &move);
    QTest::mouseRelease(&lanes, Qt::LeftButton, Qt::NoModifier, lanes.pointOf(0, 700));
    QCOMPARE(stretches.size(), 1);
    QVERIFY(qAbs(stretches.first().at(0).toDouble() - 200) < 5 && qAbs(stretches.first().at(1).toDouble() - 700) < 5);
}

void TestViews::timelineTable()
{
    TimelineView view;
    QVector<TimelineFilter> asked;
    connect(&view, &TimelineView::rowsWanted, this, [&asked](const TimelineFilter &filter) { asked.append(filter); });
    view.setReport(report());
    QCOMPARE(asked.size(), qsizetype(1));
    QCOMPARE(asked.first().type, QStringLiteral("wait,region"));
    QVERIFY(asked.first().begin.isEmpty());
    const QJsonObject row{{QStringLiteral("kind"), QStringLiteral("wait")},
                          {QStringLiteral("thread"), report().threads.first()},
                          {QStringLiteral("begin_ns"), QStringLiteral("1795423512250000000")},
                          {QStringLiteral("end_ns"), QStringLiteral("1795423512500000000")},
                          {QStringLiteral("waits_for"), QStringLiteral("mutex")},
                          {QStringLiteral("object"), report().locks.first()},
                          {QStringLiteral("holder"), report().threads.last()},
                          {QStringLiteral("site"), location("clerk", 33)},
                          {QStringLiteral("stack"), QJsonArray{location("clerk", 33)}}};
    view.setRows({row}, 9);
    QCOMPARE(child<QLabel>(view, "upmu.timeline.count")->text(),
             text2(Text::PartOf, QStringLiteral("1"), QStringLiteral("9")));
    auto *table = child<SiteTree>(view, "upmu.timeline.rows");
    QCOMPARE(table->topLevelItem(0)->text(0), QStringLiteral("0.250000000"));
    QCOMPARE(table->topLevelItem(0)->text(1), QStringLiteral("250 ms"));
    QCOMPARE(table->topLevelItem(0)->text(5), QStringLiteral("clerk 2"));
    table->setCurrentItem(table->topLevelItem(0));
    QCOMPARE(child<SiteTree>(view, "upmu.timeline.stack")->topLevelItemCount(), 2);
    emit view.lanes()->stretchSelected(1e8, 6e8);
    QCOMPARE(asked.last().begin, QStringLiteral("0.100000000"));
    QCOMPARE(asked.last().end, QStringLiteral("0.600000000"));
}

void TestViews::ringOfThreads()
{
    DeadlockView view;
    view.resize(900, 400);
    view.show();
    view.setDeadlocks(deadlocks());
    const QVector<Ring::Node> nodes = view.ring()->nodes();
    QCOMPARE(nodes.size(), qsizetype(3));
    QCOMPARE(nodes[0].holder, 1);
    QCOMPARE(nodes[2].holder, 0);
    QCOMPARE(nodes[0].object, QStringLiteral("mutex m12")); // the name is where its holder has it
    for (int i = 0; i < 3; i++) {
        QVERIFY(view.ring()->rect().contains(view.ring()->areaOf(i).toAlignedRect()));
        for (int k = 0; k < i; k++)
            QVERIFY(!view.ring()->areaOf(i).intersects(view.ring()->areaOf(k)));
    }
    auto *tree = child<SiteTree>(view, "upmu.deadlock.tree");
    clickAt(view.ring(), view.ring()->areaOf(1).center().toPoint());
    QVERIFY(tree->currentItem() && tree->currentItem()->text(0).contains(QStringLiteral("Thread 2 (t2)")));
    view.setDeadlocks({});
    QCOMPARE(child<QLabel>(view, "upmu.deadlock.summary")->text(), text(Text::NoDeadlock));
    QVERIFY(view.ring()->nodes().isEmpty());
}

void TestViews::issuesOfDeadlocks()
{
    const QVector<Issue> issues = deadlockIssues(deadlocks());
    QCOMPARE(issues.size(), qsizetype(3));
    QCOMPARE(issues[0].kind, Issue::Error);
    QCOMPARE(issues[0].site.line, 11);
    QCOMPARE(issues[0].summary, QStringLiteral("Deadlock: thread 1 (t1) waits for mutex m12"));
    QVERIFY(issues[0].details.contains(QStringLiteral("  start test_views.cpp:99"))); // the full stack
    QVERIFY(issues[0].details.contains(QStringLiteral("  taker test_views.cpp:21")));
    QCOMPARE(taskLine(issues[0]),
             QStringLiteral("%1\t11\terr\t%2\n").arg(QLatin1String(UPMU_TEST_FILE), issues[0].summary));
}

void TestViews::issuesOfReport()
{
    const QVector<Issue> issues = reportIssues(report());
    QCOMPARE(issues.size(), qsizetype(2)); // the finding, the lock
    QCOMPARE(issues[0].site.line, 33);
    QCOMPARE(issues[1].kind, Issue::Warning);
    QCOMPARE(issues[1].site.line, 44);
    QVERIFY(issues[1].summary.contains(QStringLiteral("750 ms")));
    QCOMPARE(reportIssues({}).size(), qsizetype(0));
}

} // namespace upmu
