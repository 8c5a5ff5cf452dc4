-- Counts the words of a directory, and checks how that went.
--
--     headrace run word_count.lua -- libword_count.so INPUT OUTPUT

local object, input, output = table.unpack(arguments)
local job = submit(object, {
  arguments = {"--input", input, "--output", output},
  parallelism = 2,
})

local ended = job:wait(60)
assert(ended.state == "finished", ended.failure)
assert(ended.restarts == 0, "it was restarted")
assert(ended.records > 0, "nothing was read")

for _, actor in ipairs(actors()) do
  assert(actor.state ~= "failed", actor.name .. " failed: " .. tostring(actor.error))
end
print(ended.name, ended.records .. " records", string.format("%.1f s", ended.runtime))
