// Codex, which speaks the responses format alone, works on providers of other
// formats: three turns with parallel calls, a patch, and reasoning that comes
// back to the provider that made it.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { order } from './agent.js';
import { lastText, ofType, startCodex } from './codex.js';

const patch = `*** Begin Patch
*** Add File: patched.txt
+A patch wrote this file.
*** End Patch
`;

// assertAllAnswered fails if Codex had to repeat a request, or met an error that
// it does not show.
const assertAllAnswered = (exchanges, count) => assert.deepEqual(
  exchanges.filter(({ method }) => method === 'POST').map(({ path, status }) => `${path} ${status}`),
  Array(count).fill('/v1/responses 200'),
);

// The name of a model decides what Codex offers to it: what begins with gpt-5.5
// gets tools and apply_patch, what begins with gpt-6.1-sol a namespace with one
// tool that runs scripts.
for (const format of ['responses', 'chat', 'messages']) {
  describe(`codex, provider of the ${format} format`, () => {
    test('three turns with parallel calls, a patch, and the whole conversation', async (t) => {
      const { exchanges, read, turn } = await startCodex(t, `gpt-5.5-${format}`);

      const first = await turn(order('exec_command', { cmd: 'echo one > one.txt' }), order('exec_command', { cmd: 'echo two > two.txt' }));
      assert.equal(read('one.txt'), 'one\n');
      assert.equal(read('two.txt'), 'two\n');
      assert.deepEqual(ofType(first, 'command_execution').map((item) => item.exit_code), [0, 0]);
      assert.match(lastText(first), /^The tools answered: .*exited with code 0.*exited with code 0/);

      const second = await turn(order('apply_patch', { input: patch }));
      assert.equal(read('patched.txt'), 'A patch wrote this file.\n');
      assert.equal(ofType(second, 'file_change')[0].status, 'completed');
      assert.match(lastText(second), /^The tools answered: .*patched\.txt/);

      const third = await turn('What happened so far?');
      assert.match(lastText(third), new RegExp(`in the ${format} format. You wrote: "What happened so far\\?"`));

      assertAllAnswered(exchanges, 5);
      const history = exchanges.at(-1).body.input.map((item) => item.type);
      for (const [type, count] of Object.entries({ function_call: 2, function_call_output: 2, custom_tool_call: 1, custom_tool_call_output: 1 })) {
        assert.equal(history.filter((item) => item === type).length, count, type);
      }
    });

    test('a script in a namespace, whose tools came with the input', async (t) => {
      const { exchanges, turn } = await startCodex(t, `gpt-6.1-sol-${format}`);
      const exec = format === 'responses' ? 'exec' : 'functions__exec';
      assert.match(lastText(await turn(order(exec, { input: 'text("the script ran")' }))), /^The tools answered: .*the script ran/);
      assert.match(lastText(await turn('What happened so far?')), /You wrote: "What happened so far\?"/);
      assertAllAnswered(exchanges, 3);
      const call = exchanges.at(-1).body.input.find((item) => item.type === 'custom_tool_call');
      assert.deepEqual([call.namespace, call.name, call.input], ['functions', 'exec', 'text("the script ran")']);
    });

    // Codex repeated the 502 of an exhausted account 30 times.
    test('an exhausted account is asked once', async (t) => {
      const { exchanges, turn } = await startCodex(t, `gpt-5.5-${format}`, '');
      await assert.rejects(turn('[[fault:402]] Hello'), /Quota exceeded/);
      assert.deepEqual(exchanges.map(({ status }) => status), [429]);
    });

    test('a stream that breaks off is a failed turn', async (t) => {
      const { exchanges, turn } = await startCodex(t, `gpt-5.5-${format}`);
      await assert.rejects(turn('[[fault:cut]] Tell a story that breaks off'), /turn\.failed/);
      assertAllAnswered(exchanges, 1);
    });
  });
}

// The providers take back only what they signed. What the gateway leaves out of a
// request instead, it reports.
for (const [format, seal] of [['responses', /^[^:]+$/], ['messages', /^gwth1:/]]) {
  test(`reasoning of a provider of the ${format} format comes back to it, sealed`, async (t) => {
    const { exchanges, turn } = await startCodex(t, `gpt-5.5-${format}`);
    await turn('[[think]]', order('exec_command', { cmd: 'true' }));
    await turn('[[think]]', order('exec_command', { cmd: 'true' }));
    await turn('Go on');
    assertAllAnswered(exchanges, 5);
    const sealed = exchanges.slice(1).map(({ body, dropped }) => {
      assert.doesNotMatch(dropped, /encrypted_content|summary/);
      return body.input.filter((item) => item.type === 'reasoning').map((item) => item.encrypted_content);
    });
    const all = sealed.at(-1);
    assert.ok(all.length >= 4, `${all.length} reasoning items`);
    all.forEach((text) => assert.match(text, seal));
    for (const earlier of sealed) assert.deepEqual(earlier, all.slice(0, earlier.length), 'not a byte changes between turns');
  });
}

// Codex knows no refusal part, and leaves out the message that holds one, whether the
// provider has written it or the gateway. clients.md tells operators so.
for (const format of ['responses', 'chat']) {
  test(`a refusal of a provider of the ${format} format completes the turn without a message`, async (t) => {
    const { exchanges, turn } = await startCodex(t, `gpt-5.5-${format}`);
    assert.deepEqual(ofType(await turn('[[refuse]] this'), 'agent_message'), []);
    assertAllAnswered(exchanges, 1);
  });
}

test('a refusal of a provider of the messages format is shown, and fails the turn', async (t) => {
  const { exchanges, turn } = await startCodex(t, 'gpt-5.5-messages');
  await assert.rejects(turn('[[refuse]] this'), /I cannot help with that.*reason: content_filter/s);
  assertAllAnswered(exchanges, 1);
});
