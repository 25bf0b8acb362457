// The official client's conversations of the Live API of Gemini, through the gateway before a strict server of
// it (module/tests/endpoints, which starts the suite).

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GoogleGenAI, Modality } from '@google/genai';

const ai = new GoogleGenAI({ apiKey: process.env.GATEWAY_KEY, httpOptions: { baseUrl: process.env.GATEWAY_URL } });

// talk begins a conversation, and returns it with a function that waits for a message.
const talk = async (model, config) => {
  const messages = [];
  let arrived = () => {};
  let settle;
  const closed = new Promise((resolve) => { settle = resolve; });
  const session = await Promise.race([ai.live.connect({
    model,
    config: { responseModalities: [Modality.AUDIO], ...config },
    callbacks: { onmessage: (m) => { messages.push(m); arrived(); }, onclose: settle, onerror: settle },
  }), closed.then(({ code, reason }) => { throw new Error(`${code} ${reason}`); })]);
  const until = async (is) => {
    for (;;) {
      const found = messages.find(is);
      if (found) return found;
      await new Promise((resolve) => { arrived = resolve; });
    }
  };
  return { session, until };
};

test('a turn', async () => {
  const { session, until } = await talk('voice');
  session.sendRealtimeInput({ audio: { data: 'AAAA', mimeType: 'audio/pcm;rate=16000' } });
  session.sendClientContent({ turns: 'hello' });
  const { usageMetadata } = await until((m) => m.usageMetadata);
  assert.equal(usageMetadata.responseTokenCount, 50);
  session.close();
});

test('a resumed session', async () => {
  const first = await talk('voice', { sessionResumption: {} });
  const { sessionResumptionUpdate } = await first.until((m) => m.sessionResumptionUpdate);
  first.session.close();
  const again = await talk('voice', { sessionResumption: { handle: sessionResumptionUpdate.newHandle } });
  await again.until((m) => m.sessionResumptionUpdate);
  again.session.close();
});

test('another model', async () => {
  await assert.rejects(talk('nobody'), /1008 model: 'nobody' is not known/);
});
