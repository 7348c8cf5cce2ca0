# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154,SC2034 # variables go from file to file
# Packages of other architectures and suites, from the Debian mirror that this machine is configured with, through an apt
# of our own whose whole state lies under $guests/apt: the machine's packages and lists are neither used nor changed.
# Sourced after lib.sh, which has skip() and $guests.

# The name of the machine's own release.
release()
{
    sed -n 's/^VERSION_CODENAME=//p' /etc/os-release
}

# The mirror's address of the machine's own release, whichever form its sources have.
debian_mirror()
{
    # shellcheck disable=SC2016 # apt fills these in
    apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
        awk -v release="$(release)" '$2 == release && $3 == "main" { print $1; exit }'
}

# debian_apt STATE COMMAND ARG...: apt-get or apt-cache with the state made by debian_state
debian_apt()
{
    local state=$1 command=$2
    shift 2
    "$command" -o Dir::Etc="$state/etc" -o Dir::Etc::sourcelist="$state/etc/sources.list" \
        -o Dir::Etc::sourceparts=/dev/null -o Dir::State="$state/state" -o Dir::State::status="$state/status" \
        -o Dir::Cache="$state/cache" -o APT::Architecture="$(cat "$state/arch")" \
        -o APT::Architectures="$(cat "$state/arch")" -o Acquire::Languages=none -o Acquire::Retries=2 \
        -o Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false -o APT::Sandbox::User=root -qq "$@"
}

# debian_state deb|deb-src ARCH SUITE...: prints the folder of a state whose package lists are there, and not older than
# a day: packages of a moving suite vanish from the mirror. Fails where the mirror does not have them.
debian_state()
{
    local kind=$1 arch=$2 suite mirror keys=/usr/share/keyrings/debian-archive-keyring.gpg signed=
    shift 2
    local state=$guests/apt/$kind-$arch-${*// /-}
    state=${state// /-}
    if [ -n "$(find "$state/ready" -mmin -1440 2>/dev/null)" ]; then
        echo "$state"
        return
    fi
    mirror=$(debian_mirror)
    if [ -z "$mirror" ]; then
        echo "no Debian mirror is configured here" >&2
        return 1
    fi
    mkdir -p "$state"/state/lists/partial "$state"/cache/archives/partial "$state"/etc/{preferences.d,apt.conf.d}
    : >>"$state/status"
    echo "$arch" >"$state/arch"
    [ ! -e "$keys" ] || signed=" signed-by=$keys"
    for suite in "$@"; do
        echo "$kind [arch=$arch$signed] $mirror $suite main"
    done >"$state/etc/sources.list"
    debian_apt "$state" apt-get update >&2 || return 1
    touch "$state/ready"
    echo "$state"
}

# debian_package STATE PACKAGE: prints the path of the package's file, downloaded unless an earlier run has it
debian_package()
{
    local state=$1 package=$2 name
    name=$(debian_apt "$state" apt-get download --print-uris "$package" | awk 'NR == 1 { print $2 }')
    [ -n "$name" ] || return 1
    mkdir -p "$guests/packages"
    if [ ! -s "$guests/packages/$name" ]; then
        (cd "$guests/packages" && debian_apt "$state" apt-get download "$package") >&2 || return 1
    fi
    echo "$guests/packages/$name"
}

# debian_depends STATE PACKAGE PATTERN: the first dependency that matches, which names what a metapackage stands for
# now
debian_depends()
{
    debian_apt "$1" apt-cache depends "$2" | awk -v pattern="$3" '$1 == "Depends:" && $2 ~ pattern { print $2; exit }'
}

# debian_tree FOLDER ARCH SUITE PACKAGE...: unpack packages with all they need into FOLDER; what is installed here is left
# out where ARCH is this machine's
debian_tree()
{
    local folder=$1 arch=$2 suite=$3 state package
    [ ! -e "$folder/ready" ] || return 0
    if [ "$arch" = "$(dpkg --print-architecture)" ]; then
        state=$(debian_state deb "$arch" "$(release)" "$suite") || return 1
        cp /var/lib/dpkg/status "$state/status"
    else
        state=$(debian_state deb "$arch" "$suite") || return 1
    fi
    shift 3
    rm -f "$state"/cache/archives/*.deb
    debian_apt "$state" apt-get install --download-only -y --no-install-recommends -t "$suite" "$@" >&2 || return 1
    rm -rf "$folder"
    mkdir -p "$folder"
    for package in "$state"/cache/archives/*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -x -C "$folder" --exclude='./usr/share/doc' --exclude='./usr/share/man'
    done
    rm -f "$state"/cache/archives/*.deb
    touch "$folder/ready"
}

# kernel_package ARCH SUITE METAPACKAGE: sets $kernel to the image of the newest kernel of the suite; skips where it cannot
# be had
kernel_package()
{
    local arch=$1 suite=$2 meta=$3 state package binary file
    local why="the Debian mirror of this machine does not give the kernel $meta of $suite for $arch"
    state=$(debian_state deb "$arch" "$suite") || skip "$why"
    package=$(debian_depends "$state" "$meta" '^linux-image-[0-9]')
    [ -n "$package" ] || skip "$why"
    binary=$(debian_depends "$state" "$package" '^linux-binary-[0-9]') # since 7.0 the image is in a package of its own
    file=$(debian_package "$state" "${binary:-$package}") || skip "$why"
    kernel=$guests/kernels/$(basename "$file" .deb)
    [ ! -s "$kernel" ] || return 0
    mkdir -p "$guests/kernels"
    dpkg-deb --fsys-tarfile "$file" |
        tar -xO --wildcards './boot/vmlinu*' './usr/lib/modules/*/vmlinu*' >"$kernel.part" 2>/dev/null || true
    [ -s "$kernel.part" ] || fail "no kernel image in $file"
    mv "$kernel.part" "$kernel"
}

# emulator_tools NAME PACKAGE...: programs of the release's backports, unpacked; sets $tools to their folder and $tool to
# the words that run one of them with its own libraries; skips where they cannot be had
emulator_tools()
{
    tools=$guests/tools/$1
    shift
    debian_tree "$tools" "$(dpkg --print-architecture)" "$(release)-backports" "$@" ||
        skip "the Debian mirror of this machine does not give $1 of $(release)-backports"
    local triplet
    triplet=$(gcc -print-multiarch)
    # Its modules, too: those of another version that is installed here do not go with it.
    tool=(env "LD_LIBRARY_PATH=$tools/usr/lib/$triplet:$tools/lib/$triplet"
        "QEMU_MODULE_DIR=$tools/usr/lib/$triplet/qemu")
}
