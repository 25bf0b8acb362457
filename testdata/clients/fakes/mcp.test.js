// The official clients of the Model Context Protocol, of both of its eras, through the gateway before the
// official servers (module/tests/usage, which starts the suite).

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { createRequire } from 'node:module';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';

const { GATEWAY_URL, ALICE_KEY, BOB_KEY, MODERN_PORT, EVERYTHING_PORT } = process.env;
const authorized = (key) => ({ requestInit: { headers: { Authorization: `Bearer ${key}` } } });
const at = (name) => new URL(`${GATEWAY_URL}/mcp/${name}`);
const all = new URL(`${GATEWAY_URL}/mcp`);

let everything;
let modern;

// The server of the later era has no sessions, and refuses what is not its credential.
before(async () => {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'modern', version: '1' }, { capabilities: { tools: {} } });
    const inputSchema = fromJsonSchema({ type: 'object', properties: { q: { type: 'string' } } });
    for (const name of ['search_code', 'delete_all'])
      server.registerTool(name, { description: name, inputSchema }, async ({ q }) => ({ content: [{ type: 'text', text: `${name} ${q}` }] }));
    return server;
  }, { legacy: 'reject' });
  modern = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.headers.authorization !== 'Bearer token-of-the-server') return response.writeHead(401).end();
    const { method, headers, url } = request;
    const answer = await handler.fetch(new Request(`http://127.0.0.1${url}`, { method, headers, body: chunks.length ? Buffer.concat(chunks) : undefined }));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body) for await (const chunk of answer.body) response.write(chunk);
    response.end();
  });
  await new Promise((listening) => modern.listen(Number(MODERN_PORT), '127.0.0.1', listening));
  const main = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
  everything = spawn(process.execPath, [main, 'streamableHttp'], { env: { ...process.env, PORT: EVERYTHING_PORT } });
  await new Promise((listening) => everything.stderr.on('data', (text) => String(text).includes('listening') && listening()));
});

after(() => {
  everything.kill();
  modern.closeAllConnections();
  modern.close();
});

// uses lists the tools of a server and calls one of them, and one that is not allowed.
async function uses(client, transport, tool, args, hidden) {
  await client.connect(transport);
  const tools = (await client.listTools()).tools.map((t) => t.name);
  assert.ok(tools.includes(tool) && !tools.includes(hidden), tools.join());
  await assert.rejects(client.callTool({ name: hidden, arguments: {} }), /not available with this key/);
  const { content } = await client.callTool({ name: tool, arguments: args });
  await client.close();
  return content[0].text;
}

const identity = { name: 'suite', version: '1' };

test('the client of the earlier versions uses a server with sessions', async () => {
  const text = await uses(new LegacyClient(identity), new LegacyTransport(at('everything'), authorized(ALICE_KEY)), 'echo', { message: 'hi' }, 'get-env');
  assert.equal(text, 'Echo: hi');
});

for (const mode of ['auto', { pin: '2026-07-28' }])
  test(`the client of the later versions uses a server without sessions, ${JSON.stringify(mode)}`, async () => {
    const client = new Client(identity, { versionNegotiation: { mode } });
    assert.equal(await uses(client, new StreamableHTTPClientTransport(at('modern'), authorized(ALICE_KEY)), 'search_code', { q: 'x' }, 'delete_all'), 'search_code x');
  });

test('the client of the later versions falls back on a server with sessions', async () => {
  const client = new Client(identity, { versionNegotiation: { mode: 'auto' } });
  assert.equal(await uses(client, new StreamableHTTPClientTransport(at('everything'), authorized(ALICE_KEY)), 'echo', { message: 'hi' }, 'get-env'), 'Echo: hi');
});

// usesAll lists the tools of all servers, calls one of each, and some that are not allowed.
async function usesAll(client, transport, calls, forbidden) {
  await client.connect(transport);
  assert.deepEqual((await client.listTools()).tools.map((t) => t.name).sort(), Object.keys(calls).sort());
  for (const [name, [args, answer]] of Object.entries(calls))
    assert.match((await client.callTool({ name, arguments: args })).content[0].text, answer);
  for (const name of forbidden)
    await assert.rejects(client.callTool({ name, arguments: {} }), /not available with this key/, name);
  assert.match((await client.callTool({ name: Object.keys(calls)[0], arguments: Object.values(calls)[0][0] })).content[0].text, Object.values(calls)[0][1]);
  await client.close();
}

// The key has servers of both eras. Those without sessions are not in a session.
const ofSessions = { 'everything__echo': [{ message: 'hi' }, /^Echo: hi$/], 'sums__get-sum': [{ a: 1, b: 2 }, /\b3\b/] };
const notOfSessions = ['everything__get-sum', 'sums__echo', 'everything__get-env', 'nobody__echo', 'echo'];

test('the client of the earlier versions uses two servers with sessions as one', async () => {
  await usesAll(new LegacyClient(identity), new LegacyTransport(all, authorized(ALICE_KEY)), ofSessions, notOfSessions);
});

test('the client of the later versions falls back on a session with two servers as one', async () => {
  const client = new Client(identity, { versionNegotiation: { mode: 'auto' } });
  await usesAll(client, new StreamableHTTPClientTransport(all, authorized(ALICE_KEY)), ofSessions, notOfSessions);
});

for (const mode of ['auto', { pin: '2026-07-28' }])
  test(`the client of the later versions uses two servers without sessions as one, ${JSON.stringify(mode)}`, async () => {
    const client = new Client(identity, { versionNegotiation: { mode } });
    await usesAll(client, new StreamableHTTPClientTransport(all, authorized(BOB_KEY)),
      { modern__search_code: [{ q: 'x' }, /^search_code x$/], notes__delete_all: [{ q: 'y' }, /^delete_all y$/] },
      ['modern__delete_all', 'notes__search_code', 'everything__echo', 'search_code']);
  });

test('a key without the server is refused', async () => {
  for (const transport of [new LegacyTransport(at('everything'), authorized('sk-nobody')), new StreamableHTTPClientTransport(at('modern'), authorized('sk-nobody'))]) {
    await assert.rejects(new (transport instanceof LegacyTransport ? LegacyClient : Client)(identity).connect(transport), /401|Unauthorized|no valid|key/i);
  }
});
