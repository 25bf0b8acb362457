// How the tests run Claude Code.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { key, newFolder, run, startRelay } from './agent.js';

// startClaude returns a function that runs one turn of one conversation, with further options.
export async function startClaude(t, model, further = []) {
  const { exchanges, url } = await startRelay(t);
  const { folder, read } = newFolder(t);
  const env = {
    CLAUDE_CONFIG_DIR: join(folder, '.claude'),
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_AUTH_TOKEN: key,
    ANTHROPIC_MODEL: model,
    ANTHROPIC_SMALL_FAST_MODEL: model,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_AUTOUPDATER: '1',
  };
  const options = ['--print', '--output-format', 'json', '--allowedTools', 'Bash Read Write Edit', ...further];
  const turn = async (...prompt) => {
    const [result] = await run('@anthropic-ai/claude-code/cli-wrapper.cjs', [...options, '--', prompt.join(' ')], { folder, env });
    options.push('--continue');
    assert.equal(result.subtype, 'success');
    assert.equal(result.is_error, false);
    assert.ok(result.usage.input_tokens > 0 && result.usage.output_tokens > 0, JSON.stringify(result.usage));
    return result.result;
  };
  return { exchanges, folder, read, turn };
}
