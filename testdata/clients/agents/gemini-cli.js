// How the tests run gemini-cli.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { key, newFolder, run, startRelay } from './agent.js';

// settings choose the key. With a base URL and without this choice, gemini-cli refuses to start.
const settings = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  privacy: { usageStatisticsEnabled: false },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
};

// startGeminiCLI returns a function that runs one turn of one conversation: it resolves to the
// events that gemini-cli shows. Without a model, gemini-cli asks one for the model of each turn. more are
// further settings.
export async function startGeminiCLI(t, model, host, more) {
  const { exchanges, url } = await startRelay(t, host);
  const { folder, read } = newFolder(t);
  mkdirSync(join(folder, '.gemini'));
  writeFileSync(join(folder, '.gemini', 'settings.json'), JSON.stringify({ ...settings, ...more }));
  const env = { GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: key, GEMINI_CLI_TRUST_WORKSPACE: 'true' };
  const options = ['--yolo', '--output-format', 'stream-json', ...(model ? ['--model', model] : [])];
  const turn = async (...prompt) => {
    const events = await run('@google/gemini-cli/bundle/gemini.js', [...options, '--prompt', prompt.join(' ')], { folder, env });
    if (!options.includes('--resume')) options.push('--resume', 'latest');
    assert.equal(events.at(-1).status, 'success', JSON.stringify(events.at(-1)));
    assert.ok(events.at(-1).stats.input_tokens > 0 && events.at(-1).stats.output_tokens > 0, JSON.stringify(events.at(-1)));
    return events;
  };
  return { exchanges, read, turn };
}

// textOf returns what the model wrote in a turn.
export const textOf = (events) => events.filter(({ type, role }) => type === 'message' && role === 'assistant').map(({ content }) => content).join('');

// runPage runs what the page about clients shows, with a prompt, and returns what is printed.
export async function runPage(t) {
  const { exchanges, url } = await startRelay(t);
  const { folder } = newFolder(t);
  const page = readFileSync(new URL('../../../caddyfile/docs/clients.md', import.meta.url), 'utf8');
  const [, shown, commands] = page.match(/^```json\n(\{ "security".*?)^```\n\n```sh\n(.*?)^```$/ms);
  mkdirSync(join(folder, '.gemini'));
  writeFileSync(join(folder, '.gemini', 'settings.json'), JSON.stringify({ ...settings, ...JSON.parse(shown) }));
  assert.ok(commands.includes('http://localhost:8080'), 'the address that is replaced is in the commands');
  const script = `${commands.replaceAll('http://localhost:8080', url).trimEnd()} --skip-trust --prompt "Say hello"`;
  const PATH = join(import.meta.dirname, 'node_modules', '.bin') + delimiter + process.env.PATH;
  const { stdout } = await promisify(execFile)('sh', ['-euc', script], { cwd: folder, env: { PATH, HOME: folder, GATEWAY_KEY: key } });
  return { exchanges, stdout };
}
