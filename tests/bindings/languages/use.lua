-- SPDX-License-Identifier: MIT
-- The C headers by LuaJIT's ffi: a region by name, its statistics, and an error. Arguments: preprocessed headers, library.
local ffi = require("ffi")
local file = assert(io.open(arg[1]))
ffi.cdef(file:read("*a"))
file:close()
local upmu = ffi.load(arg[2])

local opts = ffi.new("struct upmu_region_opts", {size = ffi.sizeof("struct upmu_region_opts")})
assert(upmu.upmu_region_setup(opts) == 0)
for _ = 1, 3 do
    upmu.upmu_region_begin("lua")
    upmu.upmu_region_end("lua")
end
local stats = ffi.new("struct upmu_region_stats", {size = ffi.sizeof("struct upmu_region_stats")})
assert(upmu.upmu_region_stats_read("lua", 0, stats) == 0)
assert(stats.count == 3 and stats.wall.sum > 0)

local set = ffi.new("struct upmu_set *[1]")
assert(upmu.upmu_set_open(set, "no-such-event", nil) == ffi.new("enum upmu_code", "UPMU_E_NAME"))
assert(set[0] == nil and ffi.string(upmu.upmu_error()):find("no%-such%-event"))
print(ffi.string(upmu.upmu_version()), "lua", tonumber(stats.count))
