// Drives /mcp of `bmad-mem serve` by the SDK's client over streamable HTTP.
//
//   BMAD_MEM=…/bmad-mem [BMAD_MCP_SCHEMAS=…] node --test http.test.mjs

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { after, before, test } from 'node:test';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { LEGACY, Schemas } from './schemas.mjs';

const TOOL = process.env.BMAD_MEM;
const SCHEMAS = process.env.BMAD_MCP_SCHEMAS ?? '';
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'bmad-mcp-http-'));
const environment = {
  PATH: process.env.PATH, HOME: folder, XDG_RUNTIME_DIR: folder, LC_ALL: 'C.UTF-8' };
let server;
let told;
let token;

before(async () => {
  execFileSync(TOOL, ['--quiet', 'init'], { cwd: folder, env: environment });
  server = spawn(TOOL, ['--json', 'serve'],
    { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await readline.createInterface({ input: server.stdout })[Symbol.asyncIterator]()
    .next().then(({ value }) => [value]);
  told = JSON.parse(line);
  token = fs.readFileSync(told.token_file, 'utf8').trim();
});

after(async () => {
  const ended = new Promise((resolve) => server.on('exit', resolve));
  server.kill('SIGTERM');
  assert.equal(await ended, 0);
  fs.rmSync(folder, { recursive: true, force: true });
});

/// A client, and all that the server has sent to it.
async function connect(headers) {
  const transport = new StreamableHTTPClientTransport(
    new URL(`${told.url}/mcp`), { requestInit: { headers } });
  const client = new Client({ name: 'http-test', version: '1' });
  await client.connect(transport);
  const received = [];
  const onmessage = transport.onmessage;
  transport.onmessage = (message, extra) => {
    received.push(message);
    onmessage(message, extra);
  };
  return { client, transport, received };
}

test('the client of the SDK adds and finds over HTTP', async (t) => {
  const { client, transport, received } = await connect({ Authorization: `Bearer ${token}` });
  assert.equal(client.getServerVersion().name, 'bmad-mem');
  assert.equal(client.getServerCapabilities().resources.subscribe, undefined);
  assert.equal(transport.sessionId, undefined);

  const { tools } = await client.listTools();
  assert.equal(tools.length, 8);
  const added = await client.callTool(
    { name: 'memory_add', arguments: { type: 'decision', text: 'Use a pool of connections' } });
  assert.ok(!added.isError, JSON.stringify(added));
  const found = await client.callTool({ name: 'memory_search', arguments: { query: 'pool' } });
  assert.match(JSON.stringify(found.content), /pool of connections/);
  const { resources } = await client.listResources();
  assert.ok(resources.length > 0);
  await client.readResource({ uri: resources[0].uri });
  await client.listPrompts();
  await assert.rejects(client.readResource({ uri: 'memory://entries/none' }));
  await assert.rejects(client.subscribeResource({ uri: 'memory://sessions' }));

  const schemas = SCHEMAS ? Schemas.open(SCHEMAS, LEGACY) : null;
  for (const message of received) {
    if (schemas) {
      assert.deepEqual([schemas.problem('JSONRPCMessage', message)].filter(Boolean), []);
    }
  }
  if (!schemas) t.diagnostic(`no schema of ${LEGACY} in '${SCHEMAS}'`);
  await client.close();
});

test('a request that asks for progress is answered on a stream', async () => {
  const { client } = await connect({ Authorization: `Bearer ${token}` });
  const found = await client.callTool(
    { name: 'memory_search', arguments: { query: 'pool' } }, undefined, { onprogress: () => {} });
  assert.ok(!found.isError);
  await client.close();
});

test('many requests at once are answered each with its own', async () => {
  const { client } = await connect({ Authorization: `Bearer ${token}` });
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => client.callTool(
    { name: 'memory_remember', arguments: { category: 'constraint', key: `k${i}`, value: `v${i}`, confidence: 1 } })));
  answers.forEach((answer, i) => {
    assert.ok(!answer.isError, JSON.stringify(answer));
    assert.match(JSON.stringify(answer), new RegExp(`k${i}\\b`));
  });
  await client.close();
});

test('a client without the token gets nothing', async () => {
  await assert.rejects(connect({}));
  await assert.rejects(connect({ Authorization: 'Bearer wrong' }));
});
