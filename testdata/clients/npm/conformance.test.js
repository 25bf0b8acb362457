// The numbered cases of the wire formats that are about answers, as the
// vendors' own clients read them.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { anthropic, anthropicMajors, collect, failure, impatientURL, openai, openaiMajors } from './gateway.js';
import { cases, eventsOf, play, startReplay } from './replay.js';

// assertHolds demands the members of objects that are named, and all items of arrays.
function assertHolds(got, want, path = 'answer') {
  if (Array.isArray(want)) {
    assert.equal(got?.length, want.length, path);
    want.forEach((item, i) => assertHolds(got[i], item, `${path}[${i}]`));
  } else if (want !== null && typeof want === 'object') {
    assert.ok(got !== null && typeof got === 'object', path);
    for (const [name, value] of Object.entries(want)) assertHolds(got[name], value, `${path}.${name}`);
  } else {
    assert.deepEqual(got, want, path);
  }
}

const turn = [{ role: 'user', content: 'hello' }];

// withoutOptions leaves out what only streams may ask for.
const withoutOptions = ({ stream_options, ...request }) => request;

// added is the answer that a stream of completions adds up to; the clients leave that to their users.
function added(chunks) {
  const answer = { choices: [] };
  for (const { choices, usage } of chunks) {
    for (const { index, text, finish_reason } of choices) {
      const choice = (answer.choices[index] ??= { index, text: '' });
      choice.text += text;
      choice.finish_reason = finish_reason;
    }
    answer.usage = usage ?? answer.usage;
  }
  return answer;
}

const readers = {
  m: (SDK, options) => ({
    plain: (request) => anthropic(SDK, options).messages.create(request),
    streamed: (request) => anthropic(SDK, options).messages.stream(request).finalMessage(),
    ask: ({ model, request }) => ({ model, max_tokens: 1000, messages: turn, ...request }),
  }),
  c: (SDK, options) => ({
    plain: (request) => openai(SDK, options).chat.completions.create(withoutOptions(request)),
    streamed: (request) => openai(SDK, options).chat.completions.stream(request).finalChatCompletion(),
    ask: ({ model, request }) => ({ model, messages: turn, ...request }),
  }),
  t: (SDK, options) => ({
    plain: (request) => openai(SDK, options).completions.create(withoutOptions(request)),
    streamed: async (request) => added(await collect(await openai(SDK, options).completions.create({ ...request, stream: true }))),
    ask: ({ model, request }) => ({ model, prompt: 'hello', ...request }),
  }),
};

const clients = [
  ...anthropicMajors.map(([major, SDK]) => [major, SDK, 'm']),
  ...openaiMajors.flatMap(([major, SDK]) => [[major, SDK, 'c'], [major, SDK, 't']]),
];

let replay;
before(async () => { replay = await startReplay(); });
after(() => { replay.server.close(); replay.server.closeAllConnections(); });

for (const [major, SDK, format] of clients) {
  const { plain, streamed, ask } = readers[format](SDK);
  describe(`${major}, cases of ${format}`, () => {
    for (const entry of cases.filter(({ client }) => client === format)) {
      test(`${entry.name} ${entry.lane}`, async () => {
        if (entry.failure) {
          const error = await failure(streamed(ask(entry)));
          assert.ok(error instanceof SDK.APIError, `got ${error}`);
          if (entry.failure.status) assert.equal(error.status, entry.failure.status);
          return;
        }
        if (!entry.events) assertHolds(await plain(ask(entry)), entry.want);
        if (!entry.plain) assertHolds(await streamed(ask(entry)), entry.want);
      });
    }
  });
}

// listening is a client's fetch that calls back with all that has been read so far.
const listening = (heard) => async (url, init) => {
  const response = await fetch(url, init);
  let text = '';
  const decoder = new TextDecoder();
  const tap = new TransformStream({
    transform(chunk, controller) {
      text += decoder.decode(chunk, { stream: true });
      heard(text);
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(tap), response);
};

const keepAlives = { m: /event: ping\n/g, c: /: keep-alive\n/g };

for (const [major, SDK, format] of clients.filter(([, , format]) => format !== 't')) {
  for (const lane of [`${format}>m`, `${format}>c`]) {
    describe(`${major}, silence on the lane ${lane}`, () => {
      // The words and calls of another case, over the lane of this one.
      const entry = cases.find((one) => one.lane === lane && one.want && one.events && !one.request);
      const script = entry ?? cases.find((one) => one.lane[2] === lane[2] && one.want && one.events && !one.request);
      const request = readers[format](SDK).ask({ model: script.model });

      // afterPings lets the provider wait until the client was told three times to wait.
      const afterPings = (act) => {
        let go;
        const told = new Promise((resolve) => { go = resolve; });
        replay.director = async (...call) => { await act(told, ...call); };
        const hear = (text) => { if ((text.match(keepAlives[format]) ?? []).length >= 3) go(); };
        const options = { baseURL: format === 'm' ? impatientURL : `${impatientURL}/v1`, fetch: listening(hear) };
        return readers[format](SDK, options).streamed(request).finally(() => { replay.director = null; });
      };
      const words = (answer) => (format === 'm' ? answer.content.at(-1).text : answer.choices[0].message.content);
      const busy = (response) => response.writeHead(503, { 'content-type': 'application/json' }).end('{"error":{"message":"busy"}}');

      test('G101 pings, then the answer, before the headers', async () => {
        const answer = await afterPings(async (told, incoming, response, one) => { await told; play(response, one); });
        assert.ok(words(answer).length > 0);
      });

      test('G101 pings, then the answer, behind the headers', async () => {
        const answer = await afterPings(async (told, incoming, response, one) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
          await told;
          response.end(eventsOf(one).join(''));
        });
        assert.ok(words(answer).length > 0);
      });

      test('G124 pings, then the answer of the second target', async () => {
        const asked = [];
        const answer = await afterPings(async (told, incoming, response, one) => {
          asked.push(incoming.url.split('/')[1]);
          await told;
          if (asked.length === 1) busy(response);
          else play(response, one);
        });
        assert.ok(words(answer).length > 0);
        assert.deepEqual(asked, ['first', 'second']);
      });

      test('G125 pings, then the error of the last target', async () => {
        const error = await failure(afterPings(async (told, incoming, response) => { await told; busy(response); }));
        assert.ok(error instanceof SDK.APIError, `got ${error}`);
        assert.match(JSON.stringify(error.error), /busy/);
      });
    });
  }
}

for (const [major, SDK] of openaiMajors) {
  describe(`${major}, one of two calls fails`, () => {
    const entry = cases.find(({ name }) => name.startsWith('G107'));
    const events = eventsOf(entry);
    const ask = (options) => readers.t(SDK, options).streamed({ model: entry.model, prompt: ['first', 'second'] });

    // directing answers the first of the calls that arrive by one function, the second by another.
    const directing = (...acts) => { replay.director = (incoming, response) => acts.shift()(response); };
    const failing = (response) => response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":{"message":"broken"}}');
    const gone = (response) => new Promise((resolve) => { response.on('close', resolve); });

    test('G109 before content', async () => {
      let ended;
      directing((response) => { ended = gone(response); }, failing);
      const error = await failure(ask().finally(() => { replay.director = null; }));
      assert.ok(error instanceof SDK.InternalServerError, `got ${error}`);
      assert.equal(error.status, 500);
      await ended;
    });

    test('G109 behind content', async () => {
      let ended;
      let heard;
      const content = new Promise((resolve) => { heard = resolve; });
      directing(
        (response) => {
          ended = gone(response);
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.write(events.slice(0, 3).join(''));
        },
        async (response) => {
          await content;
          failing(response);
        },
      );
      const fetch = listening((text) => { if (text.includes('"text":"H"')) heard(); });
      const error = await failure(ask({ fetch }).finally(() => { replay.director = null; }));
      assert.ok(error instanceof SDK.APIError, `got ${error}`);
      assert.equal(error.status, undefined, 'the status was sent long before');
      await ended;
    });
  });
}
