// The official client's WebSockets of the Realtime API, through the gateway before a strict server of
// it (module/tests/endpoints, which starts the suite).

import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI from 'openai';
import { OpenAIRealtimeWebSocket } from 'openai/realtime/websocket';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import WebSocket from 'ws';

globalThis.WebSocket = WebSocket; // that of browsers, whose keys are among the subprotocols

const client = new OpenAI({ baseURL: `${process.env.GATEWAY_URL}/v1`, apiKey: process.env.GATEWAY_KEY, maxRetries: 0, dangerouslyAllowBrowser: true });

// talk has a conversation of one response, and returns the last event.
const talk = (rt) => new Promise((resolve, reject) => {
  rt.on('error', reject);
  rt.on('session.created', () => rt.send({ type: 'session.update', session: { type: 'realtime', model: 'voice' } }));
  rt.on('session.updated', () => rt.send({ type: 'response.create' }));
  rt.on('response.done', (event) => { rt.close(); resolve(event); });
});

test('on a server', async () => {
  const { response } = await talk(new OpenAIRealtimeWS({ model: 'voice' }, client));
  assert.equal(response.usage.output_tokens, 50);
});

test('in a browser', async () => {
  const { response } = await talk(new OpenAIRealtimeWebSocket({ model: 'voice' }, client));
  assert.equal(response.status, 'completed');
});

test('another model', async () => {
  const rt = new OpenAIRealtimeWS({ model: 'voice' }, client);
  const refused = new Promise((resolve) => { rt.on('error', resolve); });
  rt.on('session.created', () => rt.send({ type: 'session.update', session: { type: 'realtime', model: 'another' } }));
  assert.equal((await refused).error.param, 'session.model');
  rt.close();
});
