import { spawn } from "node:child_process"

const [program, ...words] = COMMAND

let say = (message) => console.error(message)
const missing = ({ code }) => {
  if (code !== "ENOENT") return
  say(`bmad-mem: there is no program ${program} here, so nothing is recorded`)
  say = () => {}
}

// What the program prints; nothing where it is missing or takes too long.
const call = (directory, event) =>
  new Promise((resolve) => {
    let text = ""
    const done = () => resolve(text.trim())
    try {
      const child = spawn(program, words, { cwd: directory, stdio: ["pipe", "pipe", "ignore"], timeout: 10000 })
      child.on("error", (error) => (missing(error), done()))
      child.on("close", done)
      child.stdin.on("error", () => {})
      child.stdout.on("data", (data) => (text += data))
      child.stdin.end(JSON.stringify({ cwd: directory, ...event }))
    } catch {
      done()
    }
  })

const textOf = (parts) =>
  (parts ?? [])
    .filter((part) => part.type === "text" && !part.synthetic)
    .map((part) => part.text)
    .join("\n")

// One for each project. `parentOf(id)` names the session that a sub-agent's session belongs to.
const recorder = (directory, parentOf) => {
  const told = new Map()
  const parents = new Map()
  const parent = async (id) => {
    if (!parents.has(id)) parents.set(id, await parentOf(id).catch(() => undefined))
    return parents.get(id)
  }
  const session = async (id) => {
    const above = await parent(id)
    return above ? { session_id: above, agent_id: id, agent_type: "subagent" } : { session_id: id }
  }
  return {
    async prompt(id, text, turn) {
      if (!text.trim() || (await parent(id))) return
      const known = told.get(id) ?? {
        start: await call(directory, { hook_event_name: "session.created", session_id: id }),
      }
      told.set(id, known)
      known.prompt = await call(directory, {
        hook_event_name: "chat.message",
        session_id: id,
        prompt: text,
        turn_id: turn,
      })
    },
    context(id) {
      const known = told.get(id) ?? {}
      return [known.start, known.prompt].filter(Boolean)
    },
    async tool(id, name, call_id, input, output, error) {
      await call(directory, {
        hook_event_name: "tool.execute.after",
        ...(await session(id)),
        tool_name: name,
        tool_use_id: call_id,
        tool_input: input,
        ...(error ? { error } : { tool_response: output }),
      })
    },
    async answer(id, text, turn) {
      if (!text.trim() || (await parent(id))) return
      await call(directory, { hook_event_name: "session.idle", session_id: id, text, turn_id: turn })
    },
    compacting: (id) =>
      call(directory, { hook_event_name: "experimental.session.compacting", session_id: id }),
    compacted: (id) => call(directory, { hook_event_name: "session.compacted", session_id: id }),
  }
}

// opencode 1: the hooks as an object.
const server = async ({ client, directory }) => {
  const data = (answer) => answer?.data ?? answer
  const record = recorder(directory, async (id) => data(await client.session.get({ path: { id } }))?.parentID)
  // On a terminal the program draws: its log takes the message.
  say = (message) => client.app?.log({ body: { service: "bmad-mem", level: "warn", message } })?.catch(() => {})
  let command = {} // What the last command became, and what was typed.
  return {
    "command.execute.before": async (typed, { parts }) => {
      command = { text: textOf(parts), typed: `/${typed.command} ${typed.arguments ?? ""}`.trim() }
    },
    "chat.message": ({ sessionID }, { message, parts }) => {
      const text = textOf(parts)
      return record.prompt(sessionID, text === command.text ? command.typed : text, message?.id)
    },
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      system.push(...record.context(sessionID))
    },
    "tool.execute.after": ({ tool, sessionID, callID, args }, { output }) =>
      record.tool(sessionID, tool, callID, args, output),
    "experimental.session.compacting": async ({ sessionID }, { context }) => {
      const summary = await record.compacting(sessionID)
      if (summary) context.push(summary)
    },
    event: async ({ event }) => {
      const id = event.properties?.sessionID
      if (event.type === "session.compacted") await record.compacted(id)
      if (event.type !== "session.idle") return
      const messages = data(await client.session.messages({ path: { id } }).catch(() => [])) ?? []
      const last = messages.findLast?.(({ info }) => info?.role === "assistant")
      if (last) await record.answer(id, textOf(last.parts), last.info.id)
    },
  }
}

// opencode 2: the hooks are registered. Answers and compactions have none with a text.
const setup = async (ctx) => {
  const data = (answer) => answer?.data ?? answer
  const record = recorder(
    ctx.location.directory,
    async (id) => data(await ctx.session.get({ sessionID: id }))?.parentID,
  )
  await ctx.session.hook("prompt", (event) => record.prompt(event.sessionID, event.prompt?.text ?? ""))
  await ctx.session.hook("context", (event) => {
    for (const text of record.context(event.sessionID)) event.system.push({ type: "text", text })
  })
  await ctx.tool.hook("execute.after", (event) => {
    const result = event.result ?? {}
    const text = Array.isArray(result.content) ? textOf(result.content) : result.content
    const failed = event.status === "error" ? String(event.error?.message ?? text ?? "failed") : undefined
    return record.tool(event.sessionID, event.tool, event.id, event.input, text ?? result.output, failed)
  })
}

export default { id: "bmad-mem", server, setup }
