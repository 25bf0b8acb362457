// Claude Code, unchanged, signs in at the gateway as it does for a person who types /login, and works
// until the budget of the person is used up. A program answers its questions, as the extension of
// VS Code does.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { newFolder, run } from './agent.js';

const program = 'claude-code-newest/cli-wrapper.cjs';

// person makes an account, and returns a function that sends requests with its session.
async function person(url) {
  const name = { username: `person-${process.pid}-${Date.now()}`, password: 'correct horse battery' };
  const send = async (path, body, token) => {
    const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
    const answer = await fetch(url + path, { method: body ? 'POST' : 'GET', headers, body: body && JSON.stringify(body) });
    assert.ok(answer.ok, `${path} ${answer.status}`);
    return answer.status === 204 ? null : answer.json();
  };
  await send('/api/v1/registration', name);
  const { token } = await send('/api/v1/session', name);
  return { name: name.username, ask: (path, body) => send(path, body, token) };
}

// logIn runs the sign-in, confirms the code as a person, and returns the states that it went through.
async function logIn(options, { ask }) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'node_modules', program), 'auth', 'login', '--gateway-json'], options);
  const states = [];
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('{')) continue;
    const { state, shown, confirmLabel, userCode, message } = JSON.parse(line);
    states.push(state);
    assert.notEqual(state, 'error', message);
    if (confirmLabel) child.stdin.write(`${JSON.stringify({ state, shown, accept: true })}\n`);
    if (userCode) {
      const asked = await ask('/api/v1/device', { code: userCode });
      assert.match(asked.agent, /^claude-code\//);
      await ask('/api/v1/device/answer', { code: userCode, confirm: true });
    }
  }
  return states;
}

test('claude code signs in, works until the budget is used up, and signs out', async (t) => {
  const url = process.env.GATEWAY_URL; // a relay is another origin, whose answers Claude Code heeds less
  const { folder } = newFolder(t);
  const config = join(folder, '.claude');
  mkdirSync(config);
  writeFileSync(join(config, 'settings.json'), JSON.stringify({ forceLoginMethod: 'gateway', forceLoginGatewayUrl: url }));
  const env = {
    CLAUDE_CONFIG_DIR: config,
    ANTHROPIC_MODEL: 'priced',
    CLAUDE_CODE_MAX_OUTPUT_TOKENS: '60',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_AUTOUPDATER: '1',
  };
  const alice = await person(url);
  const states = await logIn({ cwd: folder, env: { PATH: process.env.PATH, HOME: folder, ...env } }, alice);
  assert.deepEqual(states.filter((state) => state !== 'connecting'), ['url_input', 'trust_prompt', 'polling', 'confirm_account', 'saving', 'done']);
  const { items: [key] } = await alice.ask('/api/v1/keys');
  assert.match(key.name, /^claude-code\/.* at /);
  assert.equal(key.limit, 'person');

  const turn = (prompt = 'Hello') => run(program, ['--print', '--output-format', 'json', '--', prompt], { folder, env });
  const spent = async () => (await turn('/usage'))[0].result.match(/Spend limit: \$(\S+) \/ \$65(?:\.00)? spent this month \(\d+%\) · resets /)?.[1];
  assert.match(await spent(), /^0/);
  const [cheap] = await run(program, ['--print', '--output-format', 'json', '--', 'Hello'], { folder, env: { ...env, ANTHROPIC_MODEL: 'cheap' } });
  const { outputTokens, costUSD, costBasis } = cheap.modelUsage.cheap;
  assert.deepEqual([costUSD.toFixed(9), costBasis], [(outputTokens * 1e-4).toFixed(9), 'managed'], 'the price of the gateway');
  const [first] = await turn();
  assert.equal(first.is_error, false, first.result);
  assert.match(await spent(), /^[1-9]/);
  await assert.rejects(turn(), (error) => /the budget of .* (has less left|is used up)/.test(error) && !/not your usage limit/.test(error));
  const { items: [renewed] } = await alice.ask('/api/v1/keys');
  assert.notEqual(renewed.key, key.key, 'the token of a minute was renewed');

  await run(program, ['auth', 'logout', '--json'], { folder, env });
  assert.deepEqual((await alice.ask('/api/v1/keys')).items, []);
});
