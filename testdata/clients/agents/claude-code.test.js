// Claude Code, which speaks the messages format alone, works on a provider of
// the responses format: three turns with thinking and parallel calls.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { join } from 'node:path';
import { order } from './agent.js';
import { startClaude } from './claude-code.js';

test('claude code, provider of the responses format: three turns with thinking and parallel calls', async (t) => {
  const { exchanges, folder, read, turn } = await startClaude(t, 'responses-only');

  const first = await turn('[[think]]', order('Bash', { command: 'echo one > one.txt' }), order('Bash', { command: 'echo two > two.txt' }));
  assert.equal(read('one.txt'), 'one\n');
  assert.equal(read('two.txt'), 'two\n');
  assert.match(first, /^The tools answered: /);

  const second = await turn('[[think]]', order('Write', { file_path: join(folder, 'three.txt'), content: 'three' }), order('Read', { file_path: join(folder, 'one.txt') }));
  assert.equal(read('three.txt'), 'three');
  assert.match(second, /^The tools answered: .*three\.txt.*one/);

  assert.match(await turn('What happened so far?'), /in the responses format. You wrote: "What happened so far\?"/);

  // A broken stream is asked again without one, and nothing in the output shows it.
  const calls = exchanges.filter(({ method }) => method === 'POST');
  assert.deepEqual(calls.map(({ path, status, body }) => [path, status, body.stream]), Array(5).fill(['/v1/messages?beta=true', 200, true]));
  const blocks = calls.at(-1).body.messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  const ofType = (type) => blocks.filter((block) => block.type === type);
  assert.equal(ofType('tool_use').length, 4);
  assert.equal(ofType('tool_result').length, 4);
  assert.ok(ofType('thinking').length >= 2 && ofType('thinking').every((block) => block.thinking && block.signature));
});

// Claude Code repeated the 502 of an exhausted account for minutes.
test('claude code asks once if the account of the gateway is exhausted', async (t) => {
  const { exchanges, turn } = await startClaude(t, 'responses-only');
  await assert.rejects(turn('[[fault:402]] Hello'), /the gateway's account with the upstream is exhausted/);
  assert.deepEqual(exchanges.filter(({ method }) => method === 'POST').map(({ status }) => status), [429]);
});
