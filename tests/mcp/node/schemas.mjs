// Looks whether a message is valid against the published JSON Schemas of both protocol revisions.

import fs from 'node:fs';
import path from 'node:path';
import Ajv from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

export const LEGACY = '2025-11-25';
export const MODERN = '2026-07-28';

const RESULTS = {
  initialize: 'InitializeResult',
  'server/discover': 'DiscoverResult',
  'tools/list': 'ListToolsResult',
  'tools/call': 'CallToolResult',
  'resources/list': 'ListResourcesResult',
  'resources/templates/list': 'ListResourceTemplatesResult',
  'resources/read': 'ReadResourceResult',
  'prompts/list': 'ListPromptsResult',
  'prompts/get': 'GetPromptResult',
  'completion/complete': 'CompleteResult',
  'subscriptions/listen': 'SubscriptionsListenResult',
};

export class Schemas {
  // `folder` holds {revision}.json. null: there is nothing to compare with.
  static open(folder, revision) {
    const file = path.join(folder, `${revision}.json`);
    return fs.existsSync(file) ? new Schemas(JSON.parse(fs.readFileSync(file, 'utf8'))) : null;
  }

  constructor(schema) {
    this.defs = schema.$defs;
    this.ajv = new Ajv({ strict: false, allErrors: true });
    addFormats(this.ajv);
    this.ajv.addSchema(schema, 'mcp');
  }

  problem(name, value) {
    const check = this.ajv.getSchema(`mcp#/$defs/${name}`);
    if (!check) return `the schema has no ${name}`;
    return check(value) ? null : `${name}: ${this.ajv.errorsText(check.errors)}`;
  }

  // What is wrong with `message`, which answers a request of `method` or is a notification.
  problems(message, method) {
    const found = [this.problem('JSONRPCMessage', message)];
    if ('method' in message) {
      const [name] = Object.entries(this.defs).find(
        ([, def]) => def.properties?.method?.const === message.method) ?? [];
      found.push(name ? this.problem(name, message) : `unknown notification ${message.method}`);
    } else if ('result' in message) {
      found.push(this.problem(RESULTS[method] ?? 'EmptyResult', message.result));
    } else {
      found.push(this.problem('JSONRPCErrorResponse', message));
      if (message.error.code === -32022) {
        found.push(this.problem('UnsupportedProtocolVersionError', message));
      }
    }
    return found.filter(Boolean);
  }
}
