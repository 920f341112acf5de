import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { startPostgres } from '../tests/support/services/postgres.ts';
import { startRedis } from '../tests/support/services/redis.ts';
import { startSharedProducts } from '../tests/support/services/shared-products.ts';
import { ensureServices } from './services.ts';
import { createUnitTestCheck } from './unit-tests.ts';

/**
 * `npm test`: installs missing services, starts them once, runs every test file against them and stops them in any case.
 * Arguments choose files by a part of their path (`npm test -- src/base`); those that begin with `--` go to Node. At the
 * end no log of a test process may hold a secret that a test planted. A run lists the problems that operations returned
 * without a declaration; a whole run fails for them, and for declared ones that no response was, unless
 * `GW_TEST_PROBLEMS` is `list`. Few failed files of a whole run are run once more, one after the other, and named: a
 * test that fails only on a busy machine does not fail the run, a broken promise does. A file that runs for ten minutes
 * is ended and has failed. `npm run test:unit` (`--unit`) runs the tests that start no product and no service.
 */

const root = join(import.meta.dirname, '..');
/** More files than cores: many tests wait for processes and timers, a quarter of the time with one file more. */
const concurrency = availableParallelism() + 2;
/** More failed files than this are no accident of a busy machine. */
const maxRepeatedFiles = 5;
/** Compile cache shared by all test files: most load most of the product. */
const compiled = join(root, 'node_modules/.cache/tests');

const isStrict = process.env.GW_TEST_PROBLEMS !== 'list';
const isUnitRun = process.argv.includes('--unit');
const args = process.argv.slice(2).filter(arg => arg !== '--unit');
const forNode = args.filter(arg => arg.startsWith('--'));
const pathParts = args.filter(arg => !arg.startsWith('--')).map(arg => relative(root, join(root, arg)));
const files = globSync(['src/**/*.test.ts', 'tests/**/*.test.ts'], { cwd: root })
  .filter(file => pathParts.length === 0 || pathParts.some(part => file.includes(part)))
  .filter(isUnitRun ? createUnitTestCheck(root) : () => true)
  .sort();

/** Set by a signal: the tests end first, then the services, as at the end of any run. */
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupted.abort(signal));

process.exitCode = await main();

async function main(): Promise<number> {
  if (files.length === 0) {
    console.error(`No test file matches ${pathParts.join(' ')}.`);
    return 1;
  }
  if (isUnitRun) return runTests({});
  try {
    ensureServices();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }
  const logs = mkdtempSync(join(tmpdir(), 'gw-test-logs-'));
  const isWhole = pathParts.length === 0 && forNode.length === 0;
  const code = await withServices({ GW_TEST_LOGS: logs }, isWhole ? runTestsRepeatingFailed : runTests);
  const leaks = countLeaks(logs);
  const { countUndeclaredProblems, countUnreachedProblems } = await import('./problem-coverage.ts');
  const undeclared = countUndeclaredProblems(logs);
  const unreached = isWhole && !interrupted.signal.aborted ? countUnreachedProblems(logs) : 0;
  const failures = leaks + (isStrict && isWhole ? undeclared + unreached : 0);
  if (code === 0 && failures === 0) rmSync(logs, { recursive: true, force: true });
  else console.log(`The logs of this run are in ${logs}.`);
  return code !== 0 ? code : Math.min(failures, 1);
}

async function withServices(
  logs: Record<string, string>,
  use: (env: Record<string, string>) => Promise<number>,
): Promise<number> {
  const started = await Promise.allSettled([startPostgres(), startRedis()]);
  try {
    const [postgres, redis] = started;
    if (postgres.status === 'rejected') throw postgres.reason;
    if (redis.status === 'rejected') throw redis.reason;
    const env = { ...logs, GW_TEST_POSTGRES_URL: postgres.value.url, GW_TEST_REDIS_URL: redis.value.url };
    return await withSharedProducts(env, use);
  } finally {
    for (const service of started) if (service.status === 'fulfilled') await service.value.stop();
  }
}

/** Starts the products that test files share where a chosen file uses them. */
async function withSharedProducts(
  env: Record<string, string>,
  use: (env: Record<string, string>) => Promise<number>,
): Promise<number> {
  if (!files.some(file => readFileSync(join(root, file), 'utf8').includes('support/shared-app.ts'))) return use(env);
  const products = await startSharedProducts(env);
  const code = await use({ ...env, ...products.env });
  const complaints = await products.stop();
  for (const complaint of complaints) console.error(complaint);
  return code !== 0 ? code : Math.min(complaints.length, 1);
}

/** Runs all tests, then those files again, one at a time, in which a test failed, and names them. */
async function runTestsRepeatingFailed(env: Record<string, string>): Promise<number> {
  const list = join(env.GW_TEST_LOGS!, 'failed-files.txt');
  const code = await runTests({ ...env, GW_TEST_FAILED_LIST: list });
  const failed = code === 0 ? [] : readLines(list).filter(line => line !== '');
  if (failed.length === 0 || failed.length > maxRepeatedFiles || interrupted.signal.aborted) return code;
  console.log(`\nOnce more, one after the other, the files in which a test failed:\n  ${failed.join('\n  ')}\n`);
  const repeated = await runTests(env, failed, 1);
  if (repeated === 0) console.log(`\nFailed once and passed when repeated alone:\n  ${failed.join('\n  ')}`);
  return repeated;
}

async function runTests(
  env: Record<string, string>,
  chosen = files,
  atOnce = isUnitRun ? 2 * availableParallelism() : concurrency,
): Promise<number> {
  if (interrupted.signal.aborted) return 1;
  const child = spawn(
    process.execPath,
    [
      '--test',
      '--test-reporter=spec',
      '--test-reporter-destination=stdout',
      `--test-reporter=${join(root, 'tools/run-summary.ts')}`,
      '--test-reporter-destination=stdout',
      '--test-timeout=120000',
      `--import=${join(root, 'tools/file-limit.ts')}`,
      `--test-concurrency=${atOnce}`,
      ...forNode,
      ...chosen,
    ],
    { cwd: root, env: { NODE_COMPILE_CACHE: compiled, ...process.env, ...env }, stdio: 'inherit' },
  );
  interrupted.signal.addEventListener('abort', () => child.kill(interrupted.signal.reason));
  const [code] = await once(child, 'exit');
  return typeof code === 'number' ? code : 1;
}

/** Searches the collected logs for planted secrets; prints their place, never the secret. Returns the number of lines with one. */
function countLeaks(directory: string): number {
  const paths = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name));
  const lists = paths.filter(path => path.endsWith('.secrets'));
  const logs = paths.filter(path => !path.endsWith('.secrets'));
  const secrets = [...new Set(lists.flatMap(path => readLines(path).filter(line => line !== '')))];
  let leaks = 0;
  for (const path of logs) {
    for (const [index, line] of readLines(path).entries()) {
      if (!secrets.some(secret => line.includes(secret))) continue;
      leaks += 1;
      console.error(`A planted secret was logged: ${relative(directory, path)}, line ${index + 1}.`);
    }
  }
  console.log(`Looked for ${secrets.length} planted secrets in ${logs.length} log files.`);
  return leaks;
}

function readLines(path: string): string[] {
  return readFileSync(path, 'utf8').split(/\r?\n/);
}
