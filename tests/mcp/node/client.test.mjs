// Drives `bmad-mem mcp` as hosts do: by the SDK's client, by the inspector, and on the bare pipe.
// Every message that the server sends is compared with the published schemas.
//
//   BMAD_MEM=…/bmad-mem [BMAD_MCP_SCHEMAS=…] node --test client.test.mjs

import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import Ajv from 'ajv/dist/2020.js';

import { LEGACY, MODERN, Schemas } from './schemas.mjs';
import { Wire } from './wire.mjs';

const TOOL = process.env.BMAD_MEM;
const SCHEMAS = process.env.BMAD_MCP_SCHEMAS ?? '';
const HERE = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const TOOLS = [
  'memory_search', 'memory_context', 'memory_get', 'memory_recall', 'memory_add',
  'memory_remember', 'memory_update', 'memory_forget', 'memory_delete', 'memory_sessions', 'memory_stats', 'memory_summary',
  'memory_session', 'memory_link', 'memory_review',
];
const CORE = [
  'memory_search', 'memory_context', 'memory_get', 'memory_add', 'memory_remember', 'memory_forget', 'memory_sessions',
  'memory_more',
];
const TEXT_ONLY = ['memory_search', 'memory_context', 'memory_get', 'memory_recall', 'memory_summary'];

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'bmad-mcp-'));
const environment = { PATH: process.env.PATH, HOME: folder, LC_ALL: 'C.UTF-8' };
after(() => fs.rmSync(folder, { recursive: true, force: true }));

const cli = (...args) =>
  execFileSync(TOOL, args, { cwd: folder, env: environment, encoding: 'utf8' });

/// Compares what came with the schemas of a revision; says so when there are none.
function assertValid(t, received, revision) {
  const schemas = SCHEMAS ? Schemas.open(SCHEMAS, revision) : null;
  if (!schemas) {
    t.diagnostic(`no schema of ${revision} in '${SCHEMAS}': messages were not compared with it`);
    return;
  }
  assert.ok(received.length > 0);
  for (const [message, method] of received) {
    assert.deepEqual(schemas.problems(message, method), [], JSON.stringify(message).slice(0, 600));
  }
}

/// A client on a server of its own, and all that the server has sent.
async function connect(extra = {}) {
  const transport = new StdioClientTransport({
    command: TOOL, args: ['mcp', '--tools', 'full'], cwd: folder, env: environment, stderr: 'inherit', ...extra });
  const received = [];
  const methods = new Map();
  let handler;
  Object.defineProperty(transport, 'onmessage', {
    get: () => handler,
    set: (wanted) => {
      handler = wanted && ((message, more) => {
        received.push([message, methods.get(message.id)]);
        wanted(message, more);
      });
    },
  });
  const send = transport.send.bind(transport);
  transport.send = (message) => {
    if ('id' in message && 'method' in message) methods.set(message.id, message.method);
    return send(message);
  };
  const client = new Client({ name: 'sdk-client', version: '1.0' }, { capabilities: {} });
  await client.connect(transport);
  return { client, received };
}

const textOf = (result) => result.content.map((block) => block.text).join('');

describe("the SDK's client", () => {
  let client;
  let received;
  before(async () => {
    ({ client, received } = await connect());
  });
  after(async () => client.close());

  test('shakes hands', () => {
    assert.equal(client.getServerVersion().name, 'bmad-mem');
    assert.ok(client.getInstructions().length <= 4096);
    const capabilities = client.getServerCapabilities();
    for (const name of ['tools', 'resources', 'prompts', 'completions', 'logging']) {
      assert.ok(capabilities[name], name);
    }
  });

  test('finds fifteen tools that say what they are for', async () => {
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map((tool) => tool.name), TOOLS);
    const ajv = new Ajv({ strict: true });
    for (const tool of tools) {
      assert.ok(tool.description.length > 120 && tool.description.length < 4096, tool.name);
      for (const hint of ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']) {
        assert.equal(typeof tool.annotations[hint], 'boolean', `${tool.name} ${hint}`);
      }
      assert.equal(tool.inputSchema.additionalProperties, false);
      for (const [name, property] of Object.entries(tool.inputSchema.properties)) {
        assert.ok(property.description, `${tool.name} ${name}`);
      }
      assert.ok(ajv.compile(tool.inputSchema), tool.name);
      assert.ok(ajv.compile(tool.outputSchema ?? {}), tool.name);
      assert.equal(tool.outputSchema === undefined, TEXT_ONLY.includes(tool.name), tool.name);
    }
  });

  test('writes, finds, reads, deletes and restores', async () => {
    const call = async (name, args) => {
      const result = await client.callTool({ name, arguments: args });
      assert.ok(!result.isError, textOf(result));
      assert.equal('structuredContent' in result, !TEXT_ONLY.includes(name), name);
      return result;
    };
    const added = (await call('memory_add', {
      type: 'decision', text: 'Use PostgreSQL for the ledger', tags: ['database'],
      fields: { rationale: 'ACID', impact: 'high' },
    })).structuredContent;
    assert.match(added.id, /^dec-/);
    const found = textOf(await call('memory_search', { query: 'why "PostgreSQL', limit: 3 }));
    assert.ok(found.includes(added.id) && found.includes('> Use PostgreSQL'), found);
    const whole = textOf(await call('memory_get', { ids: [added.id, 'dec-none'] }));
    assert.ok(whole.includes('"rationale":"ACID"') && whole.includes('no entry dec-none'), whole);
    const session = added.session_id;
    const told = (await call('memory_remember', {
      category: 'constraint', key: 'money', value: 'Amounts are integers of cents', confidence: 1,
      source: 'user', pinned: true,
    })).structuredContent;
    assert.equal(told.is_new, true);
    assert.equal(told.session_id, session);
    assert.equal(told.review, 'candidate');
    const again = (await call('memory_remember', {
      category: 'constraint', key: 'money', value: 'Amounts are integers of cents.',
    })).structuredContent;
    assert.equal(again.is_new, false);
    assert.equal(again.id, told.id);
    assert.match(textOf(await call('memory_recall', { category: 'constraint' })), /waits for the user\n.*cents/);
    assert.match(textOf(await call('memory_context', { task: 'How are amounts stored?' })), /\| - Not accepted: .*money/);
    assert.doesNotMatch(textOf(await call('memory_context', { task: 'Build the ledger' })), /money/);
    // Only the user accepts: by picking the prompt that shows what waits.
    const refused = await client.callTool({ name: 'memory_review', arguments: { ids: [told.id], review: 'accepted' } });
    assert.ok(refused.isError);
    assert.match(textOf(refused), /only the user accepts/);
    const shown = await client.getPrompt({ name: 'review' });
    assert.match(shown.messages[0].content.text, /integers of cents/);
    await call('memory_review', { ids: [told.id], review: 'accepted' });
    assert.match(textOf(await call('memory_context', { task: 'Build the ledger' })), /- \*\*money\*\*/);
    // What the user wants everywhere goes into a memory of its own, and is found from here.
    await call('memory_remember', {
      category: 'style', key: 'commits', value: 'Short subjects', scope: 'user',
    });
    assert.match(textOf(await call('memory_search', { query: 'commit subjects' })), /for all projects/);
    assert.match(textOf(await call('memory_context', { task: 'Which subjects?' })), /Short subjects/);
    const sessions = (await call('memory_sessions', {})).structuredContent;
    assert.equal(sessions.total, 1);
    assert.equal(sessions.current_session_id, session);
    assert.deepEqual(sessions.sessions[0].agent_ids, ['sdk-client']);
    await call('memory_add', { type: 'conversation', text: 'Shall we go on?', source: 'user' });
    assert.match(textOf(await call('memory_summary', {})), /> user: Shall we go on\?/);
    assert.equal((await call('memory_stats', {})).structuredContent.types.decision, 1);
    const preview = (await call('memory_delete', { ids: [added.id, 'x'] })).structuredContent;
    assert.equal(preview.count, 1);
    assert.deepEqual(preview.unknown_ids, ['x']);
    assert.match(textOf(await call('memory_search', { query: 'PostgreSQL' })), /dec-/);
    await call('memory_delete', { ids: [added.id], action: 'delete' });
    assert.match(textOf(await call('memory_search', { query: 'PostgreSQL' })), /Nothing found/);
    await call('memory_delete', { ids: [added.id], action: 'restore' });
    assert.match(textOf(await call('memory_search', { query: 'PostgreSQL' })), /dec-/);
  });

  test('gets secrets neither stored nor told, and sensitive entries only when asked for', async () => {
    const secret = 'ghp_' + 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8';
    const added = await client.callTool({
      name: 'memory_add', arguments: { type: 'fact', text: `The token is ${secret}`, sensitive: true } });
    assert.deepEqual(Object.values(added.structuredContent.redacted), [1]);
    const ids = [added.structuredContent.id];
    const get = (more) => client.callTool({ name: 'memory_get', arguments: { ids, ...more } });
    assert.match(textOf(await get({})), /marked sensitive/);
    const whole = textOf(await get({ include_sensitive: true }));
    assert.ok(whole.includes('The token is') && !whole.includes(secret));
    await assert.rejects(client.readResource({ uri: `memory://entries/${ids[0]}` }), { code: -32002 });
    const found = await client.callTool({ name: 'memory_search', arguments: { query: 'token' } });
    assert.ok(!textOf(found).includes(ids[0]));
  });

  test('reads an entry that is too long in parts', async () => {
    const text = Array.from({ length: 9000 }, (_, i) => `wort${i}ä`).join(' ');
    const added = await client.callTool({ name: 'memory_add', arguments: { type: 'fact', text } });
    const ids = [added.structuredContent.id];
    let json = '';
    for (let offset = 0, rounds = 0; rounds < 20; ++rounds) {
      const part = textOf(await client.callTool({ name: 'memory_get', arguments: { ids, offset } }));
      assert.ok(part.length < 40000);
      const lines = part.split('\n');
      json += lines[1];
      const next = /Go on with offset (\d+)/.exec(lines[0]);
      if (!next) break;
      offset = Number(next[1]);
    }
    assert.equal(JSON.parse(json).content, text);
  });

  test('is told what to mend', async () => {
    const result = await client.callTool({ name: 'memory_search', arguments: { querry: 'x' } });
    assert.equal(result.isError, true);
    assert.match(textOf(result), /did you mean "query"/);
    const gone = await client.callTool({
      name: 'memory_add', arguments: { type: 'fact', text: 'x', session_id: 'no-such' } });
    assert.equal(gone.isError, true);
    assert.match(textOf(gone), /E_SESSION_NOT_FOUND.*\n.*memory_sessions/);
    await assert.rejects(client.callTool({ name: 'memory_nothing' }), { code: -32602 });
    await assert.rejects(client.readResource({ uri: 'memory://nothing' }), { code: -32002 });
    await assert.rejects(client.listResources({ cursor: 'x' }), { code: -32602 });
  });

  test('lists and reads resources, page by page', async () => {
    for (let i = 0; i < 60; ++i) cli('session', 'new', '--id', `many-${i}`);
    const all = [];
    let cursor;
    do {
      const page = await client.listResources(cursor ? { cursor } : {});
      all.push(...page.resources);
      cursor = page.nextCursor;
    } while (cursor);
    assert.equal(all.length, 62);
    assert.equal(new Set(all.map((each) => each.uri)).size, 62);
    const { resourceTemplates } = await client.listResourceTemplates();
    assert.equal(resourceTemplates.length, 3);
    const added = await client.callTool({
      name: 'memory_add', arguments: { type: 'fact', text: 'A fact to read', id: 'fact:of.none' } });
    const { id, session_id: session } = added.structuredContent;
    const read = async (uri) => (await client.readResource({ uri })).contents[0];
    const entry = await read(`memory://entries/${encodeURIComponent(id)}`);
    assert.equal(JSON.parse(entry.text).content, 'A fact to read');
    assert.ok(JSON.parse((await read(`memory://sessions/${session}`)).text).newest_entries.length > 1);
    assert.equal(JSON.parse((await read('memory://sessions')).text).total, 61);
    await assert.rejects(read(`memory://summaries/${session}`), { code: -32002 });
  });

  test('hears of what another process writes', async () => {
    const updated = [];
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
      updated.push(params.uri);
    });
    const until = async (uri) => {
      for (let i = 0; i < 500 && !updated.includes(uri); ++i) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      assert.ok(updated.includes(uri), `${uri} was not among ${updated}`);
    };
    await client.subscribeResource({ uri: 'memory://sessions' });
    await client.subscribeResource({ uri: 'memory://sessions/many-1' });
    cli('add', 'fact', '--session', 'many-1', 'Written elsewhere');
    await until('memory://sessions/many-1');
    assert.ok(!updated.includes('memory://sessions'));
    cli('session', 'new', '--id', 'newcomer');
    cli('add', 'fact', '--session', 'newcomer', 'The first one');
    await until('memory://sessions');
    const encoded = 'memory://entries/fact%3Aof.none';
    await client.subscribeResource({ uri: encoded });
    cli('add', 'fact', '--session', 'many-1', '--id', 'fact:of.none', 'Under the same id');
    await until(encoded);
    await client.unsubscribeResource({ uri: 'memory://sessions/many-1' });
    updated.length = 0;
    await client.subscribeResource({ uri: 'memory://sessions/newcomer' });
    cli('add', 'fact', '--session', 'many-1', 'Unheard');
    cli('add', 'fact', '--session', 'newcomer', 'Heard');
    await until('memory://sessions/newcomer');
    assert.ok(!updated.includes('memory://sessions/many-1'));
    await assert.rejects(client.subscribeResource({ uri: 'memory://nothing' }), { code: -32002 });
  });

  test('gets prompts and completions', async () => {
    const { prompts } = await client.listPrompts();
    assert.deepEqual(prompts.map((prompt) => prompt.name), ['load_context', 'record_decision', 'review']);
    const context = await client.getPrompt({ name: 'load_context', arguments: { task: 'the ledger' } });
    assert.match(context.messages[0].content.text, /money/);
    const decision = await client.getPrompt({
      name: 'record_decision', arguments: { decision: 'Go', impact: 'low' } });
    assert.match(decision.messages[0].content.text, /memory_add[^]*Decision: Go\nImpact: low/);
    await assert.rejects(client.getPrompt({ name: 'load_context' }), { code: -32602 });
    await assert.rejects(client.getPrompt({ name: 'nope' }), { code: -32602 });
    const complete = async (ref, name, value) =>
      (await client.complete({ ref, argument: { name, value } })).completion;
    const prompt = { type: 'ref/prompt', name: 'record_decision' };
    assert.deepEqual((await complete(prompt, 'impact', 'h')).values, ['high']);
    assert.deepEqual((await complete(prompt, 'tags', 'a, da')).values, ['a, database']);
    const session = { type: 'ref/resource', uri: 'memory://sessions/{session_id}' };
    const many = await complete(session, 'session_id', 'many-');
    assert.equal(many.total, 60);
    assert.deepEqual((await complete(session, 'session_id', 'many-59')).values, ['many-59']);
  });

  test('sees progress, gets log messages, and can cancel', async () => {
    const steps = [];
    await client.callTool({ name: 'memory_stats', arguments: {} }, undefined, {
      onprogress: ({ progress, total }) => steps.push([progress, total]) });
    // The SDK drops those that it reads together with the answer: a fast answer leaves none.
    assert.ok(steps.length <= 62);
    const sent = received.filter(([message]) => message.method === 'notifications/progress');
    assert.deepEqual(sent.map(([{ params }]) => params.progress),
      Array.from({ length: 62 }, (_, i) => i + 1));
    const logged = [];
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
      logged.push(params);
    });
    await client.setLoggingLevel('debug');
    const { client: other, received: others } = await connect();
    await other.setLoggingLevel('info');
    await other.callTool({ name: 'memory_add', arguments: { type: 'fact', text: 'From another' } });
    assert.ok(others.some(([message]) => message.method === 'notifications/message'
      && message.params.data.startsWith('made session')));
    await other.close();
    const controller = new AbortController();
    const stopped = client.callTool({ name: 'memory_stats', arguments: {} }, undefined, {
      signal: controller.signal });
    controller.abort();
    await assert.rejects(stopped);
    await client.ping();
  });

  test('has received nothing but valid messages', (t) => assertValid(t, received, LEGACY));
});

describe('the modern era, on the bare pipe', () => {
  test('needs no handshake, and is valid', async (t) => {
    const wire = new Wire(TOOL, ['mcp'], { cwd: folder, env: environment });
    const found = await wire.modern('server-discover-probe-1', 'server/discover');
    assert.deepEqual(found.result.supportedVersions, ['2026-07-28', '2025-11-25']);
    const acknowledged = wire.notification('notifications/subscriptions/acknowledged');
    wire.modern('listen:0', 'subscriptions/listen', {
      notifications: { toolsListChanged: true, resourcesListChanged: true,
        resourceSubscriptions: ['memory://sessions/many-2', 'memory://nothing'] } });
    assert.deepEqual((await acknowledged).params.notifications, {
      resourcesListChanged: true, resourceSubscriptions: ['memory://sessions/many-2'] });
    const [tools, resources, templates, prompts] = await Promise.all([
      wire.modern(0, 'tools/list'), wire.modern(1, 'resources/list'),
      wire.modern(2, 'resources/templates/list'), wire.modern(3, 'prompts/list')]);
    assert.deepEqual(tools.result.tools.map((tool) => tool.name), CORE);
    assert.ok(resources.result.nextCursor);
    assert.equal(templates.result.resourceTemplates.length + prompts.result.prompts.length, 6);
    const updated = wire.notification('notifications/resources/updated');
    const added = await wire.modern(4, 'tools/call', {
      name: 'memory_add', arguments: { type: 'fact', text: 'modern', session_id: 'many-2' } });
    assert.equal(added.result.structuredContent.type, 'fact');
    assert.equal((await updated).params._meta['io.modelcontextprotocol/subscriptionId'], 'listen:0');
    await wire.modern(5, 'resources/read', { uri: 'memory://sessions/many-2' });
    await wire.modern(6, 'prompts/get', { name: 'load_context', arguments: { task: 'x' } });
    await wire.modern(7, 'completion/complete', {
      ref: { type: 'ref/resource', uri: 'memory://entries/{id}' }, argument: { name: 'id', value: '' } });
    const progress = wire.notification('notifications/progress');
    await wire.modern(8, 'tools/call', { name: 'memory_stats' }, {
      progressToken: 'p', 'io.modelcontextprotocol/logLevel': 'debug' });
    assert.equal((await progress).params.progressToken, 'p');
    const codes = [
      [await wire.modern(9, 'resources/read', { uri: 'memory://nothing' }), -32602],
      [await wire.modern(10, 'ping'), -32601],
      [await wire.modern(11, 'tools/list', {}, { 'io.modelcontextprotocol/protocolVersion': '1900-01-01' }), -32022],
      [await wire.modern(12, 'tools/call', { name: 'nope' }), -32602],
      [await wire.ask(13, 'server/discover'), -32602],
    ];
    for (const [answer, code] of codes) assert.equal(answer.error.code, code);
    const ended = new Promise((resolve) => wire.waiting.set('listen:0', resolve));
    assert.equal(await wire.close(), 0);
    assert.equal((await ended).result.resultType, 'complete');
    assertValid(t, wire.received, MODERN);
  });

  test('can be mixed with the legacy one', async () => {
    const wire = new Wire(TOOL, ['mcp'], { cwd: folder, env: environment });
    const hello = await wire.ask(0, 'initialize', {
      protocolVersion: '2026-07-28', capabilities: {}, clientInfo: { name: 'w', version: '1' } });
    assert.equal(hello.result.protocolVersion, '2025-11-25');
    assert.equal((await wire.modern('m', 'tools/list')).result.resultType, 'complete');
    assert.equal('resultType' in (await wire.ask('l', 'tools/list')).result, false);
    assert.equal(await wire.close(), 0);
  });
});

describe('the inspector', () => {
  const inspect = async (...args) => {
    const inspector = path.join(HERE, 'node_modules', '.bin', 'mcp-inspector');
    const { stdout } = await promisify(execFile)(
      process.execPath, [inspector, '--cli', TOOL, 'mcp', ...args],
      { cwd: folder, env: environment, timeout: 60000 });
    return JSON.parse(stdout);
  };

  test('lists the tools', async () => {
    const { tools } = await inspect('--method', 'tools/list');
    assert.deepEqual(tools.map((tool) => tool.name), CORE);
  });

  test('calls a tool', async () => {
    const result = await inspect(
      '--method', 'tools/call', '--tool-name', 'memory_search', '--tool-arg', 'query=PostgreSQL');
    assert.match(result.content[0].text, /dec-/);
  });

  test('lists resources and prompts', async () => {
    assert.ok((await inspect('--method', 'resources/list')).resources.length > 10);
    assert.equal((await inspect('--method', 'prompts/list')).prompts.length, 3);
  });
});
