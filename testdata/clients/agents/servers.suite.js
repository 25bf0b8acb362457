// Claude Code, Codex and gemini-cli use two servers of the Model Context Protocol as one, through the gateway before
// the official server with everything. module/tests/usage starts the suite.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { key, order } from './agent.js';
import { startClaude } from './claude-code.js';
import { lastText, once, startCodex } from './codex.js';
import { startGeminiCLI, textOf } from './gemini-cli.js';

const { GATEWAY_URL, EVERYTHING_PORT } = process.env;
const url = `${GATEWAY_URL}/mcp`;
const headers = { Authorization: `Bearer ${key}` };

let everything;

before(async () => {
  const main = createRequire(`${process.cwd()}/`).resolve('@modelcontextprotocol/server-everything/dist/index.js');
  everything = spawn(process.execPath, [main, 'streamableHttp'], { env: { ...process.env, PORT: EVERYTHING_PORT } });
  await new Promise((listening) => everything.stderr.on('data', (text) => String(text).includes('listening') && listening()));
});

after(() => everything.kill());

// tools returns those that an agent has given to the model.
const tools = (exchanges) => JSON.stringify(exchanges.filter(({ body }) => body?.tools).map(({ body }) => body.tools));

// assertCalled checks that both tools have answered, in the order of their ends, and that the model was given the tools
// that the servers show, and no others of theirs.
function assertCalled(text, exchanges) {
  assert.match(text, /Echo: one/);
  assert.match(text, /20 and 22 is 42/);
  assert.match(tools(exchanges), /everything__echo/);
  assert.match(tools(exchanges), /sums__get.sum/);
  assert.doesNotMatch(tools(exchanges), /everything__get|sums__echo|get.env/);
}

test('claude code calls a tool of each server, and none that is not allowed', async (t) => {
  const config = JSON.stringify({ mcpServers: { all: { type: 'http', url, headers } } });
  const { exchanges, turn } = await startClaude(t, 'demo', ['--mcp-config', config, '--allowedTools', 'mcp__all']);
  const text = await turn(order('mcp__all__everything__echo', { message: 'one' }), order('mcp__all__sums__get-sum', { a: 20, b: 22 }));
  assertCalled(text, exchanges);
});

test('codex calls a tool of each server, and none that is not allowed', async (t) => {
  const { exchanges, turn } = await startCodex(t, 'demo', `${once}[mcp_servers.all]\nurl = "${url}"\nbearer_token_env_var = "GATEWAY_KEY"\n`);
  const text = lastText(await turn(order('mcp__all__everything__echo', { message: 'one' }), order('mcp__all__sums__get_sum', { a: 20, b: 22 })));
  assertCalled(text, exchanges);
});

test('gemini-cli calls a tool of each server, and none that is not allowed', async (t) => {
  const { exchanges, turn } = await startGeminiCLI(t, 'demo', undefined, { mcpServers: { all: { httpUrl: url, headers } } });
  const text = textOf(await turn(order('mcp_all_everything__echo', { message: 'one' }), order('mcp_all_sums__get-sum', { a: 20, b: 22 })));
  assertCalled(text, exchanges);
});
