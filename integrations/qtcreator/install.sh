#!/usr/bin/env bash
# Puts Start, Stop and Detect Deadlock into Qt Creator's menu Tools > External > Concurrency Analyze.
#
#     integrations/qtcreator/install.sh [--settings FOLDER] [--uninstall]
#
# FOLDER is what Qt Creator is started with as -settingspath, by default ~/.config. Qt Creator reads it as it starts.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
settings=${XDG_CONFIG_HOME:-$HOME/.config}
uninstall=
while [ $# -gt 0 ]; do
    case $1 in
        --settings)
            settings=${2-}
            [ -n "$settings" ] || { echo "install: --settings wants a folder" >&2; exit 2; }
            shift
            ;;
        --uninstall) uninstall=yes ;;
        *)
            echo "usage: install.sh [--settings FOLDER] [--uninstall]" >&2
            exit 2
            ;;
    esac
    shift
done
tools=$settings/QtProject/qtcreator/externaltools

if [ -n "$uninstall" ]; then
    rm -f "$tools"/upmu-{start,stop,deadlock}.xml
    echo "Gone from $tools. Start Qt Creator again."
    exit
fi

# Text within XML
xml()
{
    sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g; s/"/\&quot;/g' <<<"$1"
}

# tool ID ORDER TITLE DESCRIPTION ARGUMENTS
tool()
{
    cat >"$tools/upmu-$1.xml" <<END
<?xml version="1.0" encoding="UTF-8"?>
<externaltool id="upmu-$1">
    <description>$4</description>
    <displayname>$3</displayname>
    <category>Concurrency Analyze</category>
    <order>$2</order>
    <executable output="showinpane" error="showinpane">
        <path>$(xml "$here/upmu-analyze")</path>
        <arguments>$1 "%{ActiveProject:BuildConfig:Path}"$5</arguments>
        <workingdirectory>%{ActiveProject:BuildConfig:Path}</workingdirectory>
        <baseEnvironmentId>ActiveProject:RunConfig:Env</baseEnvironmentId>
    </executable>
</externaltool>
END
}

mkdir -p "$tools"
tool start 1 "Start" "Runs the project's program and records its threads and locks" \
    ' "%{ActiveProject:RunConfig:Executable:FilePath}" "%{ActiveProject:RunConfig:WorkingDir}"'
tool stop 2 "Stop" "Ends the program and lists where its threads waited" ''
tool deadlock 3 "Detect Deadlock" "Lists deadlocks of the program that runs, or ran last" ''
command -v upmu >/dev/null || echo "install: there is no upmu in PATH yet; the menu needs it" >&2
echo "Installed in $tools. Start Qt Creator again; the menu is Tools > External > Concurrency Analyze."
