// Agents of all vendors work on a model of the Gemini API: two turns with calls, whose
// signatures come back to the model, and a third one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { order } from './agent.js';
import { startClaude } from './claude-code.js';
import { lastText, startCodex } from './codex.js';
import { startGemini } from './gemini.js';
import { startGeminiCLI, textOf } from './gemini-cli.js';

test('agents, provider of the gemini format', { concurrency: true }, async (t) => {
  const refusals = await startGemini(t);

  const claude = t.test('claude code', async (sub) => {
    // Claude Code sends thinking back only if the answer has the name of the model that it asked for.
    const { exchanges, read, turn } = await startClaude(sub, 'gemini-3-flash-preview');
    await turn(order('Bash', { command: 'echo one > one.txt' }), order('Bash', { command: 'echo two > two.txt' }));
    assert.equal(read('one.txt') + read('two.txt'), 'one\ntwo\n');
    assert.match(await turn(order('Bash', { command: 'cat one.txt two.txt' })), /^The tools answered: .*one\s+two/s);
    assert.match(await turn('What happened so far?'), /^You wrote: .*What happened so far\?/s);
    assert.deepEqual(refusals, []);
    assert.deepEqual(exchanges.filter(({ method }) => method === 'POST').map(({ status }) => status), Array(5).fill(200));
  });

  const codex = t.test('codex', async (sub) => {
    const { exchanges, read, turn } = await startCodex(sub, 'gpt-5.5-gemini');
    await turn(order('exec_command', { cmd: 'echo one > one.txt' }), order('exec_command', { cmd: 'echo two > two.txt' }));
    assert.equal(read('one.txt') + read('two.txt'), 'one\ntwo\n');
    assert.match(lastText(await turn(order('exec_command', { cmd: 'cat one.txt two.txt' }))), /^The tools answered: .*one\s+two/s);
    assert.match(lastText(await turn('What happened so far?')), /^You wrote: .*What happened so far\?/s);
    assert.deepEqual(refusals, []);
    assert.deepEqual(exchanges.filter(({ method }) => method === 'POST').map(({ status }) => status), Array(5).fill(200));
  });

  const gemini = t.test('gemini-cli', async (sub) => {
    const { exchanges, read, turn } = await startGeminiCLI(sub, 'gemini-3-flash-preview');
    await turn(order('run_shell_command', { command: 'echo one > one.txt' }), order('run_shell_command', { command: 'echo two > two.txt' }));
    assert.equal(read('one.txt') + read('two.txt'), 'one\ntwo\n');
    assert.match(textOf(await turn(order('run_shell_command', { command: 'cat one.txt two.txt' }))), /^The tools answered: .*one\s+two/s);
    assert.match(textOf(await turn('What happened so far?')), /^You wrote: .*What happened so far\?/s);
    assert.deepEqual(refusals, []);
    assert.deepEqual(exchanges.map(({ status }) => status), Array(5).fill(200));
  });

  await Promise.all([claude, codex, gemini]);
});
