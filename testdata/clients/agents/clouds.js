// Coding agents on Claude in clouds, with the fakes of module/tests/clouds, which starts this
// suite: two turns with calls, and a third one.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { order } from './agent.js';
import { startClaude } from './claude-code.js';
import { lastText, startCodex } from './codex.js';

// assertAnswered fails if the agent had to repeat a request.
const assertAnswered = (exchanges) => assert.deepEqual(exchanges.filter(({ method }) => method === 'POST').map(({ status }) => status), Array(5).fill(200));

describe('claude on clouds', { concurrency: true }, () => {
  for (const cloud of ['bedrock', 'vertex']) {
    test(`claude code, provider ${cloud}`, async (t) => {
      const { exchanges, read, turn } = await startClaude(t, `claude-${cloud}`);
      await turn('[[think]]', order('Bash', { command: 'echo one > one.txt' }), order('Bash', { command: 'echo two > two.txt' }));
      assert.equal(read('one.txt') + read('two.txt'), 'one\ntwo\n');
      assert.match(await turn('[[think]]', order('Bash', { command: 'cat one.txt two.txt' })), /^The tools answered: .*one.*two/s);
      assert.match(await turn('What happened so far?'), /You wrote: "What happened so far\?"/);
      assertAnswered(exchanges);
    });

    test(`codex, provider ${cloud}`, async (t) => {
      const { exchanges, read, turn } = await startCodex(t, `gpt-5.5-${cloud}`);
      await turn('[[think]]', order('exec_command', { cmd: 'echo one > one.txt' }), order('exec_command', { cmd: 'echo two > two.txt' }));
      assert.equal(read('one.txt') + read('two.txt'), 'one\ntwo\n');
      assert.match(lastText(await turn('[[think]]', order('exec_command', { cmd: 'cat one.txt two.txt' }))), /^The tools answered: .*one.*two/s);
      assert.match(lastText(await turn('What happened so far?')), /You wrote: "What happened so far\?"/);
      assertAnswered(exchanges);
    });
  }
});
