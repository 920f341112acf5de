import { once } from 'node:events';
import { type EngineName, startApp } from '../app.ts';

/**
 * Program of the product that test files of a run share: prints its address and credentials on one line and runs until
 * its standard input ends. Exits with 1 when its configuration was changed, because the files that share it only read.
 */
const app = await startApp(process.argv[2] as EngineName);
const { records } = app.application.installation;
const revision = await records.revision();
console.log(JSON.stringify({ url: app.url, credentials: app.credentials }));
process.stdin.resume();
await once(process.stdin, 'end');
const changes = (await records.revision()) - revision;
await app.close();
if (changes > 0) {
  console.error(`A test file that shares a product has written to it (${changes} changes).`);
  process.exitCode = 1;
}
