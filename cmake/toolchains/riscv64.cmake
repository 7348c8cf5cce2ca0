# 64-bit RISC-V, by Debian's cross compiler: apt-get install gcc-riscv64-linux-gnu libc6-dev-riscv64-cross
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(CMAKE_C_COMPILER riscv64-linux-gnu-gcc)
set(CMAKE_FIND_ROOT_PATH /usr/riscv64-linux-gnu)
