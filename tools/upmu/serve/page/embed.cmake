# Makes the live page a C file: cmake -DOUT=FILE -DPAGE=live.html -P embed.cmake
file(READ ${PAGE} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUT} "/* Made from tools/upmu/serve/page/live.html: edit that. */\n#include \"serve/http.h\"\n"
  "const unsigned char live_page[] = {${bytes}};\nconst size_t live_page_length = sizeof live_page;\n")
