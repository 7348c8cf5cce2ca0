// SPDX-License-Identifier: MIT
// Tests of client and views, without Qt Creator: upmu_ide_test [QtTest's options], offscreen.
#include <QApplication>
#include <QtTest>

#include "test_ide.h"
#include "texts.h"

int main(int argc, char **argv)
{
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    upmu::setLanguage(upmu::Language::English);
    upmu::TestClient client;
    upmu::TestViews views;
    upmu::TestSession session;
    int failures = 0;
    for (QObject *test :
         {static_cast<QObject *>(&client), static_cast<QObject *>(&views), static_cast<QObject *>(&session)})
        failures += QTest::qExec(test, argc, argv);
    return failures == 0 ? 0 : 1;
}
