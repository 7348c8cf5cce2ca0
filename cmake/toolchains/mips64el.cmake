# 64-bit MIPS, little-endian: Loongson 2 and 3A1000 to 3A4000, by Debian's cross compiler: apt-get install gcc-mips64el-linux-gnuabi64 libc6-dev-mips64el-cross
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR mips64el)
set(CMAKE_C_COMPILER mips64el-linux-gnuabi64-gcc)
set(CMAKE_FIND_ROOT_PATH /usr/mips64el-linux-gnuabi64)
