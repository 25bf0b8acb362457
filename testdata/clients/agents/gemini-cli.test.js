// gemini-cli, which speaks the gemini format alone, works on providers of every format: two
// turns with calls, whose reasoning comes back to the provider that made it.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { order } from './agent.js';
import { runPage, startGeminiCLI, textOf } from './gemini-cli.js';

const shell = (command) => order('run_shell_command', { command });

// posted returns the requests that gemini-cli sent, with their answers: it repeats in silence
// what it cannot read.
const posted = (exchanges) => exchanges.map(({ method, path, status }) => `${method} ${path} ${status}`);
const streamed = (model) => `POST /v1beta/models/${model}:streamGenerateContent?alt=sse 200`;

// signatures returns those of the calls of a request.
const signatures = ({ body }) => body.contents.flatMap(({ parts }) => parts).filter((part) => part.functionCall).map((part) => part.thoughtSignature);

describe('gemini-cli', { concurrency: true }, () => {
  for (const [format, sealed] of [['messages', /^gwth1:/], ['chat', undefined], ['responses', /^gwrs1:/]]) {
    test(`two turns with calls, provider of the ${format} format`, async (t) => {
      const model = `${format}-only`;
      const { exchanges, read, turn } = await startGeminiCLI(t, model);

      const first = textOf(await turn('[[think]]', shell('echo one > one.txt'), shell('echo two > two.txt')));
      assert.equal(read('one.txt') + read('two.txt'), 'one\ntwo\n');
      assert.match(first, /The tools answered: /);
      assert.match(textOf(await turn('[[think]]', shell('cat one.txt two.txt'))), /The tools answered: .*one.*two/s);
      assert.deepEqual(posted(exchanges), Array(4).fill(streamed(model)));

      // The signature of a call comes back in the same turn. gemini-cli has a stand-in for those
      // of an earlier session, and returns each result of it twice.
      const [seal] = signatures(exchanges[1]);
      if (sealed) assert.match(Buffer.from(seal, 'base64').toString(), sealed);
      assert.equal(signatures(exchanges[2])[0], 'skip_thought_signature_validator');
      const results = exchanges[3].body.contents.flatMap(({ parts }) => parts).filter((part) => part.functionResponse);
      assert.equal(results.length, 2 * 2 + 1);
      for (const { dropped } of exchanges) assert.doesNotMatch(dropped, /functionCall|functionDeclarations/);
    });
  }

  // The router wants JSON, by a schema whose types are written in capitals.
  test('Y045 without a model, the router, a turn and its two calls work on another provider', async (t) => {
    const { exchanges, read, turn } = await startGeminiCLI(t, undefined, 'localhost');
    const events = await turn(shell('echo one > one.txt'));
    assert.match(textOf(events), /The tools answered: /);
    assert.equal(read('one.txt'), 'one\n');
    assert.deepEqual(posted(exchanges), [
      `POST /v1beta/models/gemini-3.5-flash-lite:generateContent 200`, ...Array(2).fill(streamed("gemini-3.8-flash")),
    ]);
  });

  test('the commands of the page about clients work', async (t) => {
    const { exchanges, stdout } = await runPage(t);
    assert.match(stdout, /This is the demo provider/);
    assert.deepEqual(posted(exchanges), [streamed('demo')]);
  });

  test('Y036 a stream that failed is a failed turn, and asked for once', async (t) => {
    const { exchanges, turn } = await startGeminiCLI(t, 'chat-only');
    await assert.rejects(turn('[[fault:error-event]] Tell a story that fails'), /gemini\.js ended with 1:/);
    assert.deepEqual(posted(exchanges), [streamed('chat-only')]);
  });

  test('Y042 an exhausted account is asked for once', async (t) => {
    const { exchanges, turn } = await startGeminiCLI(t, 'messages-only');
    await assert.rejects(turn('[[fault:402]] Hello'), /the gateway's account with the upstream is exhausted/);
    assert.deepEqual(exchanges.map(({ status }) => status), [400]);
  });
});
