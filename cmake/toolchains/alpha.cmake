# Alpha: pages of 8 KB and no counters, the nearest to be had to Sunway's sw_64, by Debian's cross compiler: apt-get install gcc-alpha-linux-gnu libc6.1-dev-alpha-cross
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR alpha)
set(CMAKE_C_COMPILER alpha-linux-gnu-gcc)
set(CMAKE_FIND_ROOT_PATH /usr/alpha-linux-gnu)
