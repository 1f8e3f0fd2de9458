// mock_model.mjs - a model that follows a script, for programs that expect a real one.
//
//   mock_model.mjs FOLDER     prints its address on stdout; ends when stdin does
//
// FOLDER/script.json has a rule for each prompt, FOLDER/requests.jsonl gets a line for each request:
// {"url", "body"}. The last text of the user with the word of a rule chooses the rule; each tool result after
// it moves on by a step, up to the last one, and so does the notice of a sub-agent's end. What is between
// <bmad-memory> tags chooses nothing.
//
//   [{"word": "HARRIER", "steps": [
//     {"say": "I look.", "call": {"tool": "bash|shell", "arguments": {"command": "ls"}}}, {"say": "There it is."}]}]
//
// `tool` is a regular expression for the tool's name; with "optional" the step only says something where there is no
// such tool. Arguments that the tool's schema does not have are left out, and the required ones that are missing get
// a value of their type. A request without tools, such as one for a title, is answered with "Boats".
//
// Four protocols, with and without streaming: Anthropic messages, OpenAI chat completions and responses, Gemini.
import fs from "node:fs"
import http from "node:http"
import path from "node:path"

const folder = process.argv[2]
const script = JSON.parse(fs.readFileSync(path.join(folder, "script.json"), "utf8"))
const requests = path.join(folder, "requests.jsonl")
const usage = { input: 10, output: 5 }
let count = 0

const textOf = (content) =>
  typeof content === "string" ? content : (content ?? []).map((part) => (typeof part === "string" ? part : (part.text ?? ""))).join("\n")

const withoutMemory = (text) => text.replace(/(<|&lt;)bmad-memory[^]*?(<|&lt;)\/bmad-memory(>|&gt;)/g, "")

// `turns`: texts of the user, and null for each result of a tool, in their order.
function nextStep(turns) {
  let rule, results
  for (const turn of turns) {
    if (turn === null || turn.includes("<task-notification>")) {
      results += 1
      continue
    }
    const words = script.map(({ word }) => [withoutMemory(turn).lastIndexOf(word), word]).filter(([at]) => at >= 0)
    if (!words.length) continue
    const last = words.sort((a, b) => a[0] - b[0]).at(-1)[1]
    rule = script.find(({ word }) => word === last)
    results = 0
  }
  return rule ? rule.steps[Math.min(results, rule.steps.length - 1)] : { say: "Nothing is planned for this." }
}

const valueOf = ({ type, enum: values }) =>
  values?.[0] ?? { boolean: false, number: 10000, integer: 10000, array: [], object: {} }[String(type).toLowerCase()] ?? "boats"

function argumentsFor(schema = {}, given) {
  const properties = schema.properties ?? {}
  const filled = {}
  for (const [name, property] of Object.entries(properties)) {
    if (name in given) {
      filled[name] = /^array$/i.test(property.type) && !Array.isArray(given[name]) ? ["sh", "-c", given[name]] : given[name]
    } else if (name === "commands" && given.command) {
      filled[name] = [property.items?.type === "object" ? { command: given.command } : given.command]
    } else if (name === "cmd" && given.command) {
      filled[name] = given.command
    } else if (schema.required?.includes(name)) {
      filled[name] = valueOf(property)
    }
  }
  return Object.keys(filled).length ? filled : given
}

// {say, call: {id, name, space, custom, arguments}}
function answerTo(turns, tools) {
  const id = `${process.pid}x${++count}`
  if (!tools.length) return { id, say: "Boats" }
  const { say, call } = nextStep(turns)
  const tool = call && tools.find(({ name }) => new RegExp(`^(${call.tool})$`, "i").test(name))
  if (call?.optional && !tool) return { id, say }
  if (call && !tool) return { id, say: `There is no tool ${call.tool} among ${tools.map(({ name }) => name).join(" ")}.` }
  if (!call) return { id, say }
  return { id, say, call: { ...tool, id: `call_${id}`, arguments: argumentsFor(tool.schema, call.arguments) } }
}

const sendJson = (response, body, status = 200) => {
  response.writeHead(status, { "content-type": "application/json" })
  response.end(JSON.stringify(body))
}
const openStream = (response) => response.writeHead(200, { "content-type": "text/event-stream" })
const sendEvent = (response, type, body) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...body })}\n\n`)
const sendData = (response, body) => response.write(`data: ${JSON.stringify(body)}\n\n`)

function anthropic(response, body) {
  const turns = []
  for (const { role, content } of body.messages ?? []) {
    if (role !== "user") continue
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content
    for (const block of blocks) if (block.type === "tool_result") turns.push(null)
    turns.push(textOf(blocks.filter(({ type }) => type === "text")))
  }
  const tools = (body.tools ?? []).map(({ name, input_schema: schema }) => ({ name, schema }))
  const { id, say, call } = answerTo(turns, tools)
  const content = []
  if (say) content.push({ type: "text", text: say })
  if (call) content.push({ type: "tool_use", id: `tool${call.id}`, name: call.name, input: call.arguments })
  const stop_reason = call ? "tool_use" : "end_turn"
  const counted = { input_tokens: usage.input, output_tokens: usage.output, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
  const message = { id: `msg_${id}`, type: "message", role: "assistant", model: body.model, stop_sequence: null, usage: counted }
  if (!body.stream) return sendJson(response, { ...message, content, stop_reason })
  openStream(response)
  sendEvent(response, "message_start", { message: { ...message, content: [], stop_reason: null } })
  content.forEach((block, index) => {
    const isText = block.type === "text"
    sendEvent(response, "content_block_start", { index, content_block: isText ? { ...block, text: "" } : { ...block, input: {} } })
    const input = JSON.stringify(block.input)
    const delta = isText ? { type: "text_delta", text: block.text } : { type: "input_json_delta", partial_json: input }
    sendEvent(response, "content_block_delta", { index, delta })
    sendEvent(response, "content_block_stop", { index })
  })
  sendEvent(response, "message_delta", { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: usage.output } })
  sendEvent(response, "message_stop", {})
  response.end()
}

function openaiChat(response, body) {
  const turns = []
  for (const { role, content } of body.messages ?? []) {
    if (role === "tool") turns.push(null)
    if (role === "user") turns.push(textOf(content))
  }
  const tools = (body.tools ?? []).map((tool) => tool.function ?? tool).map(({ name, parameters: schema }) => ({ name, schema }))
  const { id, say, call } = answerTo(turns, tools)
  const called = call && { id: call.id, type: "function", function: { name: call.name, arguments: JSON.stringify(call.arguments) } }
  const finish_reason = call ? "tool_calls" : "stop"
  const base = { id: `chatcmpl-${id}`, created: Math.floor(Date.now() / 1000), model: body.model ?? "mock-model" }
  const counted = { prompt_tokens: usage.input, completion_tokens: usage.output, total_tokens: usage.input + usage.output }
  if (!body.stream) {
    const message = { role: "assistant", content: say ?? null, ...(called && { tool_calls: [called] }) }
    return sendJson(response, { ...base, object: "chat.completion", choices: [{ index: 0, message, finish_reason }], usage: counted })
  }
  openStream(response)
  const send = (delta, more = {}) =>
    sendData(response, { ...base, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: null, ...more }] })
  send({ role: "assistant", content: say ?? "" })
  if (called) send({ tool_calls: [{ index: 0, ...called }] })
  send({}, { finish_reason })
  sendData(response, { ...base, object: "chat.completion.chunk", choices: [], usage: counted })
  response.end("data: [DONE]\n\n")
}

function openaiResponses(response, body) {
  const turns = []
  for (const item of Array.isArray(body.input) ? body.input : [{ role: "user", content: body.input }]) {
    if (item.role === "user") turns.push(textOf(item.content))
    if (item.type?.endsWith("_output")) turns.push(null)
  }
  const named = ({ name, type, parameters }, space) => ({ name: name ?? type, custom: type === "custom", schema: parameters, space })
  const tools = (body.tools ?? []).flatMap((tool) =>
    tool.type === "namespace" ? tool.tools.map((each) => named(each, tool.name)) : [named(tool)],
  )
  const { id, say, call } = answerTo(turns, tools)
  const output = []
  if (say) {
    const content = [{ type: "output_text", text: say, annotations: [] }]
    output.push({ type: "message", id: `msg_${id}`, role: "assistant", status: "completed", content })
  }
  if (call?.custom) {
    const input = call.arguments.command ?? JSON.stringify(call.arguments)
    output.push({ type: "custom_tool_call", id: `ctc_${id}`, call_id: call.id, name: call.name, input, status: "completed" })
  } else if (call) {
    const item = { type: "function_call", id: `fc_${id}`, call_id: call.id, name: call.name, status: "completed" }
    output.push({ ...item, arguments: JSON.stringify(call.arguments), ...(call.space && { namespace: call.space }) })
  }
  const counted = {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: usage.input + usage.output,
  }
  const created_at = Math.floor(Date.now() / 1000)
  const whole = { id: `resp_${id}`, object: "response", created_at, status: "completed", model: body.model, output, usage: counted }
  if (!body.stream) return sendJson(response, whole)
  openStream(response)
  let sequence_number = 0
  const send = (type, more) => sendEvent(response, type, { sequence_number: sequence_number++, ...more })
  send("response.created", { response: { ...whole, status: "in_progress", output: [] } })
  output.forEach((item, output_index) => {
    const started = { ...item, status: "in_progress", ...(item.type === "message" && { content: [] }) }
    send("response.output_item.added", { output_index, item: started })
    const place = { item_id: item.id, output_index }
    if (item.type === "message") {
      const part = item.content[0]
      send("response.content_part.added", { ...place, content_index: 0, part: { ...part, text: "" } })
      send("response.output_text.delta", { ...place, content_index: 0, delta: part.text })
      send("response.output_text.done", { ...place, content_index: 0, text: part.text })
      send("response.content_part.done", { ...place, content_index: 0, part })
    } else if (item.type === "function_call") {
      send("response.function_call_arguments.delta", { ...place, delta: item.arguments })
      send("response.function_call_arguments.done", { ...place, arguments: item.arguments })
    }
    send("response.output_item.done", { output_index, item })
  })
  send("response.completed", { response: whole })
  response.end()
}

function gemini(response, body, url) {
  const turns = []
  for (const { role, parts } of body.contents ?? []) {
    if (role === "model") continue
    for (const part of parts ?? []) if (part.functionResponse) turns.push(null)
    turns.push(textOf((parts ?? []).filter(({ text }) => text)))
  }
  const declared = (body.tools ?? []).flatMap(({ functionDeclarations }) => functionDeclarations ?? [])
  const tools = declared.map(({ name, parameters, parametersJsonSchema: schema }) => ({ name, schema: schema ?? parameters }))
  const isJson = body.generationConfig?.responseMimeType === "application/json"
  const { say, call } = isJson ? { say: '{"next_speaker":"user","reasoning":"boats","complexity_score":10}' } : answerTo(turns, tools)
  const parts = []
  if (say) parts.push({ text: say })
  if (call) parts.push({ functionCall: { name: call.name, args: call.arguments } })
  const counted = { promptTokenCount: usage.input, candidatesTokenCount: usage.output, totalTokenCount: usage.input + usage.output }
  const candidates = [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }]
  const answer = { candidates, usageMetadata: counted, modelVersion: "mock-model" }
  if (!url.includes("stream")) return sendJson(response, answer)
  openStream(response)
  sendData(response, answer)
  response.end()
}

function answer(response, url, body) {
  if (/count_?tokens/i.test(url)) return sendJson(response, { input_tokens: usage.input, totalTokens: usage.input })
  if (url.endsWith("/messages")) return anthropic(response, body)
  if (url.endsWith("/chat/completions")) return openaiChat(response, body)
  if (url.endsWith("/responses")) return openaiResponses(response, body)
  if (/generateContent$/i.test(url)) return gemini(response, body, url)
  return sendJson(response, { error: { type: "not_found", message: `there is no ${url}` } }, 404)
}

const server = http.createServer((request, response) => {
  const parts = []
  request.on("data", (part) => parts.push(part))
  request.on("end", () => {
    const url = request.url.split("?")[0]
    if (request.method === "GET" && url.endsWith("/models")) {
      const model = { id: "mock-model", object: "model", type: "model", display_name: "mock" }
      return sendJson(response, { object: "list", models: [], data: [model] })
    }
    let body = {}
    try {
      body = JSON.parse(Buffer.concat(parts).toString())
    } catch {
      // A request without a body, or one in another form: it is answered by its address.
    }
    fs.appendFileSync(requests, `${JSON.stringify({ url, body })}\n`)
    return answer(response, url, body)
  })
})
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`))
process.stdin.resume().on("end", () => process.exit(0))
