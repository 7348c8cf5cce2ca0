// SPDX-License-Identifier: MIT
/**
 * @file
 * Declaration of Qt Creator's plugin interface: distributions ship its libraries without their headers.
 *
 * A plugin is a QObject of this class; Qt Creator calls it through the table of virtual functions, whose order is what matters
 * here. Up to Qt Creator 9 it ends with createTestObjects(); 10 added the two functions behind it. The functions that are not
 * defined here are in Qt Creator's libExtensionSystem, which is loaded before any plugin.
 */
#ifndef UPMU_CREATOR_IPLUGIN_H
#define UPMU_CREATOR_IPLUGIN_H

#include <QObject>
#include <QString>
#include <QStringList>
#include <QVector>

namespace ExtensionSystem
{

namespace Internal
{
class IPluginPrivate;
}

class Q_DECL_IMPORT IPlugin : public QObject
{
    // As the macro Q_OBJECT without the functions that moc writes: Qt Creator has them.
  public:
    enum ShutdownFlag { SynchronousShutdown, AsynchronousShutdown };

    static const QMetaObject staticMetaObject;
    const QMetaObject *metaObject() const override;
    void *qt_metacast(const char *name) override;
    int qt_metacall(QMetaObject::Call call, int id, void **arguments) override;

    IPlugin();
    ~IPlugin() override;

    virtual bool initialize(const QStringList &arguments, QString *errorString) = 0;
    virtual void extensionsInitialized()
    {
    }
    virtual bool delayedInitialize()
    {
        return false;
    }
    virtual ShutdownFlag aboutToShutdown()
    {
        return SynchronousShutdown;
    }
    virtual QObject *remoteCommand(const QStringList &, const QString &, const QStringList &)
    {
        return nullptr;
    }
    virtual QVector<QObject *> createTestObjects() const;
#if UPMU_CREATOR_MAJOR >= 10
    virtual void tryCreateObjects();

  protected:
    virtual void initialize()
    {
    }
#endif

  private:
    Internal::IPluginPrivate *d;
};

} // namespace ExtensionSystem

#endif
