import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { startPostgres } from '../tests/support/services/postgres.ts';
import { startRedis } from '../tests/support/services/redis.ts';
import { applyMutation, type Mutation, mutationsOf } from './mutation/mutations.ts';
import { createTestSelection } from './mutation/test-selection.ts';
import { ensureServices } from './services.ts';

/**
 * `npm run mutate`: changes the product in one place at a time, runs the tests a developer would run for that file, and
 * lists the changes that no test noticed. Seeded: the same seed draws the same mutations of the same files.
 */

const root = join(import.meta.dirname, '..');
const usage = `npm run mutate -- [options]
  --files PART   mutate source files whose path contains PART; may be repeated
  --base REF     mutate source files changed since REF (default: HEAD~1, when no --files are given)
  --count N      mutations to draw (default 24)
  --seed N       seed of the draw (default 1)
  --from N       first of the drawn mutations to test (default 1): continues an interrupted run
  --tests N      test files to run for each, the nearest first (default 10)
  --seconds N    time for one run of a test file (default 120)`;

const { values } = parseArgs({
  options: {
    files: { type: 'string', multiple: true, default: [] },
    base: { type: 'string' },
    count: { type: 'string', default: '24' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '1' },
    tests: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '120' },
    help: { type: 'boolean', default: false },
  },
});

const selection = createTestSelection(root);
/** Test files that fail without any mutation: they are excluded. */
const broken = new Set<string>();

/** Set by a signal: the running test ends first, then the services, and the copy of the tree is removed. */
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupted.abort());

interface Drawn extends Mutation {
  readonly file: string;
}
interface Result extends Drawn {
  readonly outcome: 'killed' | 'survived' | 'untested';
  readonly tests: readonly string[];
  readonly by: string;
}

if (values.help) console.log(usage);
else process.exitCode = await main();

async function main(): Promise<number> {
  const drawn = draw(candidates(), Number(values.count), Number(values.seed));
  if (drawn.length === 0) {
    console.error('No source file to mutate: name some with --files, or a base with --base.');
    return 1;
  }
  ensureServices();
  const tree = mkdtempSync(join(tmpdir(), 'gw-mutate-'));
  const services: { stop(): Promise<void> }[] = [];
  try {
    copyTree(tree);
    const postgres = await startPostgres();
    services.push(postgres);
    const redis = await startRedis();
    services.push(redis);
    const env = {
      ...process.env,
      NODE_COMPILE_CACHE: join(tree, '.compiled'),
      GW_TEST_POSTGRES_URL: postgres.url,
      GW_TEST_REDIS_URL: redis.url,
    };
    console.log(`${drawn.length} mutations, tested in ${tree}`);
    const results: Result[] = [];
    for (const [index, mutation] of drawn.entries()) {
      if (index + 1 < Number(values.from)) continue;
      const result = await judge(tree, mutation, env);
      if (interrupted.signal.aborted) break;
      results.push(result);
      const { file, line, kind, outcome, by } = result;
      console.log(`${index + 1}/${drawn.length} ${outcome} ${file}:${line} (${kind})${by ? ` by ${by}` : ''}`);
    }
    report(results);
    return interrupted.signal.aborted ? 1 : 0;
  } finally {
    for (const service of services) await service.stop();
    rmSync(tree, { recursive: true, force: true });
  }
}

function candidates(): string[] {
  const listed =
    values.files.length > 0 ? ['ls-files', 'src'] : ['diff', '--name-only', values.base ?? 'HEAD~1', '--', 'src'];
  const { stdout, status, stderr } = spawnSync('git', listed, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${listed.join(' ')}: ${stderr}`);
  return stdout
    .split('\n')
    .filter(file => file.endsWith('.ts') && !file.endsWith('.test.ts') && !/-table\.ts$|\/migrations\//.test(file))
    .filter(file => values.files.length === 0 || values.files.some(part => file.includes(part)));
}

/** Files in turn, so that a long file is not drawn more often than the others; mutations of a file at random. */
function draw(files: readonly string[], count: number, seed: number): Drawn[] {
  const random = createSeededRandom(seed);
  const pools = shuffle(files, random)
    .map(file => shuffle(mutationsOf(readFileSync(join(root, file), 'utf8')), random).map(it => ({ ...it, file })))
    .filter(pool => pool.length > 0);
  const drawn: Drawn[] = [];
  for (let round = 0; drawn.length < count && pools.some(pool => pool.length > round); round++)
    for (const pool of pools) if (pool[round] && drawn.length < count) drawn.push(pool[round]!);
  return drawn;
}

/** Mulberry32. */
function createSeededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function shuffle<T>(items: readonly T[], random: () => number): T[] {
  const shuffled = [...items];
  for (let at = shuffled.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [shuffled[at], shuffled[other]] = [shuffled[other]!, shuffled[at]!];
  }
  return shuffled;
}

function copyTree(tree: string): void {
  const skipped = /^(node_modules|\.git|data)(\/|$)/;
  cpSync(root, tree, { recursive: true, filter: path => !skipped.test(path.slice(root.length + 1)) });
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
}

async function judge(tree: string, mutation: Drawn, env: NodeJS.ProcessEnv): Promise<Result> {
  const tests: string[] = [];
  for (const test of selection.testsFor(mutation.file, Number(values.tests))) {
    if (broken.has(test)) continue;
    const isKilled = await noticesMutation(tree, mutation, test, env);
    if (interrupted.signal.aborted) break;
    if (broken.has(test)) continue;
    tests.push(test);
    if (isKilled) return { ...mutation, outcome: 'killed', tests, by: test };
  }
  return { ...mutation, outcome: tests.length === 0 ? 'untested' : 'survived', tests, by: '' };
}

/** Flaky tests: a failure counts when the test passes right after it without the mutation, and fails again with it. */
async function noticesMutation(tree: string, mutation: Drawn, test: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  if (await runMutated(tree, mutation, test, env)) return false;
  if (!interrupted.signal.aborted && !(await run(tree, test, env))) {
    broken.add(test);
    console.log(`left out: ${test} does not pass without a mutation in the time given`);
  }
  return !broken.has(test) && !(await runMutated(tree, mutation, test, env));
}

async function runMutated(tree: string, mutation: Drawn, test: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const path = join(tree, mutation.file);
  const source = readFileSync(path, 'utf8');
  writeFileSync(path, applyMutation(source, mutation));
  try {
    return await run(tree, test, env);
  } finally {
    writeFileSync(path, source);
  }
}

/**
 * Runs one test file, until its first failed test. A file whose tests passed must end by itself within the time, as it
 * must in `npm test`: a mutation that leaves a timer or a connection behind is detected. All its processes are killed.
 */
async function run(tree: string, test: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const timeoutMs = Number(values.seconds) * 1000;
  const args = ['--test', '--test-reporter=tap', `--test-timeout=${timeoutMs}`, test];
  const child = spawn(process.execPath, args, { cwd: tree, env, stdio: ['ignore', 'pipe', 'ignore'], detached: true });
  const ended = once(child, 'exit');
  const kill = () => killGroup(child.pid!);
  const timer = setTimeout(kill, timeoutMs);
  createInterface(child.stdout).on('line', line => /^\s*not ok /.test(line) && kill());
  interrupted.signal.addEventListener('abort', kill);
  if (interrupted.signal.aborted) kill();
  const [code] = await ended;
  clearTimeout(timer);
  interrupted.signal.removeEventListener('abort', kill);
  kill();
  return code === 0;
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function report(results: readonly Result[]): void {
  const survivors = results.filter(it => it.outcome !== 'killed');
  const areaOf = (file: string) =>
    file
      .split('/')
      .slice(1, file.startsWith('src/gateway/') ? 3 : 2)
      .join('/');
  const areas = Map.groupBy(results, it => areaOf(it.file));
  console.log('\n| area | mutations | killed | rate |\n|---|---|---|---|');
  for (const [area, of] of [...areas, ['all', results] as const]) {
    const killed = of.filter(it => it.outcome === 'killed').length;
    console.log(`| ${area} | ${of.length} | ${killed} | ${Math.round((100 * killed) / of.length)} % |`);
  }
  if (survivors.length === 0) return;
  console.log('\n| survivor | change | tests run |\n|---|---|---|');
  for (const { file, line, before, after, tests } of survivors)
    console.log(`| ${file}:${line} | \`${before}\` → \`${after}\` | ${tests.join(', ') || 'none'} |`);
}
