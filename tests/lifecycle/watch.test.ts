import assert from 'node:assert/strict';
import { appendFileSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { after, test } from 'node:test';
import { scratch } from '../support/gw-process.ts';
import { anyPorts, copyProgram, endLeftOver, plainEnvironment, run, urlIn } from '../support/program-copy.ts';

const { fresh, remove } = scratch('watch');
after(async () => {
  await endLeftOver();
  await remove();
});

test('npm run dev starts on an existing data directory and restarts after a file change', async () => {
  const directory = fresh();
  copyProgram(directory, { withPackages: true });
  const plain = plainEnvironment({ ...anyPorts, GW_THREADS: '2' });
  const environment = { ...plain, PATH: `${join(directory, 'node_modules/.bin')}${delimiter}${plain.PATH}` };
  const { dev, start } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')).scripts;
  const once = run(['sh', '-c', `exec ${start}`], directory, environment);
  await once.until(/credentials\.json/);
  await once.stop();

  const watched = run(['sh', '-c', `exec ${dev}`], directory, environment);
  const [ready] = await watched.until(/is ready[\s\S]*?credentials\.json/);
  assert.equal((await fetch(`${urlIn(ready, 'gateway')}/ready`)).status, 200);
  appendFileSync(join(directory, 'src/version.ts'), '// changed\n');
  const [, again] = await watched.until(/Restarting[\s\S]*?(is ready[\s\S]*?credentials\.json)/);
  assert.equal((await fetch(`${urlIn(again!, 'gateway')}/ready`)).status, 200);
  assert.doesNotMatch(watched.output(), /TypeError|crashed/);
  await watched.stop();
});
