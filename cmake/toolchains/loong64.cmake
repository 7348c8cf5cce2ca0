# 64-bit LoongArch, by clang with -DCMAKE_SYSROOT=... (Debian 12 has no cross compiler and no C library for it; newer
# releases have): apt-get install clang-19 lld-19 llvm-19
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR loongarch64)
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_C_COMPILER_TARGET loongarch64-linux-gnu)
set(CMAKE_LINKER ld.lld-19)
set(CMAKE_AR llvm-ar-19)
set(CMAKE_RANLIB llvm-ranlib-19)
set(CMAKE_OBJCOPY llvm-objcopy-19)
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT -fuse-ld=lld-19)
endforeach()
