// SPDX-License-Identifier: MIT
/** @file The HTML report in a web view, where the build has a web engine; else a link to the browser. */
#ifndef UPMU_IDE_PAGE_VIEW_H
#define UPMU_IDE_PAGE_VIEW_H

#include <QLabel>
#include <QWidget>

class QWebEngineView;

namespace upmu
{

class PageView : public QWidget
{
    Q_OBJECT

  public:
    explicit PageView(QWidget *parent = nullptr);

    static bool hasEngine();
    /** Show the report of `upmu export -f html`. */
    void setFile(const QString &path);
    void clear();

  signals:
    /** The page is visible, and has no file yet. */
    void fileWanted();

  protected:
    void showEvent(QShowEvent *event) override;

  private:
    QWebEngineView *m_view = nullptr; /**< made when the page is shown first: the engine is a process of its own */
    QLabel *m_link;
    QString m_path;
};

} // namespace upmu

#endif
