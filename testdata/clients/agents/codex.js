// How the tests run Codex.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { key, newFolder, run, startRelay } from './agent.js';

// once makes Codex repeat nothing.
export const once = `request_max_retries = 0
stream_max_retries = 0
`;

// configuration makes Codex ask nobody but the gateway.
const configuration = (model, url, retries) => `
model = "${model}"
model_provider = "gateway"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.gateway]
name = "gateway"
base_url = "${url}/v1"
env_key = "GATEWAY_KEY"
wire_api = "responses"
supports_websockets = false
${retries}`;

// startCodex returns a function that runs one turn of one conversation: it
// resolves to the items that Codex shows.
export async function startCodex(t, model, retries = once) {
  const { exchanges, url } = await startRelay(t);
  const { folder, read } = newFolder(t);
  const CODEX_HOME = join(folder, '.codex');
  mkdirSync(CODEX_HOME);
  writeFileSync(join(CODEX_HOME, 'config.toml'), configuration(model, url, retries));
  const options = ['--json', '--skip-git-repo-check'];
  let conversation = ['exec'];
  const turn = async (...prompt) => {
    const events = await run('@openai/codex/bin/codex.js', [...conversation, ...options, prompt.join(' ')], {
      folder, env: { CODEX_HOME, GATEWAY_KEY: key },
    });
    conversation = ['exec', 'resume', '--last'];
    assert.equal(events.at(-1).type, 'turn.completed', JSON.stringify(events.at(-1)));
    assert.ok(events.at(-1).usage.output_tokens > 0);
    return events.filter((event) => event.type === 'item.completed').map((event) => event.item);
  };
  return { exchanges, read, turn };
}

export const ofType = (items, type) => items.filter((item) => item.type === type);
export const lastText = (items) => ofType(items, 'agent_message').at(-1).text;
