// The server on a bare pipe, for what the SDK's client does not say: the modern era, and mistakes.

import { spawn } from 'node:child_process';
import readline from 'node:readline';

export class Wire {
  constructor(command, args, options) {
    this.child = spawn(command, args, { ...options, stdio: ['pipe', 'pipe', 'inherit'] });
    this.received = []; // [message, the method it answers]
    this.waiting = new Map();
    this.methods = new Map();
    this.listeners = [];
    readline.createInterface({ input: this.child.stdout }).on('line', (line) => {
      const message = JSON.parse(line);
      this.received.push([message, this.methods.get(message.id)]);
      if ('method' in message) this.listeners.forEach((listener) => listener(message));
      this.waiting.get(message.id)?.(message);
    });
    this.ended = new Promise((resolve) => this.child.on('exit', resolve));
  }

  send(message) {
    this.child.stdin.write(JSON.stringify(message) + '\n');
  }

  ask(id, method, params) {
    this.methods.set(id, method);
    const answer = new Promise((resolve) => this.waiting.set(id, resolve));
    this.send({ jsonrpc: '2.0', id, method, ...(params ? { params } : {}) });
    return answer;
  }

  modern(id, method, params = {}, meta = {}) {
    return this.ask(id, method, {
      ...params,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/clientInfo': { name: 'wire', version: '1' },
        ...meta,
      },
    });
  }

  notification(method) {
    return new Promise((resolve) => {
      const listener = (message) => {
        if (message.method === method) {
          this.listeners = this.listeners.filter((each) => each !== listener);
          resolve(message);
        }
      };
      this.listeners.push(listener);
    });
  }

  async close() {
    this.child.stdin.end();
    return this.ended;
  }
}
