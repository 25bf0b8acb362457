// What every test file shares: where the gateway is, and one client a call.
// The gateway runs with ../Caddyfile; the suite fails, and never skips, when its
// address or one of its keys is missing.

import Anthropic from '@anthropic-ai/sdk';
import AnthropicZero from 'anthropic-sdk-0';
import OpenAI from 'openai';
import OpenAISix from 'openai-6';

function required(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: start the gateway and give its address and key to the suite`);
  return value;
}

export const baseURL = required('GATEWAY_URL');
export const key = required('GATEWAY_KEY');
export const narrowKey = required('GATEWAY_NARROW_KEY'); // may use the model 'alias' alone
export const expiredKey = required('GATEWAY_EXPIRED_KEY');
export const limitedKey = required('GATEWAY_LIMITED_KEY'); // may send 4 requests an hour
export const budgetKey = required('GATEWAY_BUDGET_KEY'); // has a budget for one answer of the model 'priced'
export const model = 'demo';
export const replayPort = Number(required('REPLAY_PORT')); // where the gateway expects the suite's own provider
export const impatientURL = baseURL.replace('127.0.0.1', 'localhost'); // the site that tells clients to wait

// The majors in use side by side. They differ on the wire: 0.x sends an API
// key as x-api-key and version 2023-06-01, 1.x as a bearer and 2026-10-21.
export const anthropicMajors = [
  ['@anthropic-ai/sdk 1', Anthropic],
  ['@anthropic-ai/sdk 0', AnthropicZero],
];

export const openaiMajors = [
  ['openai 7', OpenAI],
  ['openai 6', OpenAISix],
];

// Nothing is read from the environment and nothing is retried unless a test asks for it.
export function anthropic(SDK, options = {}) {
  return new SDK({ baseURL, apiKey: key, authToken: null, maxRetries: 0, ...options });
}

export function openai(SDK, options = {}) {
  return new SDK({ baseURL: `${baseURL}/v1`, apiKey: key, maxRetries: 0, ...options });
}

// recordingFetch is a fetch that keeps the requests it sent, for a client's `fetch` option.
export function recordingFetch() {
  const sent = [];
  const fetchAndKeep = (url, init) => {
    sent.push({ url: String(url), headers: new Headers(init.headers) });
    return fetch(url, init);
  };
  return { sent, fetch: fetchAndKeep };
}

// failure returns the error that a promise is rejected with, and fails when there is none.
export async function failure(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('the request succeeded, an error was expected');
}

export async function collect(iterable) {
  const items = [];
  for await (const item of iterable) items.push(item);
  return items;
}

export const requestID = /^req_[0-9A-Za-z]{24}$/;
