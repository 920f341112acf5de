import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A walk through the product that a page shows, run as it is written. */
export interface Walk {
  readonly text: string;
  /** The answers the page promises, in order, as patterns: `…` stands for anything. */
  readonly promised: readonly RegExp[];
  /** Runs all of it in one shell, and sees that every promise is kept. */
  run(environment: Readonly<Record<string, string>>): Promise<void>;
}

const root = join(import.meta.dirname, '../..');

export function walkOf(page: string): Walk {
  const text = readFileSync(join(root, page), 'utf8');
  const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block!);
  const promised = [...blocks.join('\n').matchAll(/^# → (.*)$/gm)].map(([, answer]) => {
    const escaped = answer!.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/…|<[a-z ]+>/g, '[\\s\\S]*?');
    return new RegExp(escaped);
  });
  return {
    text,
    promised,
    async run(environment) {
      const { code, output } = await shell(`set -euo pipefail\n${blocks.join('\n')}`, environment);
      assert.equal(code, 0, output);
      let rest = output;
      for (const answer of promised) {
        const found = answer.exec(rest);
        assert.ok(found, `${answer} does not follow in:\n${rest}`);
        rest = rest.slice(found.index + found[0].length);
      }
    },
  };
}

function shell(script: string, environment: Readonly<Record<string, string>>) {
  const path = `${dirname(process.execPath)}:${process.env.PATH}`;
  const child = spawn('bash', ['-c', script], { env: { ...environment, PATH: path }, cwd: root });
  let output = '';
  child.stdout.on('data', chunk => (output += chunk));
  child.stderr.on('data', chunk => (output += chunk));
  return new Promise<{ code: number; output: string }>(resolve =>
    child.on('close', code => resolve({ code: code ?? 1, output })),
  );
}
