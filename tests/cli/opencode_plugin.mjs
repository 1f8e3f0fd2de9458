// Loads the plugin named by the first argument as opencode 1 and 2 do, and goes through a session. Prints what
// the model would hear.
import assert from "node:assert"
import { readFileSync } from "node:fs"

const [file, directory] = process.argv.slice(2)
// As a module whatever its name: Node 18 takes a .js file without a package.json for CommonJS, opencode's Bun does not.
const source = readFileSync(file).toString("base64")
const { default: plugin } = await import(`data:text/javascript;base64,${source}`)
const heard = {}

// opencode 1: server() returns the hooks.
const children = { child: "one" }
const answer = [{ info: { role: "assistant", id: "m2" }, parts: [{ type: "text", text: "At nine." }] }]
const client = {
  session: {
    get: async ({ path }) => ({ data: { parentID: children[path.id] } }),
    messages: async () => ({ data: answer }),
  },
  app: { log: async ({ body }) => (heard.log = [...(heard.log ?? []), body.message]) },
}
const hooks = await plugin.server({ client, directory })
const say = (sessionID, text) =>
  hooks["chat.message"]({ sessionID }, { message: { id: "m1" }, parts: [{ type: "text", text }] })
await say("one", "When does the night boat leave?")
await say("child", "Look at the harbour")
const output = { system: ["You are opencode."] }
await hooks["experimental.chat.system.transform"]({ sessionID: "one" }, output)
heard.one = output.system
const became = { parts: [{ type: "text", text: "Use the almanac. The question: on Sunday" }] }
await hooks["command.execute.before"]({ command: "tide", sessionID: "one", arguments: "on Sunday" }, became)
await say("child", "Look again")
await say("one", became.parts[0].text)
const nobody = { system: [] }
await hooks["experimental.chat.system.transform"]({}, nobody)
assert.deepEqual(nobody.system, [])
await hooks["tool.execute.after"](
  { tool: "bash", sessionID: "child", callID: "c1", args: { command: "ls" } },
  { title: "", output: "boat.md", metadata: {} },
)
await hooks["experimental.session.compacting"]({ sessionID: "one" }, { context: [] })
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "one" } } })
await hooks.event({ event: { type: "session.updated", properties: { info: {} } } })

// opencode 2: setup() registers them.
const registered = {}
const hook = (part) => async (name, run) => (registered[`${part}.${name}`] = run)
await plugin.setup({
  location: { directory },
  session: { hook: hook("session"), get: async () => ({}) },
  tool: { hook: hook("tool") },
})
await registered["session.prompt"]({ sessionID: "two", prompt: { text: "Where is the night boat?" } })
const event = { sessionID: "two", system: [{ type: "text", text: "You are opencode." }] }
await registered["session.context"](event)
heard.two = event.system.map(({ text }) => text)
const content = [{ type: "text", text: "quay.md" }]
await registered["tool.execute.after"]({
  tool: "shell", sessionID: "two", id: "c2", input: { command: "ls" }, status: "completed", result: { content },
})
await registered["tool.execute.after"]({
  tool: "shell", sessionID: "two", id: "c3", input: { command: "sail" }, status: "error", error: { message: "no" },
})
console.log(JSON.stringify(heard))
