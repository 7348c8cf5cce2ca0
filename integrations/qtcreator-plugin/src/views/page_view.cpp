// SPDX-License-Identifier: MIT
// The HTML report in a web view.
#include "page_view.h"

#include <QDesktopServices>
#include <QPushButton>
#include <QUrl>
#include <QVBoxLayout>

#ifdef UPMU_WEB_ENGINE
#include <QWebEnginePage>
#include <QWebEngineProfile>
#include <QWebEngineView>
#endif

#include "texts.h"

namespace upmu
{

PageView::PageView(QWidget *parent) : QWidget(parent)
{
    auto *open = new QPushButton(text(Text::OpenPage), this);
    m_link = new QLabel(this);
    m_link->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto *bar = new QHBoxLayout;
    bar->addWidget(open);
    bar->addWidget(m_link, 1);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addLayout(bar);
    if (!hasEngine())
        layout->addStretch(1);
    connect(open, &QPushButton::clicked, this, [this] {
        if (!m_path.isEmpty())
            QDesktopServices::openUrl(QUrl::fromLocalFile(m_path));
    });
}

bool PageView::hasEngine()
{
#ifdef UPMU_WEB_ENGINE
    return true;
#else
    return false;
#endif
}

void PageView::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    if (m_path.isEmpty())
        emit fileWanted();
}

void PageView::setFile(const QString &path)
{
    m_path = path;
    m_link->setText(path);
#ifdef UPMU_WEB_ENGINE
    if (!m_view) {
        m_view = new QWebEngineView(this);
        m_view->setObjectName(QStringLiteral("upmu.page.view"));
        // A profile without files: the page is a local file, and keeps nothing.
        m_view->setPage(new QWebEnginePage(new QWebEngineProfile(m_view), m_view));
        static_cast<QVBoxLayout *>(layout())->addWidget(m_view, 1);
    }
    QUrl address = QUrl::fromLocalFile(path);
    address.setFragment(language() == Language::Chinese ? QStringLiteral("lang=zh") : QStringLiteral("lang=en"));
    m_view->load(address);
#endif
}

void PageView::clear()
{
    m_path.clear();
    m_link->clear();
#ifdef UPMU_WEB_ENGINE
    if (m_view)
        m_view->setUrl(QUrl(QStringLiteral("about:blank")));
#endif
}

} // namespace upmu
