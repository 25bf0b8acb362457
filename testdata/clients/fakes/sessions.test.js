// The official client's conversations of the Live API of OpenAI, through the gateway before a strict server of
// it (module/tests/endpoints, which starts the suite).

import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI from 'openai';
import { LiveWS } from 'openai/resources/live/ws';

const client = new OpenAI({ baseURL: `${process.env.GATEWAY_URL}/v1`, apiKey: process.env.GATEWAY_KEY, maxRetries: 0 });

test('a conversation', async () => {
  const live = new LiveWS(client);
  const closed = new Promise((resolve, reject) => {
    live.on('error', reject);
    live.on('session.started', () => {
      live.send({ type: 'session.input_audio.append', audio: 'AAAA' });
      live.send({ type: 'session.close' });
    });
    live.on('session.closed', resolve);
  });
  live.socket.on('open', () => live.send({ type: 'session.start', session: { model: 'talk' } }));
  assert.equal((await closed).usage.seconds, 2.5);
  live.close();
});

test('an unknown model', async () => {
  const live = new LiveWS(client);
  const refused = new Promise((resolve) => { live.on('error', resolve); });
  live.socket.on('open', () => live.send({ type: 'session.start', session: { model: 'another' } }));
  assert.match((await refused).message, /'another' is not known/);
  live.close();
});
